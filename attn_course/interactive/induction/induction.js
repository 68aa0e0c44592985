// The live model of two heads. Its state is the form: the letters, the one the reader stands on, which
// heads are silent, and the step of the training whose weights run.
const ONCE = [12, 15]; // fewest and most random letters that then come again

attnFigure("induction", (root, data, say, parts) => {
  const { form, picture, part, value, keep, change, write, ran } = parts,
    pen = makePen(picture);
  let now, models;

  const off = () => new Set([0, 1].filter((layer) => form.elements[`off${layer}`].checked));
  const stop = () => clamp(Math.round(Number(value("step"))) || 0, 0, data.steps.length - 1);

  const typed = () => {
    const text = value("text").toLowerCase().normalize("NFD").replace(/\p{M}/gu, ""), // no accents
      strange = [...new Set(text)].filter((letter) => !data.symbols.includes(letter));
    if (!text) return { trouble: "Type some letters, and then some of them again." };
    if (text.length > data.most)
      return { trouble: `There is room for ${data.most} letters, not ${text.length}.` };
    if (strange.length)
      return { trouble: `It knows a to z and the space, and not ${strange.join(" ")}` };
    return { text };
  };

  const compute = () => {
    const { text, trouble } = typed();
    parts.trouble(trouble);
    if (trouble) return;
    const silent = off(),
      model = models[data.steps[stop()]],
      read = [];
    for (const letter of text)
      read.push(model.step(data.symbols.indexOf(letter), read, (layer) => silent.has(layer)));
    const laws = read.map(({ logits }) => [...softmax(logits)]),
      weights = [0, 1].map((layer) => read.map((one) => [...one.weights[layer][0]]));
    const last = text.length - 1,
      at = clamp(parseInt(value("at") || last, 10) || 0, 0, last),
      order = laws[at].map((_, i) => i).sort((a, b) => laws[at][b] - laws[at][a]);
    ran(lookBack, turn);
    root.reading = { laws, weights, at };
    now = {
      text,
      at,
      weights,
      told: laws.map((law) => data.symbols[largest(law)]),
      best: order.slice(0, data.shown).map((token) => [token, laws[at][token]]),
    };
    draw();
  };

  const answer = attnAnswers(parts, {
    needs: () => ["induction"],
    make: ({ tensors }) => {
      const of = (step) =>
        Object.fromEntries(
          Object.entries(tensors)
            .filter(([name]) => name.startsWith(`${step}/`))
            .map(([name, tensor]) => [name.slice(`${step}/`.length), tensor]),
        );
      const sizes = { num_heads: 1, context: data.most, input_scale: 1 };
      return Object.fromEntries(
        data.steps.map((step) => [step, transformer({ tensors: of(step), ...sizes })]),
      );
    },
    answer: ({ induction }) => {
      models = induction;
      compute();
    },
  });

  const draw = () => {
    const shown = { ...now, symbols: data.symbols, off: off() };
    pen.frame(() => drawInduction(pen, shown, (at) => change({ at })));
    write("step-reading", String(data.steps[stop()]));
    part("step").setAttribute("aria-valuetext", String(data.steps[stop()]));
    say(inductionSentence(shown));
  };

  // the letters change, and the reader stands on the last one
  const tell = (text) => change({ text, at: "" });
  const randomTwice = () => {
    const size = ONCE[0] + Math.floor(Math.random() * (ONCE[1] - ONCE[0] + 1)),
      letters = Array.from({ length: size }, () => Math.floor(Math.random() * 26)),
      once = letters.map((i) => data.symbols[i]).join("");
    tell(once + once.slice(0, -1));
  };

  // a click on a map, or the mouse drawn over it, takes the reader to the letter of that row
  const takeRow = ({ type, target, clientY, buttons, pointerType }) => {
    const isDrawn = buttons === 1 && pointerType === "mouse";
    if (target.dataset.map === undefined || !(type === "click" || isDrawn)) return;
    const { top, height } = target.getBoundingClientRect(),
      row = Math.floor(((clientY - top) / height) * now.text.length);
    change({ at: clamp(row, 0, now.text.length - 1) });
  };
  for (const type of ["click", "pointermove"]) picture.addEventListener(type, takeRow);

  form.addEventListener("input", ({ target }) => {
    if (target === part("text")) keep({ at: "" });
    answer();
  });
  part("write").addEventListener("click", () => {
    const { text } = typed();
    if (text === now.text) tell((text + now.told.at(-1)).slice(-data.most));
  });
  part("random").addEventListener("click", randomTwice);

  now = { ...data.first, told: [...data.first.told], at: data.first.text.length - 1 };
  takeStage(picture, pen, data.width, draw);
});
