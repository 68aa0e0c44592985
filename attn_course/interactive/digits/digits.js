// A reader draws a digit, sets the width, and makes half of the labels random.
const NIB = 6; // half of the pen's width: no ink leaves the pad

attnFigure("digits", (root, data, say, parts) => {
  const { form, picture, part, value, keep, write } = parts,
    pen = makePen(picture),
    long = CELL * CELL,
    inks = inkIn(data.keys), // the first pixel of all keys, then the second
    many = inks.length / long,
    keys = Array.from({ length: many }, (_, j) =>
      Array.from({ length: long }, (_, pixel) => inks[many * pixel + j]),
    ),
    labels = Object.fromEntries(
      Object.entries(data.labels).map(([name, digits]) => [name, [...digits].map(Number)]),
    ),
    samples = data.samples.map(inkIn);
  let isOpen = false, // the pen is at work, or has just been
    settling,
    stroke = null;

  const strokes = () => strokesOf(value("strokes"));
  const inkNow = () => {
    if (value("strokes")) return covered(fit(strokes())).map((one) => one / 16);
    return samples[value("sample")] ?? Array.from({ length: long }, () => 0);
  };

  const draw = () => {
    const ink = inkNow(),
      isBlank = ink.every((one) => !one),
      width = data.stops[value("width")],
      said = labels[value("labels")];
    const { squared, weights, shares } = readDigit(ink, keys, said, width);
    const order = [...keys.keys()].sort((a, b) => squared[a] - squared[b]),
      read = shares.indexOf(Math.max(...shares)),
      effective = 1 / weights.reduce((sum, one) => sum + one ** 2, 0);
    root.reading = { ink, weights, shares, effective };
    const now = { ink, hand: strokes(), isOpen, keys, labels: said, truth: labels.true, order };
    Object.assign(now, { weights, shares, effective, read: isBlank ? undefined : read });
    pen.frame(() => drawDigits(pen, now));
    write("width-reading", String(width));
    part("width").setAttribute("aria-valuetext", String(width));
    const heard = `At width ${width} the effective number of keys is ${effective.toFixed(1)} of ${keys.length}.`;
    const what = isBlank ? "Nothing is drawn, and the lookup answers all the same:" : "It reads";
    const answer = `${what} ${withArticle(read)}, with ${percent(shares[read])} of the weight.`;
    const lies = value("labels") === "told" ? " Half of the labels are random." : "";
    say(`${answer} ${heard}${lies}`);
  };

  // --- the pen

  const pointOf = ({ clientX, clientY }) => {
    const pad = picture.querySelector(".pad").getBoundingClientRect();
    const at = [(clientX - pad.left) / pad.width, (clientY - pad.top) / pad.height];
    return at.map((one) => Math.round(clamp(POINTS * one, NIB, POINTS - NIB)));
  };
  let before = "";
  picture.addEventListener("pointerdown", (event) => {
    if (!event.target.matches(".pad") || !event.isPrimary || event.button) return;
    event.preventDefault();
    picture.setPointerCapture(event.pointerId);
    clearTimeout(settling);
    if (!isOpen) keep({ strokes: "", sample: -1 }); // a new digit
    [isOpen, before, stroke] = [true, value("strokes"), [pointOf(event)]];
    moved();
  });
  const moved = () => {
    keep({ strokes: before + written([stroke]) });
    draw();
  };
  picture.addEventListener("pointermove", (event) => {
    if (!stroke || !event.isPrimary) return;
    const to = pointOf(event),
      from = stroke.at(-1);
    if (Math.hypot(to[0] - from[0], to[1] - from[1]) < 3) return;
    stroke.push(to);
    moved();
  });
  for (const name of ["pointerup", "pointercancel"])
    picture.addEventListener(name, (event) => {
      if (!stroke || !event.isPrimary) return;
      stroke = null;
      settling = setTimeout(settle, 1200);
    });
  const settle = () => {
    clearTimeout(settling);
    isOpen = false;
    draw();
  };

  part("clear").addEventListener("click", () => {
    keep({ strokes: "", sample: -1 });
    settle();
  });
  part("other").addEventListener("click", () => {
    keep({ strokes: "", sample: (Number(value("sample")) + 1) % samples.length });
    settle();
  });
  form.addEventListener("input", draw);
  takeStage(picture, pen, data.width, draw);
});
