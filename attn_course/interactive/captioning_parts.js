// How a caption is written in the numbers of the figure, and how it is read out: `b97c3` is word 1
// with 97 and word 2 with 3 percent.
const captionText = (vocabulary, grid) => {
  const end = "(end)";
  const wordOf = (letter) => vocabulary[letter.charCodeAt(0) - 97];
  const words = (letters) => [...letters].map(wordOf);
  const guesses = (text) =>
    [...text.matchAll(/([a-z])(\d+)/g)].map(([, letter, percent]) => [wordOf(letter), Number(percent)]);
  const spoken = (all) => (all.at(-1) === end ? all.slice(0, -1) : [...all, "…"]).join(" ");
  const place = (cell) => `row ${Math.floor(cell / grid) + 1}, column ${(cell % grid) + 1}`;

  const where = (weights) => {
    if (weights.every((one) => one === weights[0])) return `${weights[0]}% of the weight on every cell`;
    const order = weights.map((_, cell) => cell).sort((a, b) => weights[b] - weights[a]).slice(0, 3);
    return order
      .filter((cell, number) => !number || weights[cell] >= 5)
      .map((cell, number) => `${weights[cell]}% ${number ? "" : "of the weight "}on ${place(cell)}`)
      .join("; ");
  };

  const sentence = (now) => {
    const [[first, percent]] = now.guesses;
    const parts = [
      `Image ${now.image + 1}, ${now.model} attention.`,
      `Word ${now.word + 1} of ${now.words.length}: “${first}”, probability ${percent}%.`,
      `${where(now.own)}.`,
    ];
    if (now.ownLooked !== null) parts.push(`It looks at ${place(now.ownLooked)} alone.`);
    if (now.moved !== null) {
      const [[other, share]] = now.movedGuesses;
      parts.push(`Had it looked at ${place(now.moved)} alone: “${other}”, probability ${share}%.`);
      parts.push(`The caption would be: “${now.movedCaption}”.`);
    }
    return parts.join(" ");
  };

  return { words, guesses, spoken, place, sentence };
};

// A word to be chosen, with a wavy line and a word for screen readers if the right caption lacks it.
const captionChip = (word, number, isRight) => {
  const label = document.createElement("label"), input = document.createElement("input");
  const span = document.createElement("span");
  label.className = "attn-option";
  Object.assign(input, { type: "radio", name: "word", value: number });
  span.textContent = word;
  label.append(input, span);
  if (!isRight) {
    label.classList.add("attn-wrong");
    const unseen = document.createElement("span");
    unseen.className = "attn-unseen";
    unseen.textContent = " (wrong)";
    label.append(unseen);
  }
  return label;
};
