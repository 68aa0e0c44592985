attnFigure("captioning", (root, data, say, parts) => {
  const { grid } = data;
  const { form, picture, part, value, keep, show, ran } = parts;
  const cells = layOut(picture, grid);
  const samples = data.samples.map((letters) => [...letters].map((one) => one.charCodeAt(0) - 97));
  const undone = [];
  // the cell that the pen is at, until it has rested for a while
  let open = null,
    settling,
    frame;
  let now = { said: data.said, before: data.said };
  // a caption may become shorter than the word that was chosen
  const existing = (word) => Math.min(Math.max(word | 0, 0), now.said.length - 1);
  const here = { cell: 0, word: () => existing(value("word")) };

  const ink = () => {
    const stamps = pairsIn(value("stamps"));
    const shown = cells.map((_, cell) => samples[stamps.get(cell)]);
    return inkOf(strokesOf(value("strokes")), shown, grid);
  };

  // --- the captions

  const caption = (model, image, moved) =>
    describe(model, image, data.most, (t) =>
      moved.has(t) ? (weights) => weights.map((_, i) => Number(i === moved.get(t))) : undefined,
    );

  const named = (word) => wordOf(word, data.words, data.candidates);

  const compute = (models) => {
    const model = models[value("model")],
      moved = pairsIn(value("moves"));
    const drawn = ink(),
      image = imageOf(drawn, grid),
      start = performance.now();
    const before = caption(model, image, new Map()).map(named);
    root.milliseconds = (performance.now() - start) / before.length;
    const said = moved.size ? caption(model, image, moved).map(named) : before;
    now = { said, before };
    root.reading = { ...now, ink: drawn };
    ran(describe, model.step, conv, patch);
    draw();
  };

  const answer = attnAnswers(parts, {
    needs: () => [value("model")],
    make: ({ tensors }, name) => captioner(tensors, ATTENTION[name]),
    answer: compute,
    stays: "caption",
  });
  const act = () => {
    drawImage();
    answer();
  };

  // --- the picture: ink at once, weights once the captioner has spoken

  const drawImage = () => {
    const strokes = strokesOf(value("strokes")),
      shown = ink();
    // where the pen is at work, the strokes themselves stand in place of their pixels
    if (open !== null) shown[open] = shown[open].map(() => 0);
    const lines = shadeLines(imageOf(shown, grid));
    [...part("ink").children].forEach((path, i) => path.setAttribute("d", lines[i]));
    const drawn = strokes.filter((stroke) => cellOfStroke(stroke, grid) === open);
    part("hand").setAttribute("d", written(drawn.map((stroke) => [stroke[0], ...stroke])));
  };

  const draw = () => {
    const { said, before } = now,
      at = here.word(),
      word = said[at];
    const moved = pairsIn(value("moves")),
      held = part("caption").contains(document.activeElement);
    const weights = moved.has(at) ? word.used : word.weights;
    cells.forEach((cell, i) => {
      part("weights").children[i].style.setProperty("--attn-share", weights[i]);
      cell.firstElementChild.classList.toggle("attn-looked", i === word.looked);
      cell.lastElementChild.textContent = percent(weights[i]).replace(/^0%/, "");
      cell.setAttribute("aria-label", `${placeOf(i)}: ${percent(weights[i])} of the weight`);
      cell.setAttribute("tabindex", i === here.cell ? "0" : "-1");
    });
    const chips = said.map((one, i) => captionChip(one, i, i === at, moved.has(i), grid));
    part("caption").replaceChildren(...chips);
    if (held) chips[at].focus();
    const isChanged = captionOf(before) !== captionOf(said);
    show("guesses", guessesOf(word));
    show("before", isChanged ? captionOf(before) : "");
    const example = value("strokes")
      ? -1
      : data.examples.findIndex(({ stamps }) => stamps === value("stamps"));
    part("example").value = example < 0 ? "" : example;
    show("right", data.examples[example]?.right ?? "");
    part("undo").setAttribute("aria-disabled", String(!undone.length));
    part("back").setAttribute("aria-disabled", String(!moved.size));
    const sentence = captionSentence(value("model"), said, at);
    say(isChanged ? `${sentence} Left alone, it says: “${captionOf(before)}”.` : sentence);
  };

  // --- what the reader does

  const KEPT = ["stamps", "strokes", "moves"];
  const remember = () => undone.push(Object.fromEntries(KEPT.map((name) => [name, value(name)])));
  const change = (values) => {
    remember();
    settle();
    keep(values);
    act();
  };
  const settle = () => {
    clearTimeout(settling);
    if (open === null) return;
    open = null;
    drawImage();
  };

  const without = (cell) => ({
    stamps: writePairs([...pairsIn(value("stamps"))].filter(([one]) => one !== cell)),
    strokes: written(strokesOf(value("strokes")).filter((one) => cellOfStroke(one, grid) !== cell)),
  });
  const empty = (cell) => change(without(cell));
  const type = (digit, cell) => {
    const at = pairsIn(value("stamps")).get(cell) ?? -1,
      first = digit * data.ways;
    const isAgain = at >= first && at < first + data.ways; // the same digit by another hand
    const next = isAgain ? first + ((at - first + 1) % data.ways) : first;
    const { stamps, strokes } = without(cell);
    change({ stamps: writePairs([...pairsIn(stamps), [cell, next]]), strokes });
  };
  const move = (cell) => {
    const moves = pairsIn(value("moves")),
      at = here.word();
    if (moves.get(at) === cell) moves.delete(at);
    else moves.set(at, cell);
    change({ moves: writePairs(moves) });
  };
  const undo = () => {
    if (!undone.length) return;
    settle();
    keep(undone.pop());
    act();
  };
  const go = (to) => {
    keep({ word: existing(to) });
    draw();
  };

  // --- all words, one after the other, until the reader does something else

  let playing;
  const stop = () => {
    playing = clearInterval(playing);
    part("play").textContent = "play";
  };
  const play = () => {
    if (playing) return stop();
    go(0);
    part("play").textContent = "stop";
    playing = setInterval(() => {
      go(here.word() + 1);
      if (here.word() === now.said.length - 1) stop();
    }, 1200);
  };
  part("play").addEventListener("click", play);
  for (const act of ["pointerdown", "keydown"])
    root.addEventListener(act, ({ target }) => target !== part("play") && stop());

  captionPen(
    picture,
    { edge: EDGE, side: SIDE },
    {
      isOn: () => value("tool") === "draw",
      began: () => (remember(), clearTimeout(settling)),
      moved: (stroke) => {
        open = cellOfStroke(stroke, grid);
        keep({ strokes: undone.at(-1).strokes + written([stroke]) });
        drawImage();
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(act);
      },
      ended: () => (settling = setTimeout(settle, 700)),
    },
  );
  captionKeys(
    { picture, cells, chips: part("caption"), grid },
    {
      walk: (cell) => {
        here.cell = cell;
        cells.forEach((one, i) => one.setAttribute("tabindex", i === cell ? "0" : "-1"));
        cells[cell].focus({ preventScroll: true });
      },
      click: (cell) => ({ empty, move })[value("tool")]?.(cell),
      type,
      move,
      empty,
      undo,
      go,
      word: here.word,
      last: () => now.said.length - 1,
    },
  );
  form.addEventListener("input", ({ target }) => {
    if (target === part("example")) {
      const chosen = data.examples[target.value];
      return chosen ? change({ stamps: chosen.stamps, strokes: "", moves: "" }) : draw();
    }
    settle();
    if (target.name !== "tool") act();
  });
  part("undo").addEventListener("click", undo);
  part("clear").addEventListener("click", () => change({ stamps: "", strokes: "", moves: "" }));
  part("back").addEventListener("click", () => value("moves") && change({ moves: "" }));

  drawImage();
  draw();
});
