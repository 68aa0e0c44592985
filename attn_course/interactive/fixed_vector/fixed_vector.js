attnFigure("fixed-vector", (root, data, say, parts) => {
  const { form, picture, part, value, keep, write, show, trouble, ran } = parts;
  // the vector in lines of `across` cells; in a picture of its own, a row of beginnings for each step
  const [left, wide, tall] = [4, 116, 48],
    [across, cell, high] = [32, 14.5, 11];
  const tree = attnElement("svg", { "aria-hidden": true }),
    fold = form.querySelector("details");
  // a long sentence makes a tall tree, which scrolls in a box of its own
  const scroll = Object.assign(document.createElement("div"), { className: "attn-tree" });
  const box = { tabindex: 0, role: "group", "aria-label": "beginnings that were tried" };
  for (const [key, one] of Object.entries(box)) scroll.setAttribute(key, one);
  const legend = document.createElement("p");
  legend.textContent =
    "Under each word, the probability of the sentence so far. Scroll for the rest.";
  scroll.append(legend, tree);
  form.after(scroll);
  const texts = data.pairs.map(([source]) => written(source));
  let beside = {};

  const probability = (share) => (share < 0.001 ? "<0.1%" : percent(share, share < 0.01 ? 1 : 0));
  const odds = (share) =>
    share < 0.001
      ? `1 in ${Number((1 / share).toPrecision(2)).toLocaleString("en")}`
      : probability(share);

  const strip = (vector) =>
    [...vector].map((number, k) =>
      attnElement("rect", {
        x: left + cell * (k % across),
        y: 26 + high * Math.floor(k / across),
        width: cell,
        height: high,
        class: number < 0 ? "attn-below" : "attn-above",
        "fill-opacity": Math.abs(number).toFixed(2),
      }),
    );

  // A beginning: the way from the one before, its last word, the probability of all its words. In a
  // beam of one no way leads to what is not written.
  const beginning = ({ word, share, parent }, i, t, known, width) => {
    const group = attnElement("g", { class: known }),
      y = tall * t + 12;
    const [x, start] = [i, parent].map((place) => left + wide * (place + 0.5));
    const pressed = { textLength: wide - 6, lengthAdjust: "spacingAndGlyphs" };
    const way = `M${start.toFixed(1)},${y - 11}L${x.toFixed(1)},${y + 2}`;
    if (t && (width > 1 || known !== "attn-dropped")) group.append(attnElement("path", { d: way }));
    group.append(attnElement("text", { x, y: y + 17, ...(word.length > 12 && pressed) }, word));
    group.append(attnElement("text", { x, y: y + 33 }, probability(share)));
    return group;
  };

  const drawPicture = ({ vector, steps, place, width }) => {
    const best = []; // the place of the best sentence at each step, from its end
    for (let t = steps.length - 1, i = place; t >= 0; i = steps[t][i].parent, t--) best[t] = i;
    const kind = (i, t) => (best[t] === i ? "attn-best" : i < width ? "attn-kept" : "attn-dropped");
    const text = `the vector: ${vector.length} numbers`;
    const name = attnElement("text", { x: left, y: 16, class: "attn-name" }, text);
    const groups = steps.flatMap((row, t) =>
      row.map((one, i) => beginning(one, i, t, kind(i, t), width)),
    );
    const lines = Math.ceil(vector.length / across);
    picture.setAttribute("viewBox", `0 0 ${2 * left + 4 * wide} ${30 + high * lines}`);
    picture.replaceChildren(name, ...strip(vector));
    tree.setAttribute("viewBox", `0 0 ${2 * left + 4 * wide} ${12 + tall * steps.length}`);
    tree.replaceChildren(...groups);
  };

  // What few readers ask for is out of sight until they open the line above it. The tree then shows
  // the first word that is wrong.
  let last;
  const unfold = () => {
    scroll.toggleAttribute("hidden", !fold.open);
    const { narrow, chance, astray, steps } = last;
    const row = tree.clientHeight / (steps.length + 12 / tall);
    scroll.scrollTop = (Math.max(astray, 1) - 1) * row;
    const other = narrow === chance ? "the same" : `a sentence of ${odds(narrow)}`;
    const more = narrow === undefined ? "" : `; a beam of 1 finds ${other}`;
    show("chance", fold.open ? odds(chance) + more : "");
  };

  const showMarked = (name, words, right) => {
    const { parts, count, first } = markStrange(words, right);
    show(name, ...parts);
    return { count, first };
  };

  // the words that can be replaced, and by what
  const offer = (words) => {
    const fill = (name, options, chosen) => {
      const line = ([at, text]) => new Option(text, at, false, String(at) === chosen);
      part(name).replaceChildren(...options.map(line));
    };
    const kindOf = (word) => data.kinds.find((kind) => kind.includes(word));
    const places = [...words.entries()].filter(([, word]) => kindOf(word));
    fill("place", [["", "a word"], ...places], part("place").value);
    const word = words[part("place").value || NaN],
      kind = kindOf(word) ?? [];
    const others = word ? kind.map((one) => [one, one]) : [["", "another"]];
    fill("other", others, word);
  };

  const draw = (now) => {
    drawPicture((last = now));
    const { source, said, other } = now,
      at = texts.indexOf(written(source));
    const right = data.pairs[at]?.[1],
      wanted = right ?? other;
    show("read", written(source));
    const { count, first } = showMarked("said", said, wanted),
      of = `${count} of ${said.length} words`;
    last.astray = first;
    offer(source);
    showMarked("other", right ? [] : other, wanted); // for a sentence of one's own
    show("right", right ? written(right) : "");
    const alike = written(said) === written(other) ? "the same" : "something else";
    show("strange", right ? of : `${of}: chapter 04's translator says ${alike}`);
    unfold();
    write("beam-reading", value("beam"));
    // they keep the focus that they have
    for (const [name, end] of [
      ["shorter", 0],
      ["longer", texts.length - 1],
    ])
      part(name).setAttribute("aria-disabled", String(at === end));
    say(`${written(source)} In French: ${written(said)}`);
  };

  const compute = (model, attending) => {
    const { known, names } = model.words;
    const read = readSentence(value("source"), known, data.most);
    trouble(read.trouble);
    if (read.trouble) return;
    const ids = model.words.ids(read.words),
      width = Number(value("beam"));
    if (beside.source !== ids.join())
      beside = {
        // the same for every beam
        source: ids.join(),
        vector: model.start(ids).vector,
        narrow: Math.exp(beamSearch(model, ids, 1).found[0].total),
        other: spoken(translate(attending, attending.words, read.words)),
      };
    const { vector, narrow, other } = beside,
      start = performance.now();
    const { steps, found } = beamSearch(model, ids, width, Number(value("power")));
    root.milliseconds = (performance.now() - start) / steps.length;
    const tree = steps.map((row) =>
      row.map(({ words, total, parent }) => ({
        word: names[words.at(-1)],
        share: Math.exp(total),
        parent,
      })),
    );
    const [{ words, total, place }] = found;
    root.reading = {
      source: read.words,
      other,
      vector: [...vector],
      found: found.map((one) => ({ words: one.words, total: one.total, score: one.score })),
    };
    draw({
      source: read.words,
      vector,
      steps: tree,
      place,
      width,
      other,
      said: spoken(words.map((word) => ({ word: names[word] }))),
      chance: Math.exp(total),
      narrow: width > 1 ? narrow : undefined,
    });
  };

  const translators = [fixedTranslator, additiveTranslator];
  const act = attnAnswers(parts, {
    needs: () => data.weights,
    make: ({ tensors, said }, name) => ({
      ...translators[data.weights.indexOf(name)](tensors),
      words: vocabularyOf(said),
    }),
    answer: (models) => {
      const [model, attending] = data.weights.map((name) => models[name]);
      ran(model.step, beamSearch);
      compute(model, attending);
    },
  });

  form.addEventListener("input", ({ target }) => {
    if (target === part("place")) return offer(last.source);
    if (target === part("other")) {
      const at = Number(part("place").value);
      keep({ source: written(last.source.with(at, target.value)) });
    }
    followExample(parts, target);
    act();
  });
  for (const [name, step] of [
    ["shorter", -1],
    ["longer", 1],
  ])
    part(name).addEventListener("click", () => {
      const at = texts.indexOf(value("source")) + step; // from a sentence of one's own to the first
      keep({ source: texts[Math.min(Math.max(at, 0), texts.length - 1)] });
      followExample(parts, part("longer"));
      act();
    });
  fold.addEventListener("toggle", unfold);
  const steps = data.steps.map((row) => row.map(([word, share]) => ({ word, share, parent: 0 })));
  const said = steps.map(([one]) => one);
  draw({
    source: data.pairs[0][0],
    vector: data.vector,
    steps,
    place: 0,
    width: 1,
    said: spoken(said),
    other: [],
    chance: steps.at(-1)[0].share,
  });
});
