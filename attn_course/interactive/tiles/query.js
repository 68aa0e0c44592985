// One query: the scores of its keys, their powers, and the sums that it keeps.

// Full for the keys of the tile, grey for those that are gone, pale for those to come.
const lookOf = (j, { seen, row, n, side }) =>
  j >= seen ? ["weight", 0.4] : row || j < seen - n / side ? ["ink", 0.3] : ["weight", 1];

const drawScores = (pen, { left, column, up }, model, { reach }, set) => {
  const { heard, seen, sums, before, n } = model,
    [low, high] = reach;
  drawLevels(pen, "score", [left, left + n * column], up, [0, 2, high]);
  heard.forEach((score, j) => {
    const x = left + column * (j + 0.5),
      [role, opacity] = lookOf(j, model),
      stem = [0, score].map((end) => [x, up(end)]);
    pen.line(`stem${j}`, stem, role, { line: 4, opacity });
  });
  const line = (best) => [left, left + seen * column].map((end) => [end, up(best)]);
  if (seen) {
    if (before.best > -Infinity && before.best < sums.best)
      pen.line("best-before", line(before.best), "ink", { line: 1.5, dash: "2 4" });
    pen.line("best", line(sums.best), "ink", { line: 1.5 });
  }
  heard.forEach((score, j) => {
    const x = left + column * (j + 0.5);
    putGrip(pen, `score${j}`, [x, up(score)], {
      label: `score of key ${j + 1}`,
      knob: "weight",
      size: 6,
      box: [x - column / 2, up(score) - 18, column, 36],
      up: [score, low, high],
      step: up(0) - up(0.1),
      move: (_, y) => set({ scores: heard.with(j, near(up.back(y))) }),
    });
  });
  const places = [up(sums.best) - 11, up(sums.best) + 12].flatMap((y) => [
    [left + seen * column, y, "end"],
    [left + 2, y, "start"],
  ]);
  const looks = { bold: true, small: true, halo: true };
  if (seen) pen.name("best-is", places, `best ${shown(sums.best, 1)}`, "ink", looks);
};

// Powers of the keys that have come, as they count now: none is more than 1.
const drawPowers = (pen, { left, column }, [y, height], model) => {
  const { heard, seen, sums, n } = model,
    up = scaleOf(0, 1, y + height, y);
  drawLevels(pen, "power", [left, left + n * column], up, [0, 1]);
  heard.slice(0, seen).forEach((score, j) => {
    const top = up(Math.exp(score - sums.best)),
      bar = [left + column * (j + 0.18), top, column * 0.64, y + height - top],
      [role, opacity] = lookOf(j, model);
    pen.rect(`power${j}`, bar, role, { round: 1, opacity });
  });
};

// What was kept, times the factor, plus this tile.
const drawSums = (pen, [x, y, width], { sums, before, seen, whole, n }) => {
  const line = pen.narrow ? 18 : 20,
    ends = [0.36, 0.58, 0.8, 1].map((share) => x + width * share),
    had = before.total > 0,
    shrinks = had && sums.factor < 1;
  const put = (row, id, column, text, role = "ink", looks = {}) =>
    pen.text(`${id}${column}`, ends[column], y + 8 + line * row, text, role, {
      at: "end",
      ...looks,
    });
  ["before", "kept", "this tile", "after"].forEach((name, i) =>
    put(0, "head", i, name, "ink", { small: true, opacity: 0.75 }),
  );
  const rows = [
    ["total", "weight"],
    ["blend", "value"],
  ];
  rows.forEach(([name, role], i) => {
    pen.text(`${name}-is`, x, y + 8 + line * (i + 1), name, role, { bold: true });
    if (!seen) return;
    const texts = [
      had ? shown(before[name]) : "0",
      had ? `\u00d7 ${shown(sums.factor)}` : "",
      `+ ${shown(sums.more[name])}`,
      `= ${shown(sums[name])}`,
    ];
    texts.forEach((text, j) =>
      put(i + 1, name, j, text, role, { bold: j === 3 || (j === 1 && shrinks) }),
    );
  });
  pen.text("output-is", x, y + 8 + line * 3, "output", "output", { bold: true });
  put(3, "output", 2, "blend / total", "output");
  if (seen) put(3, "output", 3, `= ${shown(sums.blend / sums.total)}`, "output", { bold: true });
  const told = `the softmax of all ${n} at once: ${shown(whole)}`;
  pen.text("whole", x + width, y + 10 + line * 4, told, "output", { at: "end", small: true });
  return y + 20 + line * 4;
};

const drawQuery = (pen, [x, y, width], { B }, model, set, data) => {
  const { n, side, met } = model,
    left = x + (pen.narrow ? 28 : 34),
    column = (x + width - left) / n,
    [high, low] = pen.narrow ? [86, 46] : [132, 70];
  const top = y + 32,
    powers = top + high + 28,
    values = powers + low + 14;
  const { row } = model,
    next = B > 1 ? `queries ${row * B + 1} to ${(row + 1) * B} have` : `query ${row + 1} has`;
  const title = row ? `query 1 is done; ${next} the tile` : "query 1: scores of its keys";
  pen.text("query", x, y + 8, title, "query", { bold: true });
  if (met && !row) {
    const here = [left + (met - 1) * B * column, top - 8, B * column, values + 10 - top + 8];
    pen.rect("here", here, "ink", { opacity: 0.07 });
  }
  const borders = Array.from({ length: side - 1 }, (_, i) => left + (i + 1) * B * column);
  const paths = borders.map((at) => `M${at.toFixed(1)},${top - 8}V${values + 10}`).join("");
  pen.path("between", paths || "M0,0", "ink", { line: 1, opacity: 0.3, dash: "2 3" });
  pen.text("powers", x, powers - 15, "powers, e^(score \u2212 best)", "weight", { bold: true });
  drawPowers(pen, { left, column }, [powers, low], model);
  pen.text("values", x, values, "v", "value", { bold: true });
  data.values.forEach((value, j) =>
    pen.text(`value${j}`, left + column * (j + 0.5), values, value, "value", {
      at: "middle",
      small: true,
      opacity: j < model.seen ? 1 : 0.75,
    }),
  );
  const up = scaleOf(...data.reach, top + high, top);
  drawScores(pen, { left, column, up }, model, data, set);
  return drawSums(pen, [x, values + 16, width], model);
};
