attnFigure("heads", (root, data, say, parts) => {
  const { form, picture, part, value, show, change } = parts;
  const sheet = headSheet(picture, data),
    large = attnElement("svg", {});
  picture.after(large);
  // On a phone a row has its percentage on a short bar, the longest as long as can be, else beside it.
  const isNarrow = () => innerWidth < 480;
  const cells = () => ({ left: isNarrow() ? 68 : 92, top: 92, wide: 34, tall: 32 });
  const grid = weightTable(root, cells, large);
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
    const column = within(value("column"), count),
      also = Number(value("also")); // a second column, or -1
    const isThere = Number.isInteger(also) && also >= 0 && also < count && also !== column;
    return {
      sentence,
      count,
      layer: within(value("layer"), layers),
      head: within(value("head"), heads),
      row: within(value("row"), count),
      column,
      also: isThere ? also : -1,
      columns: isThere ? [column, also] : [column],
    };
  };
  // the weight that a piece gives to another in a head
  const shareOf = (sentence, count) => {
    const { shares } = weightsOf(sentence);
    return (layer, head, i, j) => shares[((layer * heads + head) * count + i) * count + j];
  };
  // what a row of a head gives to the chosen columns together
  const givenBy = (share, columns) => (layer, head, i) =>
    sum(columns.map((j) => share(layer, head, i, j)));
  // the heads by what they give, the greatest first
  const order = ({ sentence, count, row, columns }) => {
    const given = givenBy(shareOf(sentence, count), columns);
    return all.toSorted((one, other) => given(...other, row) - given(...one, row));
  };

  // Frames around the chosen columns and, beside the table, a bar for what each row gives to them.
  const compare = (pieces, totals, { row, columns }) => {
    const { left, top, wide, tall } = cells(),
      narrow = isNarrow(),
      start = left + wide * pieces.length + (narrow ? 3 : 10),
      [full, room] = narrow ? [38 / (Math.max(...totals) || 1), 39] : [90, 140];
    const drawn = columns.map((j) => {
      const box = { x: left + wide * j, y: top, width: wide, height: tall * pieces.length };
      return attnElement("rect", { ...box, class: "attn-touched" });
    });
    totals.forEach((total, i) => {
      const y = top + tall * i,
        isHere = i === row ? " attn-name" : "";
      const bar = { x: start, y: y + 5, width: (full * total).toFixed(1), height: tall - 10 };
      drawn.push(
        attnElement("rect", { ...bar, class: narrow ? "attn-given" : `attn-given${isHere}` }),
        attnElement(
          "text",
          {
            x: narrow ? start + 2 : (start + full * total + 6).toFixed(1),
            y: y + tall / 2 + 5,
            class: isHere,
          },
          narrow ? Math.round(100 * total) : percent(total),
        ),
      );
    });
    const names = columns.map((j) => pieces[j]).join(" + "),
      said = narrow ? ["%", "% to\nboth"][columns.length - 1] : `to ${names}`;
    const end = narrow ? { x: start + 38, "text-anchor": "end" } : { x: start };
    for (const [above, line] of said.split("\n").reverse().entries())
      drawn.push(
        attnElement("text", { ...end, y: top - 8 - 14 * above, class: "attn-name" }, line),
      );
    for (const one of drawn) one.setAttribute("aria-hidden", "true");
    large.append(...drawn);
    for (const j of columns) large.querySelector(`[data-column="${j}"]`).classList.add("attn-name");
    const [, , across, high] = large.getAttribute("viewBox").split(" ").map(Number),
      needed = Math.max(across, start + room, narrow ? 0 : start + 14 + 10 * said.length);
    large.setAttribute("viewBox", `0 0 ${needed} ${high}`);
    large.style.minWidth = `${Math.ceil((24 / wide) * needed)}px`;
  };

  const draw = () => {
    const now = wanted(),
      { sentence, count, layer, head, row, column, also, columns } = now;
    const { pieces } = weightsOf(sentence),
      share = shareOf(sentence, count);
    const table = pieces.map((_, i) => pieces.map((_, j) => share(layer, head, i, j)));
    if (sentence !== drawn) {
      sheet.draw({ length: count, share });
      const options = ["none", ...pieces].map((word, j) => new Option(word, j - 1));
      part("second").replaceChildren(...options);
    }
    drawn = sentence;
    sheet.mark(layer, head);
    const rows = pieces.map((word, i) => ({ word, weights: table[i] }));
    grid.draw({ rows, columns: pieces, here: [row, column], touched: [row] });
    const totals = table.map((line) => sum(columns.map((j) => line[j]))),
      here = totals[row],
      asking = `“${pieces[row]}”`,
      at = columns.map((j) => `“${pieces[j]}”`).join(" and ");
    compare(pieces, totals, now);
    part("second").value = also;
    const less = totals.toSpliced(row, 1),
      others = sum(less) / (count - 1);
    const given = givenBy(share, columns),
      more = all.filter((one) => given(...one, row) > here).length;
    part("cell-reading").previousElementSibling.textContent = `layer ${layer}, head ${head}`;
    show("cell", `${asking} gives ${percent(here)} to ${at}`);
    show("rows", `give ${percent(others)} on average, ${percent(Math.max(...less))} at most`);
    show("rank", `${more} of ${all.length} give it more`);
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
  const add = (j) => change({ also: j === wanted().also ? -1 : j });
  part("second").addEventListener("input", (event) => {
    event.stopPropagation(); // until the state has it, nothing is drawn
    change({ also: Number(event.target.value) });
  });
  large.addEventListener("click", ({ target }) => {
    const { column } = target.dataset;
    if (column !== undefined) add(Number(column));
  });
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
    change({ row, column, also: -1 });
  });
  form.addEventListener("input", act);
  draw();
});
