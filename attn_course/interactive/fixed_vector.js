attnFigure("fixed-vector", (root, data, say) => {
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const form = root.querySelector("form"), value = (name) => form.elements[name].value;
  const { left, top, wide, tall, across, cell, high } = data.layout;
  const picture = root.querySelector("svg");
  const texts = data.pairs.map(([source]) => written(source));
  let models = null, known, names, asked = 0, beside = {};

  const element = (name, attributes, text = "") => {
    const node = document.createElementNS(picture.namespaceURI, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    node.textContent = text;
    return node;
  };
  const percent = (share) => {
    if (share >= 0.0001) return `${(100 * share).toFixed(share >= 0.01 ? 0 : 2)}%`;
    const [first, power] = share.toExponential(0).split("e");
    const raise = (digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)];
    return `${first}·10${power.replace(/./g, raise)}`;
  };
  const trouble = (text) => {
    part("trouble").textContent = text;
    part("trouble").hidden = !text;
  };

  const strip = (vector) => [...vector].map((number, k) => element("rect", {
    x: left + cell * (k % across), y: 26 + high * Math.floor(k / across), width: cell, height: high,
    class: number < 0 ? "attn-below" : "attn-above", "fill-opacity": Math.abs(number).toFixed(2),
  }));

  // A beginning: the way from the one before, its last word, the probability of all its words.
  const beginning = ({ word, share, parent }, i, t, known) => {
    const group = element("g", { class: known }), x = left + wide * (i + 0.5), y = top + tall * t;
    const start = left + wide * (parent + 0.5);
    const pressed = { textLength: wide - 6, lengthAdjust: "spacingAndGlyphs" };
    const way = `M${start.toFixed(1)},${y - 11}L${x.toFixed(1)},${y + 2}`;
    if (t) group.append(element("path", { d: way }));
    group.append(element("text", { x, y: y + 17, ...(word.length > 12 && pressed) }, word));
    group.append(element("text", { x, y: y + 33 }, percent(share)));
    return group;
  };

  const drawPicture = ({ vector, steps, place, width }) => {
    const best = []; // the place of the best sentence at each step, from its end
    for (let t = steps.length - 1, i = place; t >= 0; i = steps[t][i].parent, t--) best[t] = i;
    const kind = (i, t) => (best[t] === i ? "attn-best" : i < width ? "attn-kept" : "attn-dropped");
    const text = `the vector: ${vector.length} numbers`;
    const name = element("text", { x: left, y: 16, class: "attn-name" }, text);
    const groups = steps.flatMap((row, t) => row.map((one, i) => beginning(one, i, t, kind(i, t))));
    picture.setAttribute("viewBox", `0 0 ${2 * left + 4 * wide} ${top + tall * steps.length}`);
    picture.replaceChildren(name, ...strip(vector), ...groups);
  };

  const showMarked = (name, words, right) => {
    const { parts, count } = markStrange(words, right);
    part(`${name}-reading`).replaceChildren(...parts);
    return count;
  };
  const show = (name, text) => {
    part(`${name}-reading`).textContent = text;
    part(`${name}-reading`).parentElement.hidden = !text;
  };

  const draw = (now) => {
    drawPicture(now);
    const { source, said, other, chance, narrow } = now, at = texts.indexOf(written(source));
    const right = data.pairs[at]?.[1], wanted = right ?? other;
    const count = showMarked("said", said, wanted), of = `${count} of ${said.length} words`;
    showMarked("other", other, wanted);
    show("right", right ? written(right) : "");
    show("strange", right ? of : `${of}: chapter 04 says something else`);
    const more = narrow === undefined ? "" : `; a beam of 1 finds a sentence of ${percent(narrow)}`;
    show("chance", percent(chance) + more);
    part("beam-reading").textContent = value("beam");
    part("shorter").disabled = at === 0;
    part("longer").disabled = at === texts.length - 1;
    say(`${written(source)} In French: ${written(said)}`);
  };

  const compute = () => {
    const read = readSentence(value("source"), [...known.keys()], data.most);
    trouble(read.trouble ?? "");
    if (read.trouble) return;
    const ids = [...read.words.map((word) => known.get(word)), EOS];
    const [model, attending] = models, width = Number(value("beam"));
    const spoken = (words) => words.filter((word) => word !== EOS).map((word) => names[word]);
    if (beside.source !== ids.join()) beside = { // the same for every beam
      source: ids.join(),
      vector: model.start(ids).vector,
      narrow: Math.exp(beamSearch(model, ids, 1).found[0].total),
      other: spoken(greedy(attending, ids).map(({ word }) => word)),
    };
    const { vector, narrow, other } = beside, start = performance.now();
    const { steps, found } = beamSearch(model, ids, width, Number(value("power")));
    root.milliseconds = (performance.now() - start) / steps.length;
    const tree = steps.map((row) => row.map(({ words, total, parent }) => ({
      word: names[words.at(-1)], share: Math.exp(total), parent,
    })));
    const [{ words, total, place }] = found;
    root.reading = {
      source: read.words, other, vector: [...vector],
      found: found.map((one) => ({ words: one.words, total: one.total, score: one.score })),
    };
    draw({ source: read.words, vector, steps: tree, place, width, said: spoken(words), other,
      chance: Math.exp(total), narrow: width > 1 ? narrow : undefined });
  };

  // fetch the weights once, and then follow every change
  const act = async () => {
    const mine = ++asked;
    if (!models) {
      trouble("One moment: the weights are on their way.");
      try {
        const [one, other] = await Promise.all(data.weights.map(fetchWeights));
        models = [fixedTranslator(one.tensors), additiveTranslator(other.tensors)];
        const { source_words, target_words } = one.said; // both know the same words
        known = new Map(JSON.parse(source_words).map((word, i) => [word, FIRST_WORD + i]));
        names = ["<pad>", "<bos>", "EOS", "<unk>", ...JSON.parse(target_words)];
        part("code").textContent = [models[0].step, beamSearch].map(String).join("\n\n");
        root.querySelector(".attn-code").hidden = false;
      } catch (error) {
        return trouble(`${error.message}. The picture stays as it is.`);
      }
    }
    if (mine === asked) compute();
  };

  form.addEventListener("input", ({ target }) => {
    if (target === part("example") && target.value) form.elements.source.value = target.value;
    act();
  });
  for (const [name, step] of [["shorter", -1], ["longer", 1]])
    part(name).addEventListener("click", () => {
      const at = texts.indexOf(value("source")) + step; // from a sentence of one's own to the first
      form.elements.source.value = texts[Math.min(Math.max(at, 0), texts.length - 1)];
      act();
    });
  const line = document.createElement("p");
  Object.assign(line, { className: "attn-trouble", hidden: true });
  line.dataset.part = "trouble";
  line.setAttribute("role", "alert");
  form.prepend(line);
  const steps = data.steps.map((row) => row.map(([word, share]) => ({ word, share, parent: 0 })));
  const said = steps.map(([{ word }]) => word).filter((word) => word !== "EOS");
  draw({ source: data.pairs[0][0], vector: data.vector, steps, place: 0, width: 1, said,
    other: data.other, chance: steps.at(-1)[0].share });
});
