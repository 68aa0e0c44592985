// Three matrices make the queries, keys and values of three words, or every word is all three.
const BARK = { words: ["he", "Bark", "dog"], axes: ["animal", "open"] };

const drawProjected = (pen, id, box, title, role, made, shownAt, state, set) => {
  const name = `W_${id}`,
    projected = state.projections === "on",
    plane = planeOf(pen, id, box, VIEW, projected ? `${title} ${name}` : title, role),
    images = pairsOf(state[name]);
  made.forEach((vector, i) => {
    const quiet = id === "Q" && i !== state.row[0],
      written = pen.seen(shownAt),
      opacity = written * (quiet ? 0.5 : 1);
    const looks = { line: quiet ? 1.3 : 2.4, name: BARK.words[i], opacity, written };
    plane.arrow(`a${i}`, vector, role, looks);
  });
  const looks = { names: BARK.axes, hollow: true };
  if (projected) drawMatrix(plane, name, images, (to) => set({ [name]: to.flat() }), looks);
  keepArrowsFree(pen, plane, made);
  plane.write();
};

attnMachine("machine-self-attention", {
  model({ projections, x, W_Q, W_K, W_V, row: [row] }) {
    const made = [W_Q, W_K, W_V].map((matrix) =>
      pairsOf(x).map((token) => (projections === "on" ? bend(pairsOf(matrix), token) : token)),
    );
    return lookAround(BARK.words, made, Math.SQRT2, row);
  },
  draw(pen, state, model, set) {
    const { box, tall } = boxesOf(pen, 6),
      [row] = state.row;
    drawWords(pen, box(0), BARK, state, set);
    drawProjected(pen, "Q", box(1), "1 queries x", "query", model.query, 1, state, set);
    drawProjected(pen, "K", box(2), "2 keys x", "key", model.key, 2, state, set);
    drawProjected(pen, "V", box(3), "3 values x", "value", model.value, 3, state, set);
    drawGrid(pen, box(4), model, row, 4, set);
    drawOutput(pen, box(5), model, row, 5);
    return tall;
  },
  say({ row: [row] }, model, step) {
    const { words, query, key, value, output } = model;
    if (step < 4) {
      const [name, made] = [
        ["queries", query],
        ["keys", key],
        ["values", value],
      ][step - 1];
      const vectors = made.map((vector, i) => `${words[i]} ${shownPair(vector)}`).join(", ");
      return `The ${name} are ${vectors}.`;
    }
    const end = step === 5 ? `; its output is ${shownPair(output, 2)}` : "";
    return `${words[row]} gives ${sharesOf(model)}${end}.`;
  },
});
