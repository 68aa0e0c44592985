// The reader of chapter 08: a vector for each word, one round of self-attention, a linear readout.
const heapReader = (tensors) => {
  const layer = layerOf(tensors),
    wide = tensors["vectors.weight"].shape[1];
  const project = (role, tokens) =>
    tokens.map((token) => linear(layer(`attention.project_${role}`), token));

  const read = (words) => {
    const tokens = words.map((word) => Float64Array.from(embed(layer("vectors"), word)));
    const [queries, keys, values] = ["query", "key", "value"].map((role) => project(role, tokens));
    const weights = queries.map((query) =>
      softmax(keys.map((key) => dot(query, key) / Math.sqrt(wide))),
    );
    const logits = weights.map((row) => linear(layer("readout"), blend(row, values)));
    const answers = logits.map(largest),
      sure = logits.map((row, i) => softmax(row)[answers[i]]);
    return { weights: weights.map((row) => [...row]), answers, sure };
  };
  return { read };
};

attnFigure("permutation", (root, data, say, parts) => {
  const { form, picture, part, value, show, ran, change } = parts;
  const chosen = form.elements;
  const letters = Math.max(...data.words.map((word) => word.length)); // of a slanted name
  const grid = weightTable(root, { left: 182, top: 16 + 6 * letters, wide: 40, tall: 34 });
  // a link may hold anything: what is no heap of known words is taken for the first one
  const numbers = (name) => {
    const found = chosen[name].value.split(".").map(Number);
    const isHeap = found.length === 9 && new Set(found).size === 9;
    return isHeap && found.every((one) => one in data.words) ? found : data.first;
  };
  const name = (word) => data.words[word];

  // a person's answer is the deed of its scene in the heap, a deed's the thing, a thing's the person
  const rightAnswer = (word, words) => {
    const scene = Math.floor(word / 15),
      next = (Math.floor(word / 5) + 1) % 3;
    return words.find((one) => Math.floor(one / 15) === scene && Math.floor(one / 5) % 3 === next);
  };
  const { first: words, answers, weights } = data;
  let now = {
    words,
    answers,
    weights,
    right: words.map((one, i) => answers[i] === rightAnswer(one, words)),
  };

  const apart = (most) =>
    most < 1e-9
      ? "the same table"
      : `another table: weights differ by up to ${most.toPrecision(2)}`;

  const draw = () => {
    const { words, answers, weights, right } = now;
    const rows = words.map((word, i) => ({
      word: `${name(word)} → ${name(answers[i])}`,
      weights: weights[i],
      changed: !right[i],
    }));
    const here = [chosen.row.value, chosen.column.value].map((at) => within(at, words.length));
    grid.draw({ rows, columns: words.map(name), here, touched: [here[0]] });
    const count = right.filter(Boolean).length;
    show("answers", `${count} of ${words.length} right`);
    show("apart", now.apart === undefined ? "" : apart(now.apart));
    const row = weights[here[0]],
      best = row.indexOf(Math.max(...row));
    show(
      "looks",
      `${name(words[here[0]])}: ${Math.round(100 * row[best])}% at ${name(words[best])}`,
    );
    say(
      `${count} of ${words.length} words give the right answer. ` +
        `${name(words[here[0]])} looks most at ${name(words[best])} and says ${name(answers[here[0]])}.`,
    );
  };

  const compute = (model) => {
    const words = numbers("heap");
    const { weights, answers, sure } = model.read(words);
    const right = words.map((word, i) => answers[i] === rightAnswer(word, words));
    now = { words, weights, answers, sure, right };
    // a link may name other words than the first order has: then they are in their first order
    if (!words.every((word) => numbers("first").includes(word)))
      parts.keep({ first: words.join(".") });
    const first = numbers("first");
    if (String(words) !== String(first)) {
      const before = model.read(first).weights,
        at = words.map((word) => first.indexOf(word));
      const gap = (one, i, j) => Math.abs(one - before[at[i]][at[j]]);
      now.apart = Math.max(...weights.flatMap((row, i) => row.map((one, j) => gap(one, i, j))));
    }
    root.reading = now;
    draw();
  };

  const act = attnAnswers(parts, {
    needs: () => ["who_does_what_projections"],
    make: ({ tensors }) => heapReader(tensors),
    answer: (models) => {
      ran(models.who_does_what_projections.read);
      compute(models.who_does_what_projections);
    },
  });

  const shuffled = (list) => {
    const mixed = [...list];
    for (let i = mixed.length - 1; i > 0; i--) {
      const j = Math.floor(Math.random() * (i + 1));
      [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
    }
    return mixed;
  };
  part("shuffle").addEventListener("click", () =>
    change({ heap: shuffled(numbers("heap")).join(".") }),
  );
  part("back").addEventListener("click", () => change({ heap: value("first") }));
  part("another").addEventListener("click", () => {
    const scenes = shuffled([0, 1, 2, 3]).slice(0, 3),
      any = () => Math.floor(5 * Math.random());
    const heap = [0, 1, 2].flatMap((kind) => scenes.map((scene) => 15 * scene + 5 * kind + any()));
    change({ heap: heap.join("."), first: heap.join(".") });
  });
  // a word that is chosen gives way to the next one of its kind, in its scene
  const exchange = (i, j) => {
    const next = (word) => word - (word % 5) + ((word + 1) % 5),
      old = now.words[j];
    const renew = (list) => list.map((word) => (word === old ? next(word) : word)).join(".");
    change({ row: i, column: j, heap: renew(numbers("heap")), first: renew(numbers("first")) });
  };
  picture.addEventListener("click", ({ target }) => {
    if (target.dataset.column) exchange(0, Number(target.dataset.column));
  });
  grid.listen({
    look: ([i, j]) => {
      const [row, column] = [i, j].map((at) => within(at, now.words.length));
      parts.keep({ row, column });
      draw();
      grid.focus([row, column]);
    },
    act: ([i, j]) => exchange(i, j),
  });
  form.addEventListener("input", act);
  draw();
});
