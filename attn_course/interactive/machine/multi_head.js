// Two heads on the same words, beside one head that wants both verbs.
const SENTENCE = ["hang", "them", "not", "let", "them", "go"],
  VERBS = [0, 3], // their places
  SHARP = 10; // the length of a query
const QUERIES = { one: [SHARP, 0], other: [0, SHARP], both: [SHARP, SHARP] };
const NAMES = {
  one: "head 1: the first verb",
  other: "head 2: the second verb",
  both: "both verbs",
};
const TITLES = { one: "two heads", both: "instead, a single head" },
  TITLE = 22; // pixels
const ORDERS = ["hang \u2026 let", "let \u2026 hang"];

// The keys tell the places of the verbs, the values which they are.
const sentenceOf = ({ stretch, verbs, order }) => {
  const swapped = order !== ORDERS[0],
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
    if (weight >= 0.005) {
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

// A ring is where the output would be in the other order.
const drawBlend = (pen, id, box, { verbs }, { [id]: look }, exchanged, set) => {
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
  if (exchanged) {
    const ring = plane.to(exchanged[id].output);
    plane.inside("ring", () => pen.disc(`${id}-ring`, ring, 11, "output", { line: 2, opacity }));
    pen.keepFree(ring, 12);
  }
  plane.write();
};

const drawCard = (pen, id, [left, top], [width, height], state, model, exchanged, set) => {
  const role = id === "both" ? "ink" : "weight",
    half = pen.narrow ? 216 : width - 20;
  pen.rect(`${id}-card`, [left, top, width, height], role, { opacity: 0.07, round: 10 });
  pen.text(`${id}-name`, left + 10, top + 14, NAMES[id], "ink", { bold: true });
  drawLook(pen, id, [left + 10, top + 20, half], model);
  const plane = pen.narrow
    ? [left + half + 18, top + 8, width - half - 26, 110]
    : [left + 10, top + 150, half, 122];
  drawBlend(pen, id, plane, state, model, exchanged, set);
  const output = `output ${shownPair(model[id].output)}`,
    look = { at: "middle", bold: true, opacity: pen.seen(3) };
  const [x, y] = [plane[0] + plane[2] / 2, plane[1] + plane[3] + 12];
  pen.text(`${id}-output`, x, y, output, "output", look);
};

attnMachine("machine-multi-head", {
  model: modelOf,
  draw(pen, state, model, set) {
    const [width, height] = pen.narrow ? [pen.width, 142] : [(pen.width - 42) / 3, 298],
      other = ORDERS[1 - ORDERS.indexOf(state.order)],
      opens = state.order === ORDERS[0] && state.stretch === 1; // rings would answer the question
    const exchanged = opens ? null : modelOf({ ...state, order: other });
    // the two heads side by side, or one below the other, and the single head apart from both
    const places = {
      one: [0, 0],
      other: pen.narrow ? [0, height + 6] : [width + 12, 0],
      both: pen.narrow ? [0, 2 * height + TITLE + 16] : [2 * width + 42, 0],
    };
    for (const [id, title] of Object.entries(TITLES))
      pen.text(`${id}-title`, places[id][0], places[id][1] + 8, title, "ink", { bold: true });
    for (const [id, [left, top]] of Object.entries(places))
      drawCard(pen, id, [left, top + TITLE], [width, height], state, model, exchanged, set);
    const bottom = places.both[1] + TITLE + height + 14,
      look = { small: true, at: "middle", opacity: pen.seen(3) };
    const says = exchanged ? "ring: the output in the other order" : "";
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
