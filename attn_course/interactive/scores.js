attnFigure("scores", (root, data, say) => {
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const form = root.querySelector("form"), value = (name) => form.elements[name].value;
  const all = Object.keys(data.models), tensors = {};
  const forAll = (make) => Object.fromEntries(all.map((name) => [name, make(name)]));
  const pictures = forAll((name) => root.querySelector(`[data-model=${name}]`));
  const grids = forAll((name) => alignmentGrid(root, data.layout, pictures[name]));
  let known, names, asked = 0, now;

  const show = (name, parts) => {
    part(`${name}-reading`).replaceChildren(...parts);
    part(`${name}-reading`).parentElement.hidden = !parts.length;
  };
  const trouble = (text) => {
    part("trouble").textContent = text;
    part("trouble").hidden = !text;
  };
  const isLocal = (name) => name.startsWith("local");
  const spoken = (said) => said.map(({ word }) => word).filter((word) => word !== "EOS");

  const draw = () => {
    const { source, said } = now, columns = [...source, "EOS"], looks = [];
    const at = data.pairs.findIndex(([one]) => written(one) === written(source));
    const window = value("window");
    const wide = (name) => (isLocal(name) ? `${name}, D = ${window}` : name);
    part("window-reading").textContent = `D = ${window}`;
    for (const name of all) {
      pictures[name].toggleAttribute("hidden", !said[name]);
      if (!said[name]) {
        show(name, []);
        continue;
      }
      const words = spoken(said[name]), right = data.pairs[at]?.[1] ?? words;
      const { parts, count } = markStrange(words, right), isNew = newBeside(words, right);
      const lost = right.filter((_, i) => newBeside(right, words)[i]).join(" ");
      const wrong = [count && `underlined: ${count} wrong`, lost && `left out: ${lost}`];
      const remark = wrong.filter(Boolean).join("; ");
      show(name, [...parts, remark && ` (${remark})`]);
      const rows = said[name].map((one, i) => ({ ...one, changed: isNew[i] ?? false }));
      const row = Math.min(Number(value("row")), rows.length - 1), { weights, word } = rows[row];
      const best = largest([...weights]);
      grids[name].draw({ rows, columns, here: [row, best], touched: [row], title: wide(name) });
      const share = `${Math.round(100 * weights[best])}% at ${columns[best]}`;
      looks.push(`${name}, “${word}”: ${weights[best] ? share : "nothing in its window"}`);
    }
    show("looks", looks.length ? [looks.join("; ")] : []);
    const drawn = all.filter((name) => said[name]);
    const says = drawn.map((name) => `${name} says: ${written(spoken(said[name]))}`);
    say(`${written(source)} ${says.join("; ")}`);
  };

  const compute = (chosen) => {
    const read = readSentence(value("source"), [...known.keys()], data.most);
    trouble(read.trouble ?? "");
    if (read.trouble) return;
    const ids = [...read.words.map((word) => known.get(word)), EOS], said = {};
    for (const name of chosen) {
      const model = luongTranslator(tensors[name], data.models[name][1], Number(value("window")));
      const start = performance.now();
      said[name] = greedy(model, ids).map((one) => ({ ...one, word: names[one.word] }));
      root.milliseconds = (performance.now() - start) / said[name].length;
      part("code").textContent = [greedy, model.step].map(String).join("\n\n");
    }
    now = { source: read.words, said };
    root.reading = now;
    draw();
  };

  // fetch the weights of a model once, when it is shown, and then follow every change
  const act = async () => {
    const mine = ++asked, chosen = all.filter((name) => form.elements[name].checked);
    const missing = chosen.filter((name) => !tensors[name]);
    if (missing.length) trouble("One moment: the weights are on their way.");
    try {
      await Promise.all(missing.map(async (name) => {
        const weights = await fetchWeights(data.models[name][0]);
        const { source_words, target_words } = weights.said; // all have learned the same words
        tensors[name] = weights.tensors;
        known = new Map(JSON.parse(source_words).map((word, i) => [word, FIRST_WORD + i]));
        names = ["<pad>", "<bos>", "EOS", "<unk>", ...JSON.parse(target_words)];
      }));
    } catch (error) {
      return trouble(`${error.message}. The picture stays as it is.`);
    }
    if (mine !== asked) return;
    if (!chosen.length) return trouble("Choose a model.");
    root.querySelector(".attn-code").hidden = false;
    compute(chosen);
  };

  const look = (name) => ([i, j]) => {
    form.elements.row.value = Math.min(Math.max(i, 0), now.said[name].length - 1);
    draw();
    const cells = pictures[name].querySelectorAll(`[data-line="${value("row")}"] [data-cell]`);
    const cell = cells[Math.min(Math.max(j, 0), cells.length - 1)];
    cell.focus();
  };
  for (const name of all) grids[name].listen({ look: look(name), act: look(name) });
  form.addEventListener("input", ({ target }) => {
    if (target === part("example") && target.value) form.elements.source.value = target.value;
    act();
  });
  const line = document.createElement("p");
  Object.assign(line, { className: "attn-trouble", hidden: true });
  line.dataset.part = "trouble";
  line.setAttribute("role", "alert");
  form.prepend(line);
  const first = Object.entries(data.first).map(([name, [words, shares]]) => (
    [name, words.map((word, i) => ({ word, weights: shares[i] }))]));
  now = { source: data.pairs[0][0], said: Object.fromEntries(first) };
  draw();
});
