// The state as a grid, and how many names both memories recall.

// A square as large as its number: full above 0, empty below.
const drawCell = (pen, id, [x, y], size, share, role) => {
  const side = (size - 1.5) * Math.sqrt(Math.min(Math.abs(share), 1)),
    box = [x + (size - side) / 2, y + (size - side) / 2, side, side];
  pen.rect(id, box, role, { round: 1, ...(share < 0 && { line: 1 }) });
};

// The numbers of a vector beside the cells that they belong to: down, or across.
const drawStrip = (pen, id, [x, y], [size, thin], vector, role, isDown) => {
  const long = size * vector.length;
  pen.rect(`${id}-strip`, [x, y, isDown ? thin : long, isDown ? long : thin], role, {
    opacity: 0.12,
  });
  vector.forEach((one, i) => {
    const along = size * i + (size - thin) / 2,
      at = isDown ? [x, y + along] : [x + along, y];
    drawCell(pen, `${id}${i}`, at, thin, (one * Math.sqrt(vector.length)) / 2, role);
  });
};

// The square; if its vectors are shown, the key at the left, what it reads below, and under that what
// was written.
const drawState = (pen, [x, y, side], { d, state, key, value, answer }, isOpen) => {
  const size = side / d,
    thin = Math.min(size, 16),
    sides = pen.narrow ? "" : `${d} \u00d7 ${d} = `,
    [left, top] = [x + (isOpen ? 40 : 0), y + 40];
  pen.text("state", x, y + 8, `state: ${sides}${d * d} numbers`, "ink", { bold: true });
  pen.text("squares", left, y + 30, "full > 0, empty < 0", "ink", { small: true });
  pen.rect("grid", [left, top, side, side], "ink", { opacity: 0.06 });
  state.forEach((row, i) =>
    row.forEach((one, j) =>
      drawCell(pen, `cell${i}-${j}`, [left + size * j, top + size * i], size, (one * d) / 4, "ink"),
    ),
  );
  if (!isOpen) return top + side + 2;
  pen.text("k", left - 4 - thin / 2, y + 30, "k", "key", { at: "middle", bold: true });
  drawStrip(pen, "key", [left - 4 - thin, top], [size, thin], key, "key", true);
  const rows = [
    ["read", "S\u1d40k", answer.read, "output"],
    ["value", "v", value, "value"],
  ];
  rows.forEach(([id, name, vector, role], n) => {
    const at = top + side + 6 + 20 * n;
    pen.text(`${id}-name`, left - 6, at + thin / 2, name, role, { at: "end", bold: true });
    drawStrip(pen, id, [left, at], [size, thin], vector, role, false);
  });
  return top + side + 26 + thin;
};

// What a rule does with a pair.
const formulaOf = ({ rule }, { decay }) =>
  ({
    add: "S \u2190 S + k v\u1d40",
    decay: `S \u2190 ${decay} S + k v\u1d40`,
    delta: "S \u2190 S + k (v \u2212 S\u1d40k)\u1d40",
  })[rule];

// What the state said after each row when it was asked for the name that is asked for now.
const drawPast = (pen, [x, y, width, height], { history, answer }, { names, colours, most }) => {
  const across = scaleOf(0, most, pen.narrow ? x + 20 : x, x + width),
    wide = across(1) - across(0),
    told = `answer for ${names[answer.name]}, pair by pair`;
  pen.text("past", x, y + 6, pen.narrow ? told : `the state's ${told}`, "ink", { small: true });
  pen.rect("past-ground", [across(0), y + 16, most * wide, height - 16], "ink", { opacity: 0.06 });
  history.forEach(({ shares }, row) => {
    let from = y + 16;
    shares.forEach((share, i) => {
      const box = { x: across(row), y: from, width: wide, height: share * (height - 16) };
      pen.put(`past${row}-${i}`, "rect", { ...box, fill: colours[i][1] });
      from += box.height;
    });
  });
};

// How many names each memory recalls, by the number of rows; d is marked.
const drawRecall = (pen, [x, y, width, height], { history, d }, { most }) => {
  const across = scaleOf(0, most, x + 20, x + width),
    up = scaleOf(0, most, y + height, y + 24);
  pen.text("recall", x, y + 8, "names recalled", "ink", { bold: true });
  for (let py = up(0); py > up(most); py -= 6) pen.keepFree([across(d), py], 2);
  for (const level of [0, 12, 24]) {
    const line = [0, most].map((end) => [across(end), up(level)]);
    pen.line(`level${level}`, line, "ink", { line: 1, opacity: level ? 0.12 : 0.5 });
    const looks = { small: true, opacity: 0.75 };
    pen.text(`level${level}-is`, x + 14, up(level), level, "ink", { ...looks, at: "end" });
    const at = level === most ? "end" : "middle";
    pen.text(`at${level}`, across(level), up(0) + 13, level, "ink", { ...looks, at });
  }
  const upright = [up(0), up(most)].map((end) => [across(d), end]);
  pen.line("d", upright, "key", { line: 1.5, dash: "3 3" });
  const names = [];
  const curves = [
    ["softmax", "weight", "5 3"],
    ["state", "ink", undefined],
  ];
  for (const [memory, role, dash] of curves) {
    const points = history.map((one, i) => [across(i + 1), up(one[memory])]);
    pen.line(`${memory}-curve`, [[across(0), up(0)], ...points], role, { line: 2, dash });
    pen.disc(`${memory}-now`, points.at(-1), 4, role);
    names.push([memory, points.at(-1), role]);
  }
  pen.text("rows-axis", across(18), up(0) + 13, "pairs", "ink", { small: true, at: "middle" });
  for (const [memory, [px, py], role] of names) {
    const above = [
      [px - 4, py - 12, "end"],
      [px + 8, py - 16, "start"],
    ];
    const beside = [
      [px + 8, py, "start"],
      [px - 4, py + 13, "end"],
    ];
    const past = [[across(d) + 6, py + (memory === "softmax" ? -8 : 8), "start"]];
    const places = [...(memory === "softmax" ? [above, beside] : [beside, above]), past].flat();
    const looks = { small: true, halo: true, within: [x + 18, x + width] };
    pen.name(`${memory}-name`, places, memory, role, looks);
  }
  const places = [up(most), up(most / 5)].flatMap((py) => [
    [across(d) + 4, py + 5, "start"],
    [across(d) - 4, py + 5, "end"],
  ]);
  pen.name("d-is", places, `d = ${d}`, "key", { small: true });
};
