// The live writer. Its state is the form: the beginning, the pieces that it has `told`, of which
// `12f` was forced, the seed of its draws, what is `off`, and the head at which the reader looks.
const PACE = 120, // milliseconds between two pieces
  SEEDS = 1000;

attnFigure("writer", (root, data, say, parts) => {
  const { form, picture, part, value, keep, change, write, ran } = parts,
    cut = piecesOf(data.pieces),
    calm = matchMedia("(prefers-reduced-motion: reduce)"),
    pen = makePen(picture),
    names = data.first.weights.flatMap((_, block) => partsOf(data.first.weights, block)),
    heads = names.filter((name) => !name.endsWith("maps")),
    numberOf = (one) => parseInt(one, 10);
  let now, readers, playing, count;

  // --- the state, of which a link may hold anything

  const told = () => {
    const found = value("told").split("_").filter(Boolean);
    const fits = (one) => /^\d+f?$/.test(one) && numberOf(one) < data.pieces.length;
    return found.every(fits) ? found.slice(0, data.most.pieces) : [];
  };
  const off = () =>
    new Set(
      value("off")
        .split("_")
        .filter((name) => names.includes(name)),
    );
  const look = () => heads.find((name) => name === value("look")) ?? "";
  const seed = () => Math.abs(numberOf(value("seed")) || 0) % SEEDS;
  const stop = (name) => data.stops[name][value(name)];

  const beginning = () => {
    const text = plainly(value("begun")),
      strange = cut.strange(text);
    if (!text) return { trouble: "Type a beginning: a letter is enough." };
    if (text.length > data.most.letters)
      return { trouble: `There is room for ${data.most.letters} letters, not ${text.length}.` };
    if (strange.length)
      return {
        trouble: `No piece has ${strange.join(" ")} in it. Besides letters and spaces there are ${cut.marks}`,
      };
    return { tokens: cut.encode(text) };
  };

  // --- reading and writing

  // the model with its silent parts, and with none silent: the law of the next piece
  const ask = (tokens) => {
    const silent = [...off()].sort().join("_"),
      isOff = (block, which) => silent.split("_").includes(`${block}.${which}`);
    const alone = readers.intact(tokens, ""),
      read = silent ? readers.changed(tokens, silent, isOff) : alone;
    count += alone.fresh + (silent ? read.fresh : 0);
    const found = nextTokenLaw(read.logits, stop("temperature"), stop("top_p"));
    const { law: own } = nextTokenLaw(alone.logits, stop("temperature"), stop("top_p"));
    return { ...read, ...found, own };
  };

  const writeOn = (number) => {
    const written = told(),
      { tokens } = beginning();
    for (let left = number; left > 0 && written.length < data.most.pieces; left--) {
      const found = ask([...tokens, ...written.map(numberOf)]);
      written.push(String(drawnFrom(found, chance(seed(), written.length))));
    }
    keep({ told: written.join("_") });
    return written;
  };

  const compute = (number) => {
    const { tokens: begun, trouble } = beginning();
    parts.trouble(trouble);
    if (trouble) return halt();
    const start = performance.now();
    count = 0;
    const written = writeOn(number),
      tokens = [...begun, ...written.map(numberOf)],
      found = ask(tokens);
    root.milliseconds = (performance.now() - start) / (count || 1);
    ran(lookBack, turn, nextTokenLaw, drawnFrom, chance);
    root.reading = { ...reading(found), tokens, begun: begun.length };
    now = {
      begun: begun.length,
      words: tokens.map((token) => data.pieces[token]),
      best: found.order.slice(0, data.shown).map((i) => [i, found.law[i], found.own[i]]),
      weights: found.weights,
    };
    draw();
    if (written.length < data.most.pieces || !number) return;
    halt();
    parts.trouble(`It stops after ${data.most.pieces} pieces: go back, or begin anew.`, false);
  };
  const reading = ({ law, own, weights }) => ({
    law: [...law],
    own: [...own],
    weights: weights.map((block) => block.map((head) => [...head])),
  });

  let plan = 0;
  const answer = attnAnswers(parts, {
    needs: () => ["writer"],
    make: ({ tensors }) => {
      const model = transformer({ tensors, ...data.sizes });
      return { intact: remembered(model), changed: remembered(model) };
    },
    answer: ({ writer }) => {
      readers = writer;
      compute(plan);
    },
    stays: "text",
  });
  const act = (number = 0) => {
    plan = number;
    answer();
  };

  // --- the picture

  const draw = () => {
    const forced = told().flatMap((one, i) => (one.endsWith("f") ? [now.begun + i] : []));
    const shown = {
      ...now,
      pieces: data.pieces,
      off: off(),
      look: look(),
      forced: new Set(forced),
    };
    pen.frame(() => drawWriter(pen, shown, { force, silence }));
    for (const name in data.stops) {
      write(`${name}-reading`, String(stop(name)));
      part(name).setAttribute("aria-valuetext", String(stop(name)));
    }
    write("whole", now.words.join("").trim());
    part("back").setAttribute("aria-disabled", String(!told().length));
    say(writerSentence(shown));
  };

  // --- what the reader does

  const halt = () => {
    playing = clearInterval(playing);
    write("play", "write");
  };
  const play = () => {
    if (playing) return halt();
    if (calm.matches) return act(data.written);
    write("play", "stop");
    playing = setInterval(act, PACE, 1);
    act(1);
  };
  const tell = (written) => {
    halt();
    change({ told: written.slice(0, data.most.pieces).join("_") });
  };
  const force = (token) => tell([...told(), `${token}f`]);
  const silence = (some) => {
    const silent = off(),
      isOff = some.every((name) => silent.has(name));
    for (const name of some) silent[isOff ? "delete" : "add"](name);
    change({ off: [...silent].join("_") });
  };
  const follow = (name) => {
    keep({ look: name });
    draw();
  };

  picture.addEventListener("click", ({ target }) => {
    const { cut: at, look: name } = target.dataset;
    if (at) tell(told().slice(0, at - now.begun));
    if (name) follow(name === look() ? "" : name);
  });
  // whoever goes through the dots by keyboard sees where each head looks
  picture.addEventListener("focusin", ({ target: { dataset } }) => {
    if (heads.includes(dataset.grip)) follow(dataset.grip);
  });
  form.addEventListener("input", ({ target }) => {
    if (target === part("begun")) {
      halt();
      keep({ told: "" });
    }
    act();
  });
  form.addEventListener("submit", play);
  part("play").addEventListener("click", play);
  part("back").addEventListener("click", () => tell(told().slice(0, -1)));
  part("step").addEventListener("click", () => {
    halt();
    act(1);
  });
  part("again").addEventListener("click", () => {
    halt();
    const number = Math.max(told().length, data.written);
    keep({ told: "", seed: (seed() + 1) % SEEDS });
    act(number);
  });

  const { told: first, begun } = data.first;
  now = {
    ...data.first,
    words: [...begun, ...first].map((i) => data.pieces[i]),
    begun: begun.length,
  };
  takeStage(picture, pen, data.width, draw);
});
