// What the figure of captions says, and the small parts that it draws. A word of a caption is
// {word, weights, looked, guesses: [[word, probability], ...]}.
const placeOf = (cell, grid = 3) =>
  `row ${Math.floor(cell / grid) + 1}, column ${(cell % grid) + 1}`;

// A word as `describe` gives it, in letters and with its best guesses.
const wordOf = ({ word, shares, weights, used }, words, candidates) => {
  const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, candidates);
  const guesses = order.map((i) => [words[i], shares[i]]);
  const looked = used.includes(1) ? used.indexOf(1) : null;
  return { word: words[word], weights, used, looked, guesses };
};

const captionOf = (said) => {
  const words = said.map(({ word }) => word);
  return (words.at(-1) === "(end)" ? words.slice(0, -1) : [...words, "…"])
    .join(" ")
    .replaceAll(" ,", ",");
};

const whereOf = ({ weights, looked }) => {
  if (looked !== null) return `It looks at ${placeOf(looked)} alone`;
  const same = weights.every((one) => one === weights[0]);
  if (same) return `${percent(weights[0])} of the weight on every cell`;
  const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3);
  return order
    .filter((cell, i) => !i || weights[cell] >= 0.05)
    .map((cell, i) => `${percent(weights[cell])} ${i ? "" : "of the weight "}on ${placeOf(cell)}`)
    .join("; ");
};

const guessesOf = ({ guesses }) =>
  guesses
    .filter(([, share], i) => !i || share >= 0.005)
    .map(([word, share]) => `${word === "," ? "\u201c,\u201d" : word} ${percent(share)}`)
    .join(", ");

const captionSentence = (model, said, at) =>
  [
    `${model[0].toUpperCase()}${model.slice(1)} attention says: “${captionOf(said)}”.`,
    `Word ${at + 1} of ${said.length}: “${said[at].word}”,`,
    `probability ${percent(said[at].guesses[0][1])}.`,
    `${whereOf(said[at])}.`,
  ].join(" ");

// A word to be chosen, over a small map of its weights.
const captionChip = ({ word, weights, looked }, number, chosen, isMoved, grid) => {
  const chip = document.createElement("button"),
    name = document.createElement("span");
  const cells = weights.map((weight, cell) =>
    attnElement("rect", {
      x: cell % grid,
      y: Math.floor(cell / grid),
      width: 1,
      height: 1,
      style: `--attn-share:${weight}`,
      class: cell === looked ? "attn-weight attn-looked" : "attn-weight",
    }),
  );
  const box = `-0.1 -0.1 ${grid + 0.2} ${grid + 0.2}`;
  chip.append(attnElement("svg", { viewBox: box, "aria-hidden": "true" }, ...cells), name);
  name.textContent = word;
  chip.type = "button";
  chip.className = isMoved ? "attn-chip attn-moved" : "attn-chip";
  chip.dataset.word = number;
  chip.tabIndex = chosen ? 0 : -1;
  chip.setAttribute("aria-pressed", String(chosen));
  return chip;
};

// The pixels of each shade as one line along the middle of their rows; line `i` is of shade i + 1.
const shadeLines = (image) => {
  const lines = Array.from({ length: 16 }, () => "");
  image.forEach((row, y) =>
    row.forEach(([ink], x) => {
      const shade = Math.round(16 * ink);
      if (shade) lines[shade - 1] += `M${x} ${y}.5h1`;
    }),
  );
  return lines;
};

// Pairs of numbers in a control: `4.7_5.1` says that 4 has 7 and 5 has 1.
const pairsIn = (text) =>
  new Map(
    text
      .split("_")
      .filter(Boolean)
      .map((pair) => pair.split(".").map(Number)),
  );
const writePairs = (pairs) => [...pairs].map((pair) => pair.join(".")).join("_");
