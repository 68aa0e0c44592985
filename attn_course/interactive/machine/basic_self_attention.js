// Three words, each its own query, key and value; without the root.
const BANK = { words: ["river", "bank", "money"], axes: ["finance", "water"] };

attnMachine("machine-basic-self-attention", {
  model({ x, row: [row] }) {
    const tokens = pairsOf(x);
    return lookAround(BANK.words, [tokens, tokens, tokens], 1, row);
  },
  draw(pen, state, model, set) {
    const { box, tall } = boxesOf(pen, 3),
      [row] = state.row;
    drawWords(pen, box(0), BANK, state, set);
    drawGrid(pen, box(1), model, row, 1, set);
    drawOutput(pen, box(2), model, row, 2);
    return tall;
  },
  say({ row: [row] }, model, step) {
    const end =
      step === 2 ? `; green, word times weight, adds up to ${shownPair(model.output, 2)}` : "";
    return `${model.words[row]} gives ${sharesOf(model)}${end}.`;
  },
});
