// Three words, each a vector of two numbers, that look at each other.
const VIEW = [-2.6, 4.4, -1.5, 2.6];

// Every word asks with its query; the row is the one that is followed.
const lookAround = (words, [query, key, value], scale, row) => {
  const all = query.map((one) =>
    attend(
      key.map((other) => dot(one, other) / scale),
      value,
    ),
  );
  return {
    words,
    query,
    key,
    value,
    all: all.map(({ weights }) => weights),
    outputs: all.map(({ output }) => output),
    ...all[row],
  };
};

// No name lies on an arrow.
const keepArrowsFree = (pen, plane, vectors) => {
  for (const vector of vectors)
    for (const part of [0.3, 0.6, 0.9]) pen.keepFree(plane.to(vector.map((one) => part * one)), 2);
};

const drawWords = (pen, box, { words, axes }, { x, row }, set) => {
  const plane = planeOf(pen, "x", box, VIEW, "words x");
  const [left, top, width, height] = box,
    look = { small: true, at: "end", opacity: 0.75 };
  pen.text("across", left + width - 6, top + height - 10, `${axes[0]} \u2192`, "ink", look);
  pen.text("up", plane.zero[0] - 5, top + 10, `${axes[1]} \u2191`, "ink", look);
  pairsOf(x).forEach((token, i) => {
    plane.arrow(`a${i}`, token, "ink", { line: i === row[0] ? 2.6 : 1.6, name: words[i] });
    plane.grip(`a${i}`, token, words[i], "ink", (to) => set({ x: pairsOf(x).with(i, to).flat() }), {
      size: 6,
    });
  });
  keepArrowsFree(pen, plane, pairsOf(x));
  plane.write();
};

const drawGrid = (pen, [x, y, width, height], { words, all }, row, step, set) => {
  const left = pen.narrow ? 52 : 56,
    top = 18,
    wide = (width - left) / 3,
    tall = (height - top) / 3,
    seen = pen.seen(step);
  pen.text("weights", x + 2, y - 11, `${step} weights`, "weight", { bold: true });
  all.forEach((line, i) => {
    const middle = y + top + tall * (i + 0.5);
    pen.text(`column${i}`, x + left + wide * (i + 0.5), y + 8, words[i], "key", {
      at: "middle",
      bold: !pen.narrow,
      small: true,
    });
    pen.text(`row${i}`, x + left - 6, middle, words[i], "query", {
      at: "end",
      bold: !pen.narrow,
      small: true,
    });
    line.forEach((weight, j) => {
      const cell = [x + left + wide * j + 1, middle - tall / 2 + 1, wide - 2, tall - 2];
      const opacity = 0.08 + 0.92 * weight * seen;
      pen.rect(`cell${i}${j}`, cell, "weight", { opacity });
      // legible on paper of either colour
      const fill = opacity > 0.77 ? "#000" : "var(--attn-stark, currentColor)";
      pen.text(`cell${i}${j}-is`, cell[0] + wide / 2 - 1, middle, shown(weight), "ink", {
        at: "middle",
        fill,
        opacity: seen,
      });
    });
    putGrip(pen, `row${i}`, [x, middle], {
      label: `follow ${words[i]}`,
      pressed: i === row,
      box: [x, middle - tall / 2, width, tall],
      press: () => set({ row: [i] }),
    });
  });
  pen.rect("here", [x + left - 1, y + top + tall * row, width - left + 2, tall], "ink", {
    line: 2,
    round: 4,
  });
};

// The output is walked to: each value, as long as its weight, from the tip of the one before.
const drawOutput = (pen, box, { words, value, weights, output }, row, step) => {
  const plane = planeOf(pen, "out", box, VIEW, `${step} output of ${words[row]}`, "output"),
    opacity = pen.seen(step);
  let tip = [0, 0];
  value.forEach((vector, j) => {
    plane.arrow(`whole${j}`, vector, "value", { line: 1.2, head: 7, opacity: 0.4 * opacity });
    const next = tip.map((one, c) => one + vector[c] * weights[j]);
    plane.arrow(`part${j}`, next, "value", { from: tip, line: 2.5, head: 7, opacity });
    tip = next;
  });
  plane.arrow("output", output, "output", { line: 3.5, opacity });
  const [x, y, width, height] = box;
  const look = { at: "end", bold: true, opacity };
  pen.text("output-is", x + width - 8, y + height - 12, shownPair(output, 2), "output", look);
};

// Box i of so many, in rows of two or three; and the height of all of them.
const boxesOf = (pen, many) => {
  const columns = pen.narrow ? 2 : 3,
    gap = pen.narrow ? 12 : 18,
    width = (pen.width - gap * (columns - 1)) / columns,
    height = pen.narrow ? 118 : 158;
  const box = (i) => [
    (i % columns) * (width + gap),
    24 + Math.floor(i / columns) * (height + 30),
    width,
    height,
  ];
  return { box, tall: Math.ceil(many / columns) * (height + 30) - 2 };
};

const sharesOf = ({ words, weights }) =>
  weights.map((weight, j) => `${shown(weight)} to ${words[j]}`).join(", ");
