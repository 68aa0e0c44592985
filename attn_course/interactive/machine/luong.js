// Scores in the plane: a dot product is a projection, and `general` first bends the query by a
// matrix. The rows of W are where it sends the queries (1, 0) and (0, 1).
const asking = ({ query, W, score }) => (score === "dot" ? query : bend(pairsOf(W), query));

const drawKeys = (plane, state, set) => {
  const { query, keys, off, score } = state,
    { pen, to } = plane,
    asked = asking(state),
    size = Math.hypot(...asked) || 1,
    along = asked.map((one) => one / size);
  const line = [-9, 9].map((far) => to(along.map((one) => far * one)));
  plane.inside("along", () =>
    pen.line("along", line, "query", { line: 1, opacity: 0.5, dash: "2 4" }),
  );
  const upright = [-along[1], along[0]],
    sides = pairsOf(keys).map((key) => (dot(key, upright) < 0 ? -1 : 1));
  pairsOf(keys).forEach((key, j) => {
    const opacity = off[j] ? 0.25 : 1,
      fallen = along.map((one) => one * dot(key, along)),
      foot = to(fallen);
    // each shadow on the side of its key, so that none covers another
    const nearer = sides.slice(0, j).filter((side) => side === sides[j]).length,
      aside = upright.map((one) => (one * sides[j] * (6 + 6 * nearer)) / plane.unit);
    const shadow = [aside, fallen.map((one, c) => one + aside[c])].map(to);
    plane.inside(`foot${j}`, () => {
      pen.line(`fall${j}`, [to(key), foot], "key", { line: 1.5, dash: "3 3", opacity });
      pen.line(`shadow${j}`, shadow, "key", { line: 5, opacity: 0.4 * opacity });
      pen.disc(`foot${j}-end`, foot, 3.5, "key", { opacity });
    });
    plane.arrow(`key${j}`, key, "key", { line: 2.5, name: String(j + 1), opacity });
  });
  const before = { line: 1.5, dash: "4 3" };
  plane.arrow("query", query, "query", { name: "q", ...(score === "dot" ? { line: 3 } : before) });
  if (score !== "dot") plane.arrow("bent", asked, "query", { line: 3, name: "q W" });
  pairsOf(keys).forEach((key, j) =>
    plane.grip(`key${j}`, key, `key ${j + 1}`, "key", (to) =>
      set({ keys: pairsOf(keys).with(j, to).flat() }),
    ),
  );
  plane.grip("query", query, "query", "query", (to) => set({ query: to }));
  plane.write();
};

// What is multiplied: each shadow, and the length of the query.
const drawLengths = (pen, { query, keys, off }) => {
  const size = Math.hypot(...query),
    [left, top] = pen.narrow ? [224, 36] : [324, 222],
    formula = pen.narrow
      ? ["score = shadow", "\u00d7 length of q"]
      : ["score = shadow \u00d7 length of q"];
  formula.forEach((line, i) =>
    pen.text(`formula${i}`, left, top + 20 * i, line, "ink", { bold: true }),
  );
  const below = top + 20 * formula.length + 4;
  pen.text("length", left, below, `length of q: ${shown(size)}`, "query");
  pairsOf(keys).forEach((key, j) => {
    const text = `shadow ${j + 1}: ${shown(dot(key, query) / (size || 1))}`,
      opacity = off[j] ? 0.4 : 1;
    pen.text(`shadow${j}-is`, left, below + 20 * (j + 1), text, "key", { opacity });
  });
};

const drawBending = (pen, state, set) => {
  const rows = pairsOf(state.W),
    names = ["row 1", "row 2"];
  const [x, y, side] = pen.narrow ? [224, 26, Math.min(116, pen.width - 226)] : [324, 214, 102];
  const plane = planeOf(pen, "W", [x, y, side, side], [-1.5, 1.5, -1.5, 1.5], "W");
  rows.forEach((row, i) =>
    plane.arrow(`row${i}`, row, "ink", { line: 1.5, head: 7, name: names[i] }),
  );
  drawMatrix(plane, "W", rows, (to) => set({ W: to.flat() }));
  const [left, top] = pen.narrow ? [x - 10, y + side + 16] : [x + side + 20, y + 8];
  rows.forEach((row, i) => {
    const line = top + 20 * i;
    pen.text(`row${i}`, left, line, names[i], "ink", { small: true });
    row.forEach((one, c) =>
      pen.text(`W${i}${c}`, left + 80 + 38 * c, line, shown(one, 1), "ink", { at: "end" }),
    );
  });
  [
    [42, 46],
    [124, 120],
  ].forEach(([far, in_], i) =>
    pen.line(
      `bracket${i}`,
      [
        [left + in_, top - 10],
        [left + far, top - 10],
        [left + far, top + 30],
        [left + in_, top + 30],
      ],
      "ink",
      { line: 1.2 },
    ),
  );
  const says = `q W = ${shownPair(asking(state), 2)}`;
  pen.text("bent-is", left, top + 46, says, "query", { bold: !pen.narrow });
  pen.text("formula", left, top + 66, "score = q W \u00b7 key", "ink", { bold: true });
  plane.write(14); // where its squares leave little room
};

attnMachine("machine-luong", {
  model: (state) =>
    attend(
      pairsOf(state.keys).map((key) => dot(asking(state), key)),
      VALUES,
      state,
    ),
  draw: (pen, state, model, set) =>
    drawGeometry(pen, state, model, set, (box) => {
      const title = state.score === "dot" ? "query and keys" : "query bent by W, and keys";
      drawKeys(planeOf(pen, "plane", box, [-2.4, 2.4, -2.4, 2.4], title), state, set);
      if (state.score === "dot") drawLengths(pen, state);
      else drawBending(pen, state, set);
    }),
  say: (state, model, step) =>
    sayGeometry(state, state.score === "dot" ? "" : ", bent by W,", model, step),
});
