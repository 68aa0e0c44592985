// Scores in the plane: a dot product is a projection, and `general` bends the keys by a matrix.
const seenKeys = ({ keys, W, score }) =>
  pairsOf(keys).map((key) => (score === "dot" ? key : bend(pairsOf(W), key)));

const drawKeys = (plane, { query, keys, off, score, W }, set) => {
  const { pen, to } = plane,
    size = Math.hypot(...query) || 1,
    along = query.map((one) => one / size),
    seen = seenKeys({ keys, W, score });
  const line = [-9, 9].map((far) => to(along.map((one) => far * one)));
  plane.inside("along", () =>
    pen.line("along", line, "query", { line: 1, opacity: 0.5, dash: "2 4" }),
  );
  pairsOf(keys).forEach((key, j) => {
    const opacity = off[j] ? 0.25 : 1,
      foot = to(along.map((one) => one * dot(seen[j], along)));
    plane.inside(`foot${j}`, () => {
      pen.line(`fall${j}`, [to(seen[j]), foot], "key", { line: 1.5, dash: "3 3", opacity });
      pen.line(`shadow${j}`, [plane.zero, foot], "key", { line: 7, opacity: 0.4 * opacity });
      pen.disc(`foot${j}-end`, foot, 3.5, "key", { opacity });
    });
    const before = { line: 1.2, opacity: 0.4, dash: "4 3" };
    if (score !== "dot") plane.arrow(`before${j}`, key, "key", before);
    plane.arrow(`key${j}`, seen[j], "key", { line: 2.5, name: String(j + 1), opacity });
  });
  plane.arrow("query", query, "query", { line: 3, name: "q" });
  pairsOf(keys).forEach((key, j) =>
    plane.grip(`key${j}`, key, `key ${j + 1}`, "key", (to) =>
      set({ keys: pairsOf(keys).with(j, to).flat() }),
    ),
  );
  plane.grip("query", query, "query", "query", (to) => set({ query: to }));
  plane.write();
};

const drawBending = (pen, { W }, set) => {
  const images = pairsOf(W);
  const [x, y, side] = pen.narrow ? [224, 26, pen.width - 226] : [324, 214, 102];
  const plane = planeOf(pen, "W", [x, y, side, side], [-1.5, 1.5, -1.5, 1.5], "W");
  drawMatrix(plane, "W", images, (to) => set({ W: to.flat() }));
  const [left, top] = pen.narrow ? [x + 20, y + side + 18] : [x + side + 28, y + 34];
  images[0].forEach((_, row) =>
    images.forEach((image, column) =>
      pen.text(
        `W${row}${column}`,
        left + 40 * (column + 0.5),
        top + 20 * row,
        shown(image[row], 1),
        "ink",
        { at: "end" },
      ),
    ),
  );
  [
    [-18, -14],
    [68, 64],
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
  if (pen.narrow) return;
  pen.text("formula", left + 92, top, "s = q \u00b7 W k", "ink", { bold: true });
  pen.text("formula-says", left + 92, top + 20, "W moves the keys", "ink", { small: true });
};

attnMachine("machine-luong", {
  model: (state) =>
    attend(
      seenKeys(state).map((key) => dot(state.query, key)),
      VALUES,
      state,
    ),
  draw: (pen, state, model, set) =>
    drawGeometry(pen, state, model, set, (box) => {
      const title = state.score === "dot" ? "query and keys" : "query and W \u00b7 keys";
      drawKeys(planeOf(pen, "plane", box, [-2.4, 2.4, -2.4, 2.4], title), state, set);
      if (state.score !== "dot") drawBending(pen, state, set);
    }),
  say: (state, model, step) =>
    sayGeometry(state, state.score === "dot" ? "" : " through W", model, step),
});
