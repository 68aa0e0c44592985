// The table that is never there at once, and the count of what crosses.
const STRIP = 10; // pixels: as thin are queries, keys, values and output

// A cell for each vector, full if it is in the fast memory, or written.
const drawVectors = (pen, id, [x, y], size, isDown, role, isFull, many) => {
  for (let i = 0; i < many; i++) {
    const along = size * i + 1,
      box = isDown ? [x, y + along, STRIP, size - 2] : [x + along, y, size - 2, STRIP];
    pen.rect(`${id}${i}`, box, role, { round: 1, opacity: isFull(i) ? 1 : 0.38 });
  }
};

const drawGrid = (pen, [left, top], size, n, B) => {
  const side = size * n;
  for (const [id, every, opacity] of [
    ["cells", 1, 0.14],
    ["borders", B, 0.5],
  ]) {
    const steps = [];
    for (let i = 0; i <= n; i += every)
      steps.push(`M${left},${top + size * i}h${side}M${left + size * i},${top}v${side}`);
    pen.path(id, steps.join(""), "ink", { line: 1, opacity });
  }
};

const drawTable = (pen, [x, y, size], { B }, model, set) => {
  const { n, side, count, tile, row, column } = model,
    [left, top] = [x + STRIP + 18, y + 2 * STRIP + 30],
    [wide, end] = [size * n, size * n + top];
  pen.text("table", x, y + 8, `table of weights, ${n} \u00d7 ${n}`, "ink", { bold: true });
  const isIn = (block) => (i) => tile > 0 && Math.floor(i / B) === block;
  const isWritten = (i) => (Math.floor(i / B) + 1) * side <= tile;
  drawVectors(pen, "K", [left, top - 2 * STRIP - 8], size, false, "key", isIn(column), n);
  drawVectors(pen, "V", [left, top - STRIP - 4], size, false, "value", isIn(column), n);
  drawVectors(pen, "Q", [left - STRIP - 5, top], size, true, "query", isIn(row), n);
  drawVectors(pen, "out", [left + wide + 5, top], size, true, "output", isWritten, n);
  const names = [
    ["K", left - 4, top - 1.5 * STRIP - 8, "key", "end"],
    ["V", left - 4, top - 0.5 * STRIP - 4, "value", "end"],
    ["Q", left - 10, end + 10, "query", "middle"],
    ["out", left + wide + 10, end + 10, "output", "middle"],
  ];
  for (const [name, px, py, role, at] of names)
    pen.text(`${name}-is`, px, py, name, role, { bold: true, small: true, at });
  const looks = { small: true, at: "middle" };
  if (tile > 1) pen.text("gone", left + wide / 2, end + 10, "grey: gone", "ink", looks);
  for (let i = 0; i < tile - 1; i++) {
    const [across, down] = [i % side, Math.floor(i / side)].map((one) => one * B * size),
      gone = [left + across + 1, top + down + 1, B * size - 2, B * size - 2];
    pen.rect(`gone${i}`, gone, "ink", { round: 0, opacity: 0.12 });
  }
  drawGrid(pen, [left, top], size, n, B);
  const at = [left + column * B * size, top + row * B * size];
  if (tile) pen.rect("tile", [...at, B * size, B * size], "weight", { round: 1 });
  pen.rect("followed", [left - STRIP - 7, top - 1, wide + 2 * STRIP + 14, size + 2], "query", {
    line: 1.5,
    round: 2,
  });
  putGrip(pen, "tiles", [at[0] + (B * size) / 2, at[1] + (B * size) / 2], {
    label: "tile",
    box: [left, top, wide, wide],
    across: [tile, 0, count, tile ? `tile ${tile} of ${count}` : "before the first tile"],
    step: B * size,
    move: (px, py) => {
      const down = clamp(Math.floor((py - top) / (B * size)), 0, side - 1),
        along = clamp(Math.floor((px - left) / (B * size)), -1, side);
      set({ at: [clamp(down * side + along + 1, 0, count) * B] });
    },
  });
  return end + 20;
};

// The way of the table is one bar; that of the tiles fills up.
const drawCrossings = (pen, [x, y, width], model, { wide }) => {
  const { n, crossed, all, byTable } = model,
    most = crossedBy(n ** 2, 1, n, wide);
  pen.text("crossings", x, y + 8, "numbers fetched or stored", "ink", { bold: true });
  const ways = [
    ["by-table", `the table: ${byTable}`, byTable, byTable, "ink"],
    ["by-tiles", `tiles: ${crossed} of ${all}`, all, crossed, "weight"],
  ];
  ways.forEach(([id, text, length, done, role], i) => {
    const top = y + 22 + 38 * i,
      long = (one) => (one / most) * width;
    pen.text(`${id}-is`, x, top + 6, text, "ink");
    pen.rect(`${id}-done`, [x, top + 15, long(done), 12], role, {
      round: 0,
      opacity: role === "ink" ? 0.45 : 1,
    });
    pen.rect(`${id}-all`, [x, top + 15, long(length), 12], "ink", { round: 0, line: 1 });
  });
  const rows = `${pen.narrow ? "" : "Q, K, V, out: "}rows of ${wide} numbers`;
  pen.text("wide", x, y + 104, rows, "ink", { small: true });
  return y + 112;
};
