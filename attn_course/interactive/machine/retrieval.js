// Three keys, three scores: drag them, mask a key, turn the temperature.
attnMachine("machine-retrieval", {
  model: ({ scores, values, off, temperature }) => attend(scores, values, { off, temperature }),

  draw(pen, { scores, values, off, temperature }, model, set) {
    const height = pen.narrow ? 220 : 226;
    drawRows(
      pen,
      [0, 0, pen.width, height],
      { ...model, values },
      {
        names: ["key 1", "key 2", "key 3"],
        range: 3,
        off,
        temperature,
        drag: (j, score) => set({ scores: scores.with(j, score) }),
        mask: (j) => set({ off: off.with(j, 1 - off[j]) }),
      },
    );
    drawLever(pen, [0, height, pen.width, 122], { ...model, values }, [0, 100]);
    return height + 122;
  },

  say({ scores, values, off }, { sum, weights, output, empty }, step) {
    if (step === 1) return `The scores are ${listed(masked(scores, off))}.`;
    if (empty) return "Every key is masked, and 0/0 has no answer. This course answers 0.";
    if (step === 2)
      return `Each power is divided by their sum ${shown(sum)}: the weights are ${listed(weights)}.`;
    return `${blendInWords(weights, values, output)}: the values balance there.`;
  },
});
