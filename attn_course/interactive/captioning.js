attnFigure("captioning", (root, data, say) => {
  const { images, grid, layout } = data;
  const picture = root.querySelector(".attn-picture > svg");
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const cells = [...root.querySelectorAll("[data-cell]")];
  const underlays = [...part("weights").children];
  let [image, model, word] = data.start;
  let moved = null; // the cell that all weight has been moved to
  let here = 0; // the cell that has the focus, once the image has it

  const text = captionText(data.words, grid);

  const last = () => images[image].said[model].words.length - 1;

  const read = () => {
    const said = images[image].said[model], words = text.words(said.words), own = said.weights[word];
    const [guesses, rest] = moved === null ? ["", ""] : said.moved[word][moved].split("|");
    return {
      image, model, word, moved, words, own,
      right: said.right.map(Boolean),
      weights: moved === null ? own : own.map((_, cell) => (cell === moved ? 100 : 0)),
      looked: moved ?? said.looked[word],
      ownLooked: said.looked[word],
      guesses: text.guesses(said.guesses[word]),
      movedGuesses: text.guesses(guesses),
      caption: text.spoken(words),
      movedCaption: moved === null ? "" : text.spoken([...words.slice(0, word), ...text.words(rest)]),
    };
  };

  const drawCells = (now) => {
    const { weights } = now;
    cells.forEach((cell, i) => {
      underlays[i].style.setProperty("--attn-share", weights[i] / 100);
      cell.firstElementChild.classList.toggle("attn-looked", i === now.looked);
      cell.lastElementChild.textContent = weights[i] ? `${weights[i]}%` : "";
      cell.setAttribute("aria-label", `${text.place(i)}: ${weights[i]}% of the weight`);
      cell.setAttribute("aria-selected", String(i === moved));
      cell.setAttribute("tabindex", i === here ? "0" : "-1");
    });
  };

  const list = (name, title, guesses) => {
    part(`${name}-title`).textContent = title;
    part(name).querySelectorAll(".attn-guess").forEach((line, i) => {
      const [text, share, bar] = line.children, [guess, percent] = guesses[i] ?? ["", 0];
      text.textContent = guess;
      share.textContent = guess && `${percent}%`;
      bar.setAttribute("width", ((layout.wide * percent) / 100).toFixed(1));
    });
  };

  const reading = (name, text) => {
    part(`${name}-reading`).textContent = text;
    part(`${name}-reading`).parentElement.hidden = !text;
  };

  const writeCaption = ({ words, right }) => {
    const wanted = `${image} ${model}`;
    if (part("words").dataset.of !== wanted)
      part("words").replaceChildren(...words.map((word, i) => captionChip(word, i, right[i])));
    part("words").dataset.of = wanted;
    part("words").querySelectorAll("input")[word].checked = true;
  };

  const draw = () => {
    if (word > last()) [word, moved] = [last(), null]; // another caption may be shorter
    const now = read();
    part("image").firstElementChild.setAttribute("href", `#${images[image].key}`);
    drawCells(now);
    writeCaption(now);
    list("own", `word ${word + 1} of ${now.words.length}`, now.guesses);
    part("moved").classList.toggle("attn-asks", moved === null);
    list("moved", moved === null ? "click a cell" : "had it looked there", now.movedGuesses);
    reading("caption", now.caption);
    reading("right", images[image].right);
    reading("moved-caption", now.movedCaption);
    part("previous").setAttribute("aria-disabled", String(word === 0));
    part("next").setAttribute("aria-disabled", String(word === last()));
    part("back").hidden = moved === null;
    const sentence = text.sentence(now);
    root.reading = { ...now, sentence };
    say(sentence);
  };

  const go = (to) => {
    const wanted = Math.min(Math.max(to, 0), last());
    if (wanted === word) return;
    word = wanted;
    moved = null;
    draw();
  };

  // --- playing: for those who have not asked for less motion

  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let clock = null;
  const stop = () => {
    clearInterval(clock);
    clock = null;
    part("play").textContent = "play";
  };
  const play = () => {
    go(word === last() ? 0 : word + 1);
    part("play").textContent = "stop";
    clock = setInterval(() => {
      go(word + 1);
      if (word === last()) stop();
    }, 1500);
  };
  const allow = () => {
    part("play").hidden = still.matches;
    if (still.matches) stop();
  };
  still.addEventListener("change", allow);
  allow();

  // --- what the reader does

  const form = root.querySelector("form");
  form.addEventListener("input", ({ target }) => {
    stop();
    if (target === form) {
      const { elements } = form; // a link has set all of them
      [image, model, word] = [Number(elements.image.value), elements.model.value, Number(elements.word.value)];
      moved = null;
    }
    if (target.name === "word") return go(Number(target.value));
    if (target.name === "image") {
      image = Number(target.value);
      moved = null;
    }
    if (target.name === "model") model = target.value; // the weight stays where it was moved to
    draw();
  });
  part("previous").addEventListener("click", () => { stop(); go(word - 1); });
  part("next").addEventListener("click", () => { stop(); go(word + 1); });
  part("play").addEventListener("click", () => (clock === null ? play() : stop()));

  const move = (cell) => {
    stop();
    here = cell ?? here;
    moved = cell;
    draw();
  };
  part("back").addEventListener("click", () => {
    move(null);
    cells[here].focus(); // the button that had the focus is gone
  });
  picture.addEventListener("click", (event) => {
    const cell = cells.indexOf(event.target.closest?.("[data-cell]"));
    if (cell >= 0) move(cell === moved ? null : cell);
  });

  // the words: the arrow keys are those of every group of buttons, and stop at both ends
  part("words").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const to = {
      ArrowLeft: word - 1, ArrowUp: word - 1, ArrowRight: word + 1, ArrowDown: word + 1,
      Home: 0, End: last(),
    }[event.key];
    if (to === undefined) return;
    stop();
    go(to);
    part("words").querySelectorAll("input")[word].focus();
    event.preventDefault();
    event.stopPropagation();
  });

  const steps = {
    ArrowUp: (row, column) => [row - 1, column],
    ArrowDown: (row, column) => [row + 1, column],
    ArrowLeft: (row, column) => [row, column - 1],
    ArrowRight: (row, column) => [row, column + 1],
    Home: (row) => [row, 0],
    End: (row) => [row, grid - 1],
  };
  picture.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") move(here === moved ? null : here);
    else if (event.key === "Escape" && moved !== null) move(null);
    else if (steps[event.key]) {
      const [row, column] = steps[event.key](Math.floor(here / grid), here % grid)
        .map((at) => Math.min(Math.max(at, 0), grid - 1));
      here = row * grid + column;
      cells.forEach((cell, i) => cell.setAttribute("tabindex", i === here ? "0" : "-1"));
      cells[here].focus();
    } else return;
    event.preventDefault(); // the page does not scroll
    event.stopPropagation(); // and JupyterLab does not take the key as its own
  });

  // one word at a time instead of all of them
  part("all").remove();
  picture.setAttribute("viewBox", `0 0 ${layout.width} ${layout.stage}`);
  // a picture has no parts for a screen reader, a grid has
  picture.setAttribute("role", "grid");
  for (const row of picture.querySelectorAll("[data-line]")) row.setAttribute("role", "row");
  for (const cell of cells) cell.setAttribute("role", "gridcell");
  for (const node of picture.querySelectorAll(":scope > :not([data-line])"))
    node.setAttribute("aria-hidden", "true");
  draw();
});
