// Keys in the plane, on each a disc as large as its weight: drag the query, turn the temperature.
const AROUND = [-2.4, 6.4, -2.4, 4.2]; // left, right, down, up
const LARGEST = 0.85; // the radius of a disc with all the weight

attnMachine("machine-temperature", {
  model({ query, keys, values, temperature }) {
    const scores = pairsOf(keys).map(
      ([x, y]) => -((query[0] - x) ** 2 + (query[1] - y) ** 2) || 0, // no minus before a zero
    );
    const found = attend(scores, values, { temperature });
    return { ...found, effective: 1 / dot(found.weights, found.weights) };
  },

  draw(pen, { query, keys, values }, { scores, weights, output }, set) {
    const tall = pen.narrow ? 268 : 400,
      plane = planeOf(pen, "plane", [0, 0, pen.width, tall], AROUND),
      discs = pen.seen(2);
    const places = pairsOf(keys).map(plane.to);
    places.forEach((place, j) => {
      const radius = LARGEST * plane.unit * Math.sqrt(weights[j]);
      plane.inside(`weight${j}`, () =>
        pen.disc(`weight${j}`, place, radius * discs, "weight", { opacity: 0.55 }),
      );
      const way = [plane.to(query), place];
      pen.line(`apart${j}`, way, "ink", { line: 1, dash: "3 4", opacity: 0.5 * (1 - discs) });
      pen.disc(`key${j}`, place, 5, "key");
      pen.keepFree(place, 5);
    });
    plane.grip("query", query, "query", "query", (to) => set({ query: to }));
    const looks = { bold: true, halo: true };
    const said = { ...looks, opacity: pen.seen(3) };
    pen.text("output", 10, 18, `output ${shown(output, 1)}`, "output", said);
    const beside = (key, [x, y], down, text, role, sides = [13, -13]) =>
      sides.find((far) =>
        pen.name(key, [[x + far, y + down, far > 0 ? "start" : "end"]], text, role, looks),
      );
    beside("query-name", plane.to(query), -14, "query", "query");
    places.forEach((place, j) => {
      const side = beside(`value${j}`, place, -8, `value ${values[j]}`, "value") ?? 13;
      const number = discs < 0.5 ? [shown(scores[j], 1), "ink"] : [shown(weights[j]), "weight"];
      beside(`number${j}`, place, 10, ...number, [side, -side]);
    });
    return tall;
  },

  say({ query, temperature, values }, { scores, weights, output, effective }, step) {
    if (step === 1) return `The query ${shownPair(query)} has the scores ${listed(scores, 1)}.`;
    const sum = step === 3 ? `${blendInWords(weights, values, output, 1)}. ` : "";
    return `${sum}At temperature ${temperature} the effective number of keys is ${shown(effective, 1)} of 5.`;
  },
});
