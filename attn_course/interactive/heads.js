attnFigure("heads", (root, data, say) => {
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const form = root.querySelector("form"), chosen = form.elements;
  const [small, large] = root.querySelectorAll(".attn-picture > svg");
  const sheet = headSheet(small, data.sheet, data.colour);
  const grid = alignmentGrid(root, data.layout, large);
  const [layers, heads] = data.shape, all = [];
  for (let i = 0; i < layers; i++) for (let j = 0; j < heads; j++) all.push([i, j]);
  let record = null, drawn = data.first.sentence, asked = 0;

  const percent = (share) => `${Math.round(100 * share)}%`;
  const show = (name, text, label) => {
    part(`${name}-reading`).textContent = text;
    if (label) part(`${name}-reading`).previousElementSibling.textContent = label;
  };
  const within = (at, count) => Math.min(Math.max(Math.floor(Number(at)) || 0, 0), count - 1);
  const wanted = () => {
    const sentence = within(chosen.sentence.value, data.sentences.length);
    const count = record?.pieces[data.sentences[sentence]].length ?? data.first.pieces.length;
    const { layer, head, row, column } = chosen;
    return {
      sentence, count, layer: within(layer.value, layers), head: within(head.value, heads),
      row: within(row.value, count), column: within(column.value, count),
    };
  };
  // the weight that a piece gives to another in a head, from the record
  const shareOf = (sentence, count) => {
    const { data: shares } = record.tensors[data.sentences[sentence]];
    return (layer, head, i, j) => shares[((layer * heads + head) * count + i) * count + j];
  };
  // the heads by their weight in the cell, the greatest first
  const order = ({ sentence, count, row, column }) => {
    const share = shareOf(sentence, count);
    return all.toSorted((one, other) =>
      share(...other, row, column) - share(...one, row, column));
  };

  const drawTable = (pieces, table, here) => {
    const rows = pieces.map((word, i) => ({ word, weights: table[i] }));
    grid.draw({ rows, columns: pieces, here, touched: [here[0]] });
  };
  const draw = () => {
    const now = wanted(), { sentence, count, layer, head, row, column } = now;
    const pieces = record.pieces[data.sentences[sentence]], share = shareOf(sentence, count);
    const table = pieces.map((_, i) => pieces.map((_, j) => share(layer, head, i, j)));
    if (sentence !== drawn) sheet.draw({ shape: data.shape, length: count, share });
    drawn = sentence;
    sheet.mark(layer, head);
    drawTable(pieces, table, [row, column]);
    const here = table[row][column], asking = pieces[row], at = pieces[column];
    const others = (sum(table.map((line) => line[column])) - here) / (count - 1);
    const more = all.filter((one) => share(...one, row, column) > here).length;
    const words = table.slice(1, -1), marks = sum(words.map((line) => line[0] + line.at(-1)));
    show("cell", `${asking} gives ${percent(here)} to ${at}`, `layer ${layer}, head ${head}`);
    show("rows", `give ${percent(others)} to ${at} on average`);
    show("rank", `${more} of ${all.length} give it more`);
    show("marks", `get ${percent(marks / words.length)} from a word of this head`);
    root.reading = { ...now, table, others, more };
    say(`${data.sentences[sentence].replace(/\.$/, "")}: in layer ${layer}, head ${head}, ` +
      `${asking} gives ${percent(here)} to ${at}.`);
  };

  // fetch the record once, and then follow every change
  const act = async (then = () => {}) => {
    const mine = ++asked;
    if (!record) part("trouble").textContent = "One moment: the record is on its way.";
    part("trouble").hidden = Boolean(record);
    try {
      const { tensors, said } = await fetchWeights(data.weights);
      record = { tensors, pieces: JSON.parse(said.pieces) };
    } catch (error) {
      part("trouble").textContent = `${error.message}. The picture stays as it is.`;
      return;
    }
    part("trouble").hidden = true;
    if (mine !== asked) return;
    then();
    draw();
  };
  const write = (changes) => {
    for (const name in changes) chosen[name].value = changes[name];
  };
  const keep = (changes) => {
    write(changes);
    form.dispatchEvent(new Event("input", { bubbles: true }));
  };

  sheet.listen(([i, j]) => keep({ layer: i, head: j }));
  const look = ([i, j]) => {
    const { count } = wanted();
    write({ row: within(i, count), column: within(j, count) });
    act();
  };
  grid.listen({ look, act: look });
  part("most").addEventListener("click", () => act(() => {
    const [[layer, head]] = order(wanted());
    write({ layer, head });
  }));
  part("next").addEventListener("click", () => act(() => {
    const now = wanted(), ranked = order(now);
    const at = ranked.findIndex(([i, j]) => i === now.layer && j === now.head);
    const [layer, head] = ranked[(at + 1) % ranked.length];
    write({ layer, head });
  }));
  form.addEventListener("input", () => act());

  const { pieces, table } = data.first, { layer, head, row, column } = wanted();
  sheet.mark(layer, head);
  drawTable(pieces, table, [row, column]);
});
