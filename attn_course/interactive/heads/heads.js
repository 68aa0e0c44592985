attnFigure("heads", (root, data, say, parts) => {
  const { form, picture, part, value, show, change } = parts;
  const sheet = headSheet(picture, data),
    large = attnElement("svg", {});
  picture.after(large);
  const grid = weightTable(root, { left: 92, top: 92, wide: 34, tall: 32 }, large);
  const [layers, heads] = data.shape,
    all = [];
  for (let i = 0; i < layers; i++) for (let j = 0; j < heads; j++) all.push([i, j]);
  let record = null,
    drawn = null;

  // the weights of the first sentence come along; those of the others are in the record
  const { first } = data,
    brought = Float64Array.from(atob(first.shares), (one) => one.charCodeAt(0) / 255);
  const weightsOf = (sentence) => {
    const text = data.sentences[sentence];
    return record
      ? { pieces: record.pieces[text], shares: record.tensors[text].data }
      : { pieces: first.pieces, shares: brought };
  };
  const wanted = () => {
    const sentence = record ? within(value("sentence"), data.sentences.length) : first.sentence;
    const count = weightsOf(sentence).pieces.length;
    return {
      sentence,
      count,
      layer: within(value("layer"), layers),
      head: within(value("head"), heads),
      row: within(value("row"), count),
      column: within(value("column"), count),
    };
  };
  // the weight that a piece gives to another in a head
  const shareOf = (sentence, count) => {
    const { shares } = weightsOf(sentence);
    return (layer, head, i, j) => shares[((layer * heads + head) * count + i) * count + j];
  };
  // the heads by their weight in the cell, the greatest first
  const order = ({ sentence, count, row, column }) => {
    const share = shareOf(sentence, count);
    return all.toSorted((one, other) => share(...other, row, column) - share(...one, row, column));
  };

  const draw = () => {
    const now = wanted(),
      { sentence, count, layer, head, row, column } = now;
    const { pieces } = weightsOf(sentence),
      share = shareOf(sentence, count);
    const table = pieces.map((_, i) => pieces.map((_, j) => share(layer, head, i, j)));
    if (sentence !== drawn) sheet.draw({ length: count, share });
    drawn = sentence;
    sheet.mark(layer, head);
    const rows = pieces.map((word, i) => ({ word, weights: table[i] }));
    grid.draw({ rows, columns: pieces, here: [row, column], touched: [row] });
    const here = table[row][column],
      [asking, at] = [row, column].map((i) => `“${pieces[i]}”`);
    const others = (sum(table.map((line) => line[column])) - here) / (count - 1);
    const more = all.filter((one) => share(...one, row, column) > here).length;
    const words = table.slice(1, -1),
      marks = sum(words.map((line) => line[0] + line.at(-1)));
    part("cell-reading").previousElementSibling.textContent = `layer ${layer}, head ${head}`;
    show("cell", `${asking} gives ${percent(here)} to ${at}`);
    show("rows", `give ${percent(others)} to ${at} on average`);
    show("rank", `${more} of ${all.length} give it more`);
    show("marks", `get ${percent(marks / words.length)} of a word’s weight, on average`);
    if (record) root.reading = { ...now, table, others, more };
    say(
      `${data.sentences[sentence].replace(/\.$/, "")}: in layer ${layer}, head ${head}, ` +
        `${asking} gives ${percent(here)} to ${at}.`,
    );
  };

  const act = attnAnswers(parts, {
    needs: () => [data.weights],
    make: ({ tensors, said }) => ({ tensors, pieces: JSON.parse(said.pieces) }),
    answer: (made) => {
      record = made[data.weights];
      draw();
    },
  });

  sheet.listen(([i, j]) => change({ layer: i, head: j }));
  const look = ([i, j]) => {
    const { count } = wanted();
    change({ row: within(i, count), column: within(j, count) });
  };
  grid.listen({ look, act: look });
  const seek = (name, choose) =>
    part(name).addEventListener("click", async () => {
      await act();
      if (!record) return; // it cannot be read
      const now = wanted(),
        [layer, head] = choose(order(now), now);
      change({ layer, head });
    });
  seek("most", ([first]) => first);
  seek("next", (ranked, now) => {
    const at = ranked.findIndex(([i, j]) => i === now.layer && j === now.head);
    return ranked[(at + 1) % ranked.length];
  });
  form.elements.sentence.addEventListener("change", () => {
    const [row, column] = data.cells[value("sentence")];
    change({ row, column });
  });
  form.addEventListener("input", act);
  draw();
});
