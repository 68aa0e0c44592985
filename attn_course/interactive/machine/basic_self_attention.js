// Three words, each its own query, key and value; without the root.
attnMachine("machine-basic-self-attention", {
  model({ x, row: [row] }) {
    const tokens = pairsOf(x);
    return lookAround(tokens, tokens, tokens, 1, row);
  },
  draw(pen, state, model, set) {
    const { box, tall } = boxesOf(pen, 3),
      [row] = state.row;
    drawWords(pen, box(0), state, set);
    drawGrid(pen, box(1), model.all, row, 1, set);
    drawOutput(pen, box(2), model, row, 2);
    return tall;
  },
  say({ row: [row] }, { weights, output }, step) {
    const end = step === 2 ? `; its output is ${shownPair(output, 2)}` : "";
    return `${WORDS[row]} gives ${sharesOf({ weights })}${end}.`;
  },
});
