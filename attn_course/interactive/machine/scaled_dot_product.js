// The width of query and keys, with the root and without: sixteen weights, and how far a score still
// moves them. The scores were drawn in PyTorch; the curves are means over all draws.
const slopeOf = (weights) => total(weights.map((weight) => weight * (1 - weight)));

const modelOf = ({ d }, { draws, slopes, stops }) => {
  const place = stops.d.indexOf(d),
    raw = draws[place],
    root = raw.map((score) => score / Math.sqrt(d));
  const kinds = Object.entries({ raw, root }).map(([name, scores]) => {
    const { weights } = attend(scores, scores);
    return [name, { scores, weights, slope: slopeOf(weights), mean: slopes[name][place] }];
  });
  return { place, slopes, ...Object.fromEntries(kinds) };
};

// Each side has its own axis, the same at every width: on the left the scores grow, on the right they
// stay. Behind them is how large they typically are.
const drawKind = (
  pen,
  key,
  title,
  [x, width],
  [tall, low],
  [most, typical, levels],
  { scores, weights },
) => {
  const opacity = pen.seen(2),
    size = `typically \u00b1${shown(typical, 1)}`,
    largest = `largest ${shown(Math.max(...weights))}`,
    from = 22,
    ends = [-most, most],
    inset = 32,
    [start, wide] = [x + inset, width - inset];
  pen.text(`${key}-title`, x, 8, title, "ink", { bold: true });
  pen.text(`${key}-size`, x + width, 8, size, "ink", { at: "end", halo: true });
  const up = scaleOf(...ends, from + tall, from),
    [top, foot] = [typical, -typical].map(up);
  drawLevels(pen, `${key}-level`, [start, x + width], up, levels);
  pen.rect(`${key}-typical`, [start, top, wide, foot - top], "ink", { opacity: 0.13, round: 1 });
  drawBars(pen, `${key}-score`, [start, from, wide, tall], scores, ends, "ink", {
    opacity: 0.55,
  });
  const y = from + tall + 20;
  pen.text(`${key}-weights`, x, y, "2 weights", "weight", { bold: true });
  pen.text(`${key}-largest`, x + width, y, largest, "weight", { at: "end", halo: true, opacity });
  const grown = weights.map((weight) => weight * opacity),
    share = scaleOf(0, 1, y + 20 + low, y + 20);
  drawLevels(pen, `${key}-share`, [start, x + width], share, [0, 1]);
  drawBars(pen, `${key}-weight`, [start, y + 20, wide, low], grown, [0, 1], "weight");
};

const drawSlopes = (pen, { d }, { place, slopes, raw, root }, set, top, stops) => {
  const height = pen.narrow ? 112 : 124,
    last = stops.length - 1,
    octave = scaleOf(0, Math.log2(stops[last]), 28, pen.width - 20),
    x = (i) => octave(Math.log2(stops[i])),
    y = scaleOf(0, 1, top + height, top),
    distances = (at) => stops.map((_, i) => Math.abs(x(i) - at)),
    stopAt = (at) => distances(at).indexOf(Math.min(...distances(at))),
    opacity = pen.seen(3);
  const title = pen.narrow
    ? "3 slope, mean of 48 draws"
    : "3 slope of the softmax, \u03a3 \u03b1 (1 \u2212 \u03b1), mean of 48 draws";
  pen.text("slope", 28, top - 20, title, "ink", { bold: true });
  drawLevels(pen, "level", [28, pen.width - 20], y, [0, 0.5, 1]);
  if (!opacity) pen.text("d", 28, top + height - 20, "drag the width d", "ink", { small: true });
  for (let d = 1; d <= stops[last]; d *= 4)
    pen.text(`width${d}`, octave(Math.log2(d)), top + height + 16, d, "ink", {
      at: "middle",
      small: true,
    });
  pen.line(
    "here",
    [
      [x(place), top],
      [x(place), top + height],
    ],
    "ink",
    { opacity: 0.7 * opacity },
  );
  // a curve has come as far as the width, its name goes on from there, as long as there is room
  const long = 118,
    room = x(place) + long <= pen.width,
    at = room ? "start" : "end",
    curves = [
      ["raw", raw, "without the root", room ? [place, 2] : [stopAt(x(place) - long), -11]],
      ["root", root, "with the root", [place, -14]],
    ];
  for (const [key, { mean }, name, [level, away]] of curves) {
    const points = slopes[key].slice(0, place + 1).map((slope, i) => [x(i), y(slope)]);
    pen.line(`curve-${key}`, points, "ink", {
      line: 2.5,
      dash: key === "raw" ? "6 4" : undefined,
      opacity,
    });
    pen.disc(`curve-${key}-here`, [x(place), y(mean)], 5, "ink", { opacity });
    const beside = [x(place) + (room ? 10 : -10), y(slopes[key][level]) + away];
    pen.text(`curve-${key}-name`, ...beside, name, "ink", { at, halo: true, opacity });
  }
  putGrip(pen, "d", [x(place), top + height], {
    label: "width d",
    across: [place, 0, last, `${d}`],
    knob: "ink",
    size: 9,
    step: 0.6 * (octave(1) - octave(0)), // the next width is an octave away, or half of one
    move: (to) => set({ d: stopAt(to) }),
  });
  return top + height + 26;
};

attnMachine("machine-scaled-dot-product", {
  model: modelOf,
  draw(pen, state, model, set, { stops, draws }) {
    const gap = pen.narrow ? 14 : 30,
      width = (pen.width - gap) / 2,
      tall = pen.narrow ? [96, 58] : [128, 66],
      most = (lists) => Math.max(...lists.flat().map(Math.abs)),
      divided = draws.map((raw, i) => raw.map((score) => score / Math.sqrt(stops.d[i]))),
      named = pen.narrow ? "1 q \u00b7 k" : "1 scores q \u00b7 k";
    drawKind(
      pen,
      "raw",
      named,
      [0, width],
      tall,
      [most(draws), Math.sqrt(state.d), [-50, 0, 50]],
      model.raw,
    );
    const right = [width + gap, width];
    drawKind(
      pen,
      "root",
      `${named} / \u221ad`,
      right,
      tall,
      [most(divided), 1, [-2, 0, 2]],
      model.root,
    );
    return drawSlopes(pen, state, model, set, tall[0] + tall[1] + 102, stops.d);
  },
  say({ d }, { raw, root }, step) {
    const most = (list) => Math.max(...list);
    if (step === 1)
      return `Width ${d}: a typical score (grey band) is ${shown(Math.sqrt(d), 1)}; after the root, 1.0.`;
    if (step === 2)
      return `Width ${d}, one draw: the largest of sixteen weights is ${shown(most(raw.weights))} without the root, ${shown(most(root.weights))} with it.`;
    return `Width ${d}: the mean slope is ${shown(raw.mean)} without the root, ${shown(root.mean)} with it.`;
  },
});
