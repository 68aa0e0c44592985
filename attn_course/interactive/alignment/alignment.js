// What the reader does with a row of weights; `at` is the column in the frame.
const laidHands = {
  learned: (weights) => weights,
  move: (weights, at) => weights.map((_, j) => (j === at ? 1 : 0)),
  forbid: (weights, at) => {
    const rest = sum(weights) - weights[at];
    return weights.map((weight, j) => (j === at || !rest ? 0 : weight / rest));
  },
  flatten: (weights) => weights.map(() => 1 / weights.length),
  shuffle: (weights) => {
    // the same order at each word and on each visit: every third, then the others
    const order = [0, 1, 2].flatMap((k) => [...weights.keys()].filter((j) => j % 3 === k));
    return weights.map((_, j) => weights[order[j]]);
  },
};

const NARROW_TABLE = 480; // pixels, in less of which the columns share the screen

attnFigure("alignment", (root, data, say, parts) => {
  const { form, part, value, keep, change, write, show, trouble, ran } = parts;
  const box = root.querySelector(".attn-picture"),
    player = root.querySelector(".attn-play");
  // on a phone the columns share what there is, and are no narrower than a finger can tell apart
  const shared = (count) => Math.min(Math.max((box.clientWidth - 92) / count, 16), 36);
  const grid = weightTable(root, (count) =>
    box.clientWidth < NARROW_TABLE
      ? { left: 84, top: 100, wide: shared(count), tall: 24, isFitted: true }
      : { left: 150, top: 112, wide: 36, tall: 30 },
  );
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const first = data.said.map((word, i) => ({ word, weights: data.shares[i] }));
  first.push({ word: "EOS", weights: data.shares.at(-1) });
  let model = null,
    playing,
    tall = 0; // pixels of all rows: what stands below stays where it is while they come
  let now = { words: data.source, said: first, before: first, changed: first.map(() => false) };

  const place = () =>
    value("row") === "" ? null : [Number(value("row")), Number(value("column"))];

  const hands = (t) => {
    const here = place(),
      name = value("hands");
    const isHere = here && (t === here[0] || form.elements.everywhere.checked);
    if (name === "learned" || !isHere) return undefined;
    return (weights) => laidHands[name](weights, here[1]);
  };

  const exchanged = (words) => {
    const [at, other] = [value("replaced"), value("exchange")];
    return at !== "" && other ? words.with(Number(at), other) : words;
  };

  const compute = () => {
    const read = readSentence(value("source"), model.words.known, data.most);
    trouble(read.trouble);
    if (read.trouble) return;
    offer(read.words);
    const words = exchanged(read.words),
      start = performance.now();
    const before = translate(model, model.words, read.words);
    root.milliseconds = (performance.now() - start) / before.length;
    const isChanged = words !== read.words || value("hands") !== "learned";
    const said = isChanged ? translate(model, model.words, words, hands) : before;
    const changed = newBeside(
      said.map(({ word }) => word),
      before.map(({ word }) => word),
    );
    now = { words, said, before, changed };
    root.reading = now;
    draw(Number(part("words").max) === Number(part("words").value));
  };

  // the words that can be replaced, and by what
  const offer = (words) => {
    const fill = (select, options, chosen) => {
      const line = ([at, text]) => new Option(text, at, false, String(at) === chosen);
      select.replaceChildren(...options.map(line));
    };
    const kindOf = (word) => data.kinds.find((kind) => kind.includes(word));
    const at = value("replaced"),
      places = words.map((word, i) => [i, word]);
    fill(part("place"), [["", "no word"], ...places.filter(([, word]) => kindOf(word))], at);
    const kind = (at !== "" && words[at] && kindOf(words[at])) || [];
    fill(part("other"), [["", "itself"], ...kind.map((word) => [word, word])], value("exchange"));
  };

  const draw = (all) => {
    const slider = part("words"),
      { words, said, before, changed } = now;
    slider.max = said.length;
    if (all) slider.value = said.length;
    const count = Number(slider.value);
    write("words-reading", `${count} of ${said.length}`);
    const chosen = place(),
      here = chosen ?? [0, 0];
    const row = Math.min(here[0], count - 1),
      column = Math.min(here[1], words.length);
    const touched = now.said.map((_, t) => t).filter((t) => t < count && hands(t));
    const rows = said.slice(0, count).map((one, i) => ({ ...one, changed: changed[i] }));
    const columns = [...words, "EOS"];
    const corner = ["English \u2192", "French \u2193"];
    grid.draw({ rows, columns, here: [row, column], isChosen: Boolean(chosen), touched, corner });
    const isWhole = count === said.length;
    box.style.minHeight = isWhole ? "" : `${tall}px`;
    if (isWhole) tall = box.getBoundingClientRect().height;
    // in each sentence the words are marked that the other lacks
    const [whole, other, some] = [said, before, said.slice(0, count)].map(spoken),
      text = written(some);
    show("said", ...markStrange(some, other).parts);
    show("before", ...(written(whole) === written(other) ? [] : markStrange(other, whole).parts));
    const shares = [...rows[row].weights].map((weight, j) => [weight, columns[j]]);
    shares.sort((a, b) => b[0] - a[0]);
    const best = shares.slice(0, 3).filter(([weight]) => weight >= 0.005);
    const looks = best
      .map(([weight, word]) => `${Math.round(100 * weight)}% at ${word}`)
      .join(", ");
    show("shares", chosen ? `${rows[row].word}: ${looks}` : "");
    const more = count < said.length ? " …" : "";
    say(`${written(words)} In French: ${text}${more} ${rows[row].word} looks ${looks}.`);
  };

  const act = attnAnswers(parts, {
    needs: () => [data.weights],
    make: ({ tensors, said }) => ({ ...additiveTranslator(tensors), words: vocabularyOf(said) }),
    answer: (models) => {
      model = models[data.weights];
      ran(greedy, model.step);
      compute();
    },
  });

  grid.listen({
    look: ([i, j]) => {
      const cell = [within(i, now.said.length), within(j, now.words.length + 1)];
      keep({ row: cell[0], column: cell[1] });
      if (value("hands") === "learned" || !model) draw(false);
      else compute();
      grid.focus(cell);
    },
    act: ([i, j]) => {
      if (value("hands") === "learned") keep({ hands: "move" });
      change({ row: i, column: j });
    },
  });
  // it stands at the map that it writes, and its slider is a control of the form all the same
  form.id ||= `attn-alignment-${[...document.forms].indexOf(form)}`;
  part("words").setAttribute("form", form.id);
  box.after(player);
  player.addEventListener("keydown", (event) => event.stopPropagation());
  part("words").addEventListener("input", () => draw(false));
  form.addEventListener("input", ({ target }) => {
    followExample(parts, target);
    if (target === part("other")) keep({ exchange: target.value });
    if (target === part("place")) keep({ replaced: target.value, exchange: "" });
    const isOther = target === part("source") || target === part("example");
    if (isOther) keep({ replaced: "", exchange: "", row: "", column: "" });
    if (isOther || playing) part("words").value = part("words").max; // no half of a new answer
    playing = clearTimeout(playing);
    act();
  });
  part("undo").addEventListener("click", () => {
    form.elements.everywhere.checked = false;
    change({ hands: "learned", row: "", column: "", replaced: "", exchange: "" });
  });
  part("play").addEventListener("click", () => {
    clearTimeout(playing);
    const slider = part("words");
    slider.value = still ? slider.max : 1;
    const next = () => {
      draw(false);
      if (Number(slider.value) === Number(slider.max)) return (playing = undefined);
      slider.value = Number(slider.value) + 1;
      playing = setTimeout(next, 350);
    };
    next();
  });
  offer(data.source);
  draw(true);
  let drawnAt = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth === drawnAt) return;
    drawnAt = box.clientWidth;
    draw(false);
  }).observe(box);
});
