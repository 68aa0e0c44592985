// The attention machine: one mechanism, drawn in one grammar, in a state for each chapter.
//
// A state is `model(state)`, `draw(pen, state, model, set)`, which returns a height, and
// `say(state, model, step)`, each with the figure's data as one more argument; `grows` holds the lists
// that may, and `acts` what its buttons do: an act gives what it sets, or, as a generator, one thing
// after the other. All that a reader can change are named controls of the form, lists of numbers in
// hidden ones, so a link carries them all. On paper, what nobody has touched has `data.onPaper` too.
const PHASE = 0.045; // of a step, in a frame
const TICK = 110; // milliseconds between two things that an act sets
const MOST = 48; // numbers in a list

const attnMachine = (name, { model, draw, say, acts = {}, grows = [] }) =>
  attnFigure(name, (root, data, tell, { form, picture, part, write, change }) => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)"),
      paper = matchMedia("print"),
      first = attnControls(form).map((one) => [one, one.value, one.checked]),
      kept = Object.fromEntries(first.map(([{ name }, value]) => [name, value]));

    const valueOf = ({ name, type, value }) => {
      if (type !== "hidden")
        return data.stops?.[name]?.[value] ?? (type === "range" ? Number(value) : value);
      const numbers = value ? value.split("_").map(Number) : [];
      const first = kept[name].split("_").map(Number);
      // a link may hold anything
      const fits = grows.includes(name) ? numbers.length <= MOST : numbers.length === first.length;
      return fits && numbers.every(Number.isFinite) ? numbers : first;
    };
    // below zero a stop reads as the numbers in the picture do
    const readingOf = (name, number) =>
      data.stops?.[name]?.some((stop) => stop < 0)
        ? shown(number, 1)
        : number.toLocaleString("en", { maximumFractionDigits: 9 });
    const read = () => {
      const state = {};
      for (const one of attnControls(form))
        if (one.type !== "radio" || one.checked) state[one.name] = valueOf(one);
      const isTouched = first.some(([one, value, on]) => one.value !== value || one.checked !== on);
      return paper.matches && !isTouched ? { ...state, ...data.onPaper } : state;
    };
    const set = (values) =>
      change(
        Object.fromEntries(
          Object.entries(values).map(([key, one]) => [
            key,
            Array.isArray(one) ? one.join("_") : one,
          ]),
        ),
      );

    let state,
      found,
      frame,
      ticking,
      phase = null;
    const pen = makePen(picture);
    // how much of a step is shown, from 0 to 1
    pen.seen = (step) => {
      const t = clamp(phase - step + 1, 0, 1);
      return t * t * (3 - 2 * t);
    };
    const paint = () => pen.frame(() => draw(pen, state, found, set, data));
    const stepNow = () => Number(state.step ?? 0); // some figures have no steps
    const walk = () => {
      const left = stepNow() - phase;
      phase =
        calm.matches || Math.abs(left) < PHASE
          ? stepNow()
          : phase + Math.sign(left) * Math.max(PHASE, 0.06 * Math.abs(left));
      paint();
      if (left) frame = requestAnimationFrame(walk);
    };
    const show = () => {
      state = read();
      found = model(state, data);
      root.reading = { ...state, ...found };
      phase ??= stepNow();
      cancelAnimationFrame(frame);
      walk();
      for (const slider of form.querySelectorAll("input[type=range]")) {
        const reading = readingOf(slider.name, state[slider.name]);
        write(`${slider.name}-reading`, reading);
        slider.setAttribute("aria-valuetext", reading);
      }
      for (const button of form.querySelectorAll("[data-by]"))
        button.setAttribute("aria-disabled", !stepOf(stepNow() + Number(button.dataset.by)));
      tell(say(state, found, stepNow(), data));
    };

    const stepOf = (step) => form.querySelector(`[name=step][value="${step}"]`);
    const go = (by) => {
      const next = stepOf(Number(read().step) + by);
      if (next) change({ step: next.value });
    };
    const perform = (act) => {
      if (!act.next) return set(act);
      const tick = () => {
        const { value, done } = act.next();
        if (done) return;
        set(value);
        if (calm.matches) tick();
        else ticking = setTimeout(tick, TICK);
      };
      tick();
    };
    // a reader who takes something stops what goes on by itself
    for (const taken of ["pointerdown", "keydown"])
      root.addEventListener(taken, () => clearTimeout(ticking));
    form.addEventListener("input", show);
    if (data.onPaper) paper.addEventListener("change", show);
    form.addEventListener("click", ({ target }) => {
      const { by, act } = target.closest("button")?.dataset ?? {};
      if (by) go(Number(by));
      if (act) perform(acts[act](read(), data));
    });
    part("reset").addEventListener("click", () => {
      for (const [one, value, checked] of first) Object.assign(one, { value, checked });
      attnAnnounce(form);
    });
    takeStage(picture, pen, data.width, () => found && paint());
    show();
  });
