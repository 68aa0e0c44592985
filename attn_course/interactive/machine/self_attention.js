// Three words are vectors of two numbers, and three matrices make their queries, keys and values.
const WORDS = ["river", "bank", "money"];
const VIEW = [-2.6, 4.4, -1.5, 2.6];

const modelOf = ({ x, W_Q, W_K, W_V, row: [row], words }) => {
  const plain = words === "no projections",
    tokens = pairsOf(x);
  const made = (matrix) => tokens.map((token) => (plain ? token : bend(pairsOf(matrix), token)));
  const [query, key, value] = [W_Q, W_K, W_V].map(made),
    scale = plain ? 1 : Math.SQRT2; // basic self-attention has no root
  const all = query.map((one) =>
    attend(
      key.map((other) => dot(one, other) / scale),
      value,
    ),
  );
  return {
    query,
    key,
    value,
    all: all.map(({ weights }) => weights),
    outputs: all.map(({ output }) => output),
    ...all[row],
  };
};

const drawProjected = (pen, id, box, title, role, made, shownAt, state, set) => {
  const name = `W_${id}`,
    projected = state.words !== "no projections",
    plane = planeOf(pen, id, box, VIEW, title, role),
    images = projected ? pairsOf(state[name]) : IDENTITY;
  made.forEach((vector, i) => {
    const quiet = id === "Q" && i !== state.row[0];
    const opacity = pen.seen(shownAt) * (quiet ? 0.5 : 1);
    plane.arrow(`a${i}`, vector, role, { line: quiet ? 1.3 : 2.4, name: WORDS[i], opacity });
  });
  drawMatrix(plane, name, images, (to) => set({ [name]: to.flat(), words: "projected" }));
  plane.write();
};

const drawWords = (pen, box, { x, row }, set) => {
  const plane = planeOf(pen, "x", box, VIEW, "words x");
  pairsOf(x).forEach((token, i) => {
    plane.arrow(`a${i}`, token, "ink", { line: i === row[0] ? 2.6 : 1.6, name: WORDS[i] });
    plane.grip(`a${i}`, token, WORDS[i], "ink", (to) => set({ x: pairsOf(x).with(i, to).flat() }), {
      size: 6,
    });
  });
  plane.write();
};

const drawGrid = (pen, [x, y, width, height], weights, row, set) => {
  const left = 56,
    top = 18,
    wide = (width - left) / 3,
    tall = (height - top) / 3,
    seen = pen.seen(4);
  pen.text("weights", x + 2, y - 11, "4 weights", "weight", { bold: true });
  weights.forEach((line, i) => {
    const middle = y + top + tall * (i + 0.5);
    pen.text(`column${i}`, x + left + wide * (i + 0.5), y + 8, WORDS[i], "key", {
      at: "middle",
      bold: !pen.narrow,
      small: true,
    });
    pen.text(`row${i}`, x + left - 6, middle, WORDS[i], "query", {
      at: "end",
      bold: true,
      small: true,
    });
    line.forEach((weight, j) => {
      const cell = [x + left + wide * j + 1, middle - tall / 2 + 1, wide - 2, tall - 2];
      const opacity = 0.08 + 0.8 * weight * seen;
      pen.rect(`cell${i}${j}`, cell, "weight", { opacity });
      const ink = opacity > 0.45 ? "black" : "ink";
      pen.text(`cell${i}${j}-is`, cell[0] + wide / 2 - 1, middle, shown(weight), ink, {
        at: "middle",
        opacity: seen,
      });
    });
    putGrip(pen, `row${i}`, [x, middle], {
      label: `follow ${WORDS[i]}`,
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
const drawOutput = (pen, box, { value, weights, output }, row) => {
  const plane = planeOf(pen, "out", box, VIEW, `5 output of ${WORDS[row]}`, "output"),
    opacity = pen.seen(5);
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

attnMachine("machine-self-attention", {
  model: modelOf,
  draw(pen, state, model, set) {
    const columns = pen.narrow ? 2 : 3,
      gap = pen.narrow ? 12 : 18,
      width = (pen.width - gap * (columns - 1)) / columns,
      height = pen.narrow ? 118 : 158,
      [row] = state.row;
    const box = (i) => [
      (i % columns) * (width + gap),
      24 + Math.floor(i / columns) * (height + 30),
      width,
      height,
    ];
    drawWords(pen, box(0), state, set);
    drawProjected(pen, "Q", box(1), "1 queries x W_Q", "query", model.query, 1, state, set);
    drawProjected(pen, "K", box(2), "2 keys x W_K", "key", model.key, 2, state, set);
    drawProjected(pen, "V", box(3), "3 values x W_V", "value", model.value, 3, state, set);
    drawGrid(pen, box(4), model.all, row, set);
    drawOutput(pen, box(5), model, row);
    return 24 + (6 / columns) * (height + 30) - 26;
  },
  say({ row: [row], words }, { query, key, value, weights, output }, step) {
    const plain = words === "no projections";
    if (step < 4) {
      const [name, made] = [
        ["queries", query],
        ["keys", key],
        ["values", value],
      ][step - 1];
      const vectors = made.map((vector, i) => `${WORDS[i]} ${shownPair(vector)}`).join(", ");
      return plain
        ? `The words themselves are the ${name}: ${vectors}.`
        : `The ${name} are ${vectors}.`;
    }
    const shares = weights.map((weight, j) => `${shown(weight)} to ${WORDS[j]}`).join(", ");
    const end = step === 5 ? `; its output is ${shownPair(output, 2)}` : "";
    return `${plain ? "Without projections" : "Projected"}, ${WORDS[row]} gives ${shares}${end}.`;
  },
});
