// Scores in the plane: a dot product is a projection, and `general` first bends the query by a
// matrix W, where there is one. Its rows are where it sends the queries (1, 0) and (0, 1).
const asking = ({ query, W }) => (W ? bend(pairsOf(W), query) : query);

const drawKeys = (plane, state, set) => {
  const { query, keys, off, W } = state,
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
  plane.arrow("query", query, "query", { name: "q", ...(W ? before : { line: 3 }) });
  if (W) plane.arrow("bent", asked, "query", { line: 3, name: "q W" });
  pairsOf(keys).forEach((key, j) =>
    plane.grip(`key${j}`, key, `key ${j + 1}`, "key", (to) =>
      set({ keys: pairsOf(keys).with(j, to).flat() }),
    ),
  );
  plane.grip("query", query, "query", "query", (to) => set({ query: to }));
  plane.write();
  // the number of a shadow, across the line from its key; none where the key itself is that near
  pairsOf(keys).forEach((key, j) => {
    const across = upright.map((one) => (-one * sides[j] * 13) / plane.unit),
      [x, y] = to(across.map((one, c) => one + along[c] * dot(key, along))),
      [left, top, width, height] = plane.box.map((one, c) => one + [9, 9, -18, -18][c]);
    const inside = x > left && x < left + width && y > top && y < top + height,
      looks = { bold: true, halo: true, opacity: off[j] ? 0.25 : 1 };
    if (inside && Math.hypot(x - to(key)[0], y - to(key)[1]) > 24)
      pen.name(`foot${j}-name`, [[x, y, "middle"]], String(j + 1), "key", looks);
  });
};

// The figure of such scores; `beside` draws what stands at its right.
const scoresInThePlane = (name, title, how, beside) =>
  attnMachine(name, {
    model: (state) =>
      attend(
        pairsOf(state.keys).map((key) => dot(asking(state), key)),
        VALUES,
        state,
      ),
    draw: (pen, state, model, set) =>
      drawGeometry(pen, state, model, set, (box) => {
        drawKeys(planeOf(pen, "plane", box, [-2.4, 2.4, -2.4, 2.4], title), state, set);
        beside(pen, state, set);
      }),
    say: (state, model, step) => sayGeometry(state, how, model, step),
  });
