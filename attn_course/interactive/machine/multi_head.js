// Two heads on the same words, beside one head that wants both verbs; and what the heads keep.
const SENTENCE = ["hang", "them", "not", "let", "them", "go"],
  VERBS = [0, 3], // their places
  SHARP = 10; // the length of a query
const QUERIES = { one: [SHARP, 0], other: [0, SHARP], both: [SHARP, SHARP] };
const NAMES = {
  one: "head 1: the first verb",
  other: "head 2: the second verb",
  both: "one head: both verbs",
};

// The words that have been read: the keys tell the places of the verbs, the values which they are.
const readBy = ({ read, stretch, verbs, order }) => {
  const swapped = order !== "hang \u2026 let",
    [hang, release] = pairsOf(verbs);
  const words = SENTENCE.map((word, i) =>
    i === VERBS[Number(swapped)] ? "hang" : VERBS.includes(i) ? "let" : word,
  );
  const keys = words.map((_, i) =>
    i === VERBS[0] ? [stretch, 0] : i === VERBS[1] ? [0, 1] : [0, 0],
  );
  const values = words.map((word) => ({ hang, let: release })[word] ?? [0, 0]);
  return Object.fromEntries(
    Object.entries({ words, keys, values }).map(([name, list]) => [name, list.slice(0, read)]),
  );
};

const modelOf = (state) => {
  const { words, keys, values } = readBy(state),
    model = { words, keys, values, numbers: keys.flat().length + values.flat().length };
  for (const [name, query] of Object.entries(QUERIES))
    model[name] = attend(
      keys.map((key) => dot(query, key)),
      values,
    );
  return model;
};

// A column for each word: its score, its weight, and under its name the key and value that are kept.
const drawLook = (pen, id, [x, y, width], { words, keys, values, numbers, [id]: look }) => {
  const wide = width / SENTENCE.length,
    tall = pen.narrow ? 32 : 44,
    base = y + 28 + tall,
    cell = pen.narrow ? 6 : 8;
  words.forEach((word, j) => {
    const middle = x + wide * (j + 0.5),
      text = { at: "middle", small: true };
    pen.text(`${id}-score${j}`, middle, y + 14, shown(look.scores[j], 0), "ink", text);
    const bar = tall * look.weights[j] * pen.seen(2);
    pen.rect(`${id}-weight${j}`, [middle - wide * 0.3, base - bar, wide * 0.6, bar], "weight", {
      round: 2,
    });
    const role = word === "not" ? "query" : "key";
    pen.text(`${id}-word${j}`, middle, base + 11, word, role, {
      ...text,
      bold: !pen.narrow && (VERBS.includes(j) || word === "not"),
    });
    [keys, values].forEach((list, part) =>
      list[j].forEach((number, c) => {
        const box = [
          middle - wide * 0.3,
          base + 21 + cell * (2 * part + c) + 2 * part,
          wide * 0.6,
          cell - 1,
        ];
        const opacity = 0.2 + 0.7 * Math.min(Math.abs(number) / 2, 1);
        pen.rect(`${id}-kept${part}${c}${j}`, box, part ? "value" : "key", { round: 1, opacity });
      }),
    );
  });
  pen.line(
    `${id}-base`,
    [
      [x, base],
      [x + width, base],
    ],
    "ink",
    { line: 1, opacity: 0.4 },
  );
  const says = `cache: ${words.length} words, ${numbers} numbers`;
  pen.text(`${id}-kept`, x, base + (pen.narrow ? 31 : 34) + 4 * cell, says, "ink", { small: true });
};

const drawBlend = (pen, id, box, { verbs }, { [id]: look }, swapped, set) => {
  const plane = planeOf(pen, id, box, [-0.6, 2.8, -0.6, 2.4], ""),
    opacity = pen.seen(3);
  ["hang", "let"].forEach((word, i) => {
    const vector = pairsOf(verbs)[i];
    plane.arrow(`value${i}`, vector, "value", { line: 1.6, name: word });
    plane.grip(
      `value${i}`,
      vector,
      `value of ${word}`,
      "value",
      (to) => set({ verbs: pairsOf(verbs).with(i, to).flat() }),
      { size: 5 },
    );
  });
  plane.arrow("output", look.output, "output", { line: 4, head: 12, opacity });
  plane.inside("ring", () =>
    pen.disc(`${id}-ring`, plane.to(swapped[id].output), 11, "output", { line: 2, opacity }),
  );
  plane.write();
};

attnMachine("machine-multi-head", {
  model: modelOf,
  draw(pen, state, model, set) {
    const card = pen.narrow ? pen.width : (pen.width - 24) / 3,
      step = pen.narrow ? 148 : 0,
      half = pen.narrow ? 200 : card - 20,
      tall = pen.narrow ? 142 : 326;
    const order = state.order === "hang \u2026 let" ? "let \u2026 hang" : "hang \u2026 let",
      swapped = modelOf({ ...state, order });
    Object.keys(NAMES).forEach((id, n) => {
      const left = pen.narrow ? 0 : n * (card + 12),
        top = n * step,
        role = id === "both" ? "ink" : "weight";
      pen.rect(`${id}-card`, [left, top, card, tall], role, { opacity: 0.07, round: 10 });
      pen.text(`${id}-name`, left + 10, top + 14, NAMES[id], "ink", { bold: true });
      drawLook(pen, id, [left + 10, top + 20, half], model);
      const plane = pen.narrow
        ? [left + half + 18, top + 8, card - half - 26, 110]
        : [left + 10, top + 178, half, 122];
      drawBlend(pen, id, plane, state, model, swapped, set);
      const output = `output ${shownPair(model[id].output)}`,
        look = { at: "middle", bold: true, opacity: pen.seen(3) };
      pen.text(
        `${id}-output`,
        plane[0] + plane[2] / 2,
        plane[1] + plane[3] + 12,
        output,
        "output",
        look,
      );
    });
    const foot = 2 * step + tall + 16;
    const legend = "ring: the output if the verbs change places";
    pen.text("legend", pen.width / 2, foot, legend, "output", {
      at: "middle",
      small: true,
      opacity: pen.seen(3),
    });
    return foot + 10;
  },
  say(_, { words, one, other, both }, step) {
    const asks = `\u201c${words.join(" ")}\u201d`;
    if (step === 1) return `${asks}: each look gives every word a score.`;
    const first = (look) => shown(look.weights[0]);
    const second = (look) => shown(look.weights[VERBS[1]] ?? 0);
    if (step === 2)
      return `${asks}: head 1 gives ${first(one)} to the first verb, head 2 ${second(other)} to the second, the one head ${first(both)} and ${second(both)}.`;
    const [a, b, c] = [one, other, both].map(({ output }) => shownPair(output));
    return `${asks}: two heads give ${a} and ${b}, one head ${c}.`;
  },
});
