// Two heads on the same words, beside one head that wants both verbs.
const SENTENCE = ["hang", "them", "not", "let", "them", "go"],
  VERBS = [0, 3], // their places
  SHARP = 10; // the length of a query
const QUERIES = { one: [SHARP, 0], other: [0, SHARP], both: [SHARP, SHARP] };
const NAMES = {
  one: "head 1: the first verb",
  other: "head 2: the second verb",
  both: "one head: both verbs",
};

// The keys tell the places of the verbs, the values which they are.
const sentenceOf = ({ stretch, verbs, order }) => {
  const swapped = order !== "hang \u2026 let",
    [hang, release] = pairsOf(verbs);
  const words = SENTENCE.map((word, i) =>
    i === VERBS[Number(swapped)] ? "hang" : VERBS.includes(i) ? "let" : word,
  );
  const keys = words.map((_, i) =>
    i === VERBS[0] ? [stretch, 0] : i === VERBS[1] ? [0, 1] : [0, 0],
  );
  const values = words.map((word) => ({ hang, let: release })[word] ?? [0, 0]);
  return { words, keys, values };
};

const modelOf = (state) => {
  const { words, keys, values } = sentenceOf(state),
    model = { words, keys, values };
  for (const [name, query] of Object.entries(QUERIES))
    model[name] = attend(
      keys.map((key) => dot(query, key)),
      values,
    );
  return model;
};

// A column for each word: its score, its weight and its name.
const drawLook = (pen, id, [x, y, width], { words, [id]: look }) => {
  const wide = width / SENTENCE.length,
    tall = pen.narrow ? 32 : 52,
    base = y + 44 + tall,
    opacity = pen.seen(2);
  words.forEach((word, j) => {
    const middle = x + wide * (j + 0.5),
      text = { at: "middle", small: true },
      weight = look.weights[j],
      bar = tall * weight * opacity;
    pen.text(`${id}-score${j}`, middle, y + 14, shown(look.scores[j], 0), "ink", text);
    pen.rect(`${id}-weight${j}`, [middle - wide * 0.3, base - bar, wide * 0.6, bar], "weight", {
      round: 2,
    });
    if (VERBS.includes(j)) {
      const says = shown(weight);
      pen.text(`${id}-weight${j}-is`, middle, base - bar - 8, says, "weight", { ...text, opacity });
    }
    const role = word === "not" ? "query" : "key";
    pen.text(`${id}-word${j}`, middle, base + 11, word, role, text);
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
      half = pen.narrow ? 216 : card - 20,
      tall = pen.narrow ? 142 : 298;
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
        : [left + 10, top + 150, half, 122];
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
    const bottom = 2 * step + tall + 14,
      look = { small: true, at: "middle", opacity: pen.seen(3) };
    const says = "ring: the output if the verbs are exchanged";
    pen.text("legend", pen.width / 2, bottom, says, "output", look);
    return bottom + 10;
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
