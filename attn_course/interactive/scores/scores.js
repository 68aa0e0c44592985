attnFigure("scores", (root, data, say, parts) => {
  const { form, picture, part, value, keep, write, show, trouble, ran } = parts;
  const all = Object.keys(data.models);
  const forAll = (make) => Object.fromEntries(all.map((name) => [name, make(name)]));
  // on a phone the two stand one below the other
  const isNarrow = () => root.clientWidth < 480;
  let now;
  const layout = () => ({ left: 100, top: 112, wide: 17, tall: isNarrow() ? 15 : 25 });
  const pictures = forAll((name) => attnElement("svg", { "data-model": name }));
  // the first one, which is shown, says what all of them show
  const order = [...new Set([...Object.keys(data.first), ...all])];
  picture.replaceWith(...order.map((name) => pictures[name]));
  const grids = forAll((name) => weightTable(root, layout, pictures[name]));

  const isLocal = (name) => name.startsWith("local");

  const draw = () => {
    const { source, said } = now,
      columns = [...source, "EOS"],
      looks = [];
    const at = data.pairs.findIndex(([one]) => written(one) === written(source));
    const window = Number(value("window"));
    const wide = (name) => (isLocal(name) ? `${name}, D = ${window}` : name);
    write("window-reading", `D = ${window}`);
    for (const name of all) {
      pictures[name].toggleAttribute("hidden", !said[name]);
      if (!said[name]) {
        show(name);
        continue;
      }
      const words = spoken(said[name]),
        right = data.pairs[at]?.[1] ?? words;
      const { parts, count } = markStrange(words, right),
        isNew = newBeside(words, right);
      const lost = right.filter((_, i) => newBeside(right, words)[i]).join(" ");
      const wrong = [count && `underlined: ${count} wrong`, lost && `left out: ${lost}`];
      const remark = wrong.filter(Boolean).join("; ");
      show(name, ...parts, remark && ` (${remark})`);
      const rows = said[name].map((one, i) => ({ ...one, changed: isNew[i] ?? false }));
      const row = Math.min(Number(value("row")), rows.length - 1),
        { weights, word } = rows[row];
      const best = largest([...weights]);
      grids[name].draw({
        rows,
        columns,
        here: [row, best],
        touched: [row],
        title: wide(name),
        window,
      });
      const share = `${percent(weights[best])} at ${columns[best]}`;
      looks.push(`${name} writes ${word}: ${weights[best] ? share : "nothing in its window"}`);
    }
    part("window").disabled = !all.some((name) => said[name] && isLocal(name));
    show("looks", looks.join("; "));
    const drawn = all.filter((name) => said[name]);
    const says = drawn.map((name) => `${name} says: ${written(spoken(said[name]))}`);
    say(`${written(source)} ${says.join("; ")}`);
  };

  const chosen = () => all.filter((name) => form.elements[name].checked);
  const recipe = (name) => data.models[name][0];

  const compute = (learned) => {
    if (!chosen().length) return trouble("Choose a model.");
    const { words } = learned[recipe(chosen()[0])]; // all have learned the same
    const read = readSentence(value("source"), words.known, data.most),
      said = {};
    trouble(read.trouble);
    if (read.trouble) return;
    for (const name of chosen()) {
      const { tensors } = learned[recipe(name)];
      const model = luongTranslator(tensors, data.models[name][1], Number(value("window")));
      const start = performance.now();
      said[name] = translate(model, words, read.words);
      root.milliseconds = (performance.now() - start) / said[name].length;
      ran(greedy, model.step);
    }
    now = { source: read.words, said };
    root.reading = now;
    draw();
  };

  const act = attnAnswers(parts, {
    needs: () => chosen().map(recipe),
    make: ({ tensors, said }) => ({ tensors, words: vocabularyOf(said) }),
    answer: compute,
  });

  const look =
    (name) =>
    ([i, j]) => {
      keep({ row: Math.min(Math.max(i, 0), now.said[name].length - 1) });
      draw();
      const cells = pictures[name].querySelectorAll(`[data-line="${value("row")}"] [data-cell]`);
      grids[name].focus([value("row"), within(j, cells.length)]);
    };
  for (const name of all) grids[name].listen({ look: look(name), act: look(name) });
  form.addEventListener("input", ({ target }) => {
    followExample(parts, target);
    act();
  });
  const first = Object.entries(data.first).map(([name, [words, shares, centres]]) => [
    name,
    words.map((word, i) => ({ word, weights: shares[i], centre: centres[i] })),
  ]);
  now = { source: data.pairs[0][0], said: Object.fromEntries(first) };
  draw();
});
