// The additive score: query and key are added, squashed by tanh, and laid along a learned vector v.
const squashed = ({ query, keys }) =>
  pairsOf(keys).map((key) => key.map((one, c) => Math.tanh(query[c] + one)));

const drawSums = (plane, { query, keys, off, v }, set) => {
  const { pen, to } = plane,
    size = Math.hypot(...v) || 1,
    along = v.map((one) => one / size);
  const corners = [to([-1, 1]), to([1, -1])];
  const ends = [-9, 9].map((far) => to(along.map((one) => far * one))); // a dot may fall behind v
  plane.inside("along", () => pen.line("along", ends, "ink", { line: 1, opacity: 0.5 }));
  pen.rect(
    "square",
    [...corners[0], corners[1][0] - corners[0][0], corners[1][1] - corners[0][1]],
    "ink",
    { line: 1.2, opacity: 0.5, dash: "4 3" },
  );
  squashed({ query, keys }).forEach((hidden, j) => {
    const opacity = off[j] ? 0.25 : 1,
      key = pairsOf(keys)[j],
      sum = key.map((one, c) => one + query[c]),
      foot = to(along.map((one) => one * dot(hidden, along)));
    plane.arrow(`key${j}`, key, "key", { line: 2.5, name: String(j + 1), opacity });
    plane.arrow(`sum${j}`, sum, "query", {
      from: key,
      line: 1.5,
      opacity,
      dash: "4 3",
    });
    plane.inside(`hidden${j}`, () => {
      pen.line(`squash${j}`, [to(sum), to(hidden)], "ink", {
        line: 1.2,
        opacity: 0.5 * opacity,
        dash: "1 4",
      });
      pen.line(`fall${j}`, [to(hidden), foot], "ink", { line: 1.5, dash: "3 3", opacity });
      pen.disc(`hidden${j}-end`, to(hidden), 5, "ink", { opacity });
    });
    pen.keepFree(to(hidden), 5);
    plane.names.push([`hidden${j}`, hidden, String(j + 1), "ink", opacity]);
  });
  plane.arrow("v", v, "ink", { line: 3, name: "v" });
  const [right, top] = [to([2.36, 0]), to([0, 2.36])];
  pen.text("unit1", right[0], right[1] + 14, "unit 1", "ink", { small: true, at: "end" });
  pen.text("unit2", top[0] + 5, top[1] + 10, "unit 2", "ink", { small: true, at: "start" });
  plane.arrow("query", query, "query", { line: 3, name: "q" });
  pairsOf(keys).forEach((key, j) =>
    plane.grip(`key${j}`, key, `key ${j + 1}`, "key", (to) =>
      set({ keys: pairsOf(keys).with(j, to).flat() }),
    ),
  );
  plane.grip("query", query, "query", "query", (to) => set({ query: to }));
  plane.grip("v", v, "v", "ink", (to) => set({ v: to }), { square: true });
  plane.write();
};

attnMachine("machine-bahdanau", {
  model(state) {
    const hidden = squashed(state);
    return {
      hidden,
      ...attend(
        hidden.map((one) => dot(state.v, one)),
        null,
        state,
      ),
    };
  },
  draw: (pen, state, model, set) =>
    drawGeometry(
      pen,
      state,
      model,
      set,
      (box) => {
        const plane = planeOf(pen, "plane", box, [-2.4, 2.4, -2.4, 2.4], "q + k, squashed");
        drawSums(plane, state, set);
        if (pen.narrow) return;
        pen.text("formula", 324, 226, "score = v \u00b7 tanh(q + k)", "ink", { bold: true });
        const says = [
          "q and k are added; tanh pulls the sum into the",
          "dashed square; its dot product with v is the score",
        ];
        says.forEach((line, i) =>
          pen.text(`says${i}`, 324, 248 + 18 * i, line, "ink", { small: true }),
        );
      },
      null,
    ),
  say: (state, model, step) => sayGeometry(state, ", projected,", model, step),
});
