// Soundings along a river, and the score a kernel: drag and add some, leave one out, ask far outside.
const LOG_KERNELS = {
  Gaussian: (u) => -(u ** 2) / 2,
  boxcar: (u) => (u ** 2 > 1 ? -Infinity : 0),
  triangular: (u) => (Math.abs(u) < 1 ? Math.log(1 - Math.abs(u)) : -Infinity),
  Epanechnikov: (u) => (u ** 2 < 1 ? Math.log(1 - u ** 2) : -Infinity),
};
const LINE = [0, 14], // metres from the bank
  TICKS = [0, 2, 4, 6, 8, 10, 12, 14],
  SURFACE = 34,
  FULL = 12; // points

// The blend of the points at a query.
const estimateAt = ({ points, off, kernel, width }, query) => {
  const pairs = pairsOf(points);
  const scores = pairs.map(([key]) => LOG_KERNELS[kernel](query / width - key / width));
  return attend(
    scores,
    pairs.map(([, value]) => value),
    { off },
  );
};

const powerAt = ({ state, query }, key) =>
  Math.exp(LOG_KERNELS[state.kernel](query / state.width - key / state.width));
const tallOf = ({ floor }) => (floor - SURFACE) * 0.42;

// No name is written across a line.
const keepLineFree = (pen, points) => {
  points.slice(1).forEach((to, i) => {
    const from = points[i],
      many = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / 4);
    for (let n = 0; n < many; n++)
      pen.keepFree(
        from.map((one, c) => one + ((to[c] - one) * n) / many),
        2,
      );
  });
};

const drawHill = (chart) => {
  const { pen, state, x, floor, query } = chart;
  const edge = placesOn(LINE, [query - state.width, query + state.width]).map((key) => [
    x(key),
    floor - powerAt(chart, key) * tallOf(chart),
  ]);
  const closed = [[x(LINE[0]), floor], ...edge, [x(LINE[1]), floor]];
  const d = closed.map((point) => point.map((one) => one.toFixed(1)).join()).join("L");
  pen.path("hill", `M${d}Z`, "query", { opacity: 0.2 });
  pen.line("hill-edge", edge, "query", { line: 2, opacity: 0.85 });
  keepLineFree(pen, edge);
};

const drawCurve = ({ pen, state, x, y, pairs }) => {
  const edges = pairs.flatMap(([key]) => [key - state.width, key + state.width]);
  const runs = [];
  let lifted = true;
  for (const place of placesOn(LINE, state.kernel === "Gaussian" ? [] : edges)) {
    const { output, empty } = estimateAt(state, place);
    if (!empty && lifted) runs.push([]);
    if (!empty) runs.at(-1).push([x(place), y(output)]);
    lifted = empty;
  }
  const d = runs.map((run) => `M${run.map((at) => at.map((one) => one.toFixed(1))).join("L")}`);
  for (const run of runs) keepLineFree(pen, run);
  pen.path("curve", d.join("") || "M0,0", "output", { line: 2.5, opacity: 0.8 * pen.seen(3) });
};

const drawPoints = (chart) => {
  const { pen, state, model, set, x, y, floor, pairs, strip } = chart;
  pairs.forEach(([key, value], j) => {
    const off = Boolean(state.off[j]),
      weight = model.weights[j],
      power = off ? 0 : powerAt(chart, key);
    const stem = [
      [x(key), floor],
      [x(key), floor - power * tallOf(chart)],
    ];
    pen.line(`power${j}`, stem, "ink", { opacity: 0.6 });
    const share = (strip - 30) * weight * pen.seen(2);
    pen.rect(`share${j}`, [x(key) - 9, floor + 6, 18, share], "weight", { round: 2 });
    const size = off ? 6 : 5 + 7 * Math.sqrt(weight) * pen.seen(2);
    pen.disc(`point${j}`, [x(key), y(value)], size, "value", off ? { line: 2 } : {});
    pen.keepFree([x(key), y(value)], size);
    pen.disc(`key${j}`, [x(key), floor], 4, "key", { opacity: off ? 0.3 : 1 });
    putGrip(pen, `point${j}`, [x(key), y(value)], {
      label: `point ${j + 1}${off ? ", left out" : ""}; Enter leaves it out`,
      across: [key, ...LINE],
      up: [value, 0, 100, shown(value, 0)],
      step: [x(0.1) - x(0), y(0) - y(2)],
      move: (toX, toY) =>
        set({ points: pairs.with(j, [near(x.back(toX)), near(y.back(toY), 1)]).flat() }),
      press: () =>
        set({ off: pairs.map((_, k) => (k === j ? Number(!off) : (state.off[k] ?? 0))) }),
    });
  });
};

const drawQuery = ({ pen, set, x, floor, query }) => {
  const upright = [
    [x(query), floor],
    [x(query), SURFACE - 12],
  ];
  pen.line("query", upright, "query", { opacity: 0.8 });
  keepLineFree(pen, upright);
  const late = query > (LINE[0] + LINE[1]) / 2,
    side = late ? "end" : "start";
  const beside = x(query) + (late ? -8 : 8);
  const name = `query ${shown(query, 1)}`;
  pen.text("query-name", beside, SURFACE - 10, name, "query", { bold: true, at: side });
  putGrip(pen, "query", [x(query), floor], {
    label: "query",
    box: [x(query) - 20, SURFACE - 12, 40, floor - SURFACE + 32],
    upright: true,
    across: [query, ...LINE],
    knob: "query",
    size: 9,
    step: x(0.1) - x(0),
    move: (to) => set({ query: [near(x.back(to))] }),
  });
};

const drawOutput = ({ pen, model, x, y, query }) => {
  const opacity = model.empty ? 0 : pen.seen(3);
  pen.disc("output", [x(query), y(model.output)], 8, "output", { opacity });
};

// The heaviest key says its weight first; a point that is left out says how far the others miss it.
const drawNames = ({ pen, state, model, x, y, floor, strip, pairs, query }) => {
  const opacity = pen.seen(3),
    looks = { bold: true, halo: true, opacity };
  const around = ([left, top], far) =>
    [16, -14, 30, -28, 44, -42, 58, -56].flatMap((down) => [
      [left + far, top + down, "start"],
      [left - far, top + down, "end"],
    ]);
  const name = (key, at, far, text, more) => {
    const places = around(at, far).filter(([left, top, side]) => {
      const box = boxOf(left, top, text, side, more);
      return top > SURFACE && top < floor - 10 && box[0] >= 0 && box[2] <= pen.width;
    });
    if (pen.name(key, places, text, "output", more)) return;
    const [[left, top, side]] = places; // all are taken: over a line, rather than nowhere
    pen.text(key, left, top, text, "output", { ...more, at: side });
  };
  const at = [x(query), y(model.output)];
  if (!model.empty) name("output-is", at, 11, shown(model.output, 1), looks);
  const weights = { bold: true, opacity: pen.seen(2) };
  pen.name("weights", [[30, floor + strip - 10, "start"]], "weights", "weight", weights);
  const order = pairs
    .map((_, j) => j)
    .sort((one, other) => model.weights[other] - model.weights[one]);
  for (const j of order) {
    const weight = model.weights[j],
      below = floor + 16 + (strip - 30) * weight * pen.seen(2);
    const text = weight > 0.005 ? shown(weight) : "";
    if (text)
      pen.name(`share${j}-is`, [[x(pairs[j][0]), below, "middle"]], text, "weight", {
        small: true,
        opacity: pen.seen(2),
      });
  }
  pairs.forEach(([key, value], j) => {
    const { output, empty } = estimateAt(state, key);
    if (!state.off[j] || empty) return;
    const miss = [
      [x(key), y(value)],
      [x(key), y(output)],
    ];
    pen.line(`miss${j}`, miss, "output", { line: 1.5, dash: "3 3", opacity });
    const text = `off by ${shown(Math.abs(value - output), 0)} cm`;
    name(`miss${j}-is`, miss[0], 10, text, { small: true, halo: true, opacity });
  });
};

// The water, its bed, and how far it is from the bank.
const drawRiver = ({ pen, x, y, floor, strip }) => {
  const [left, right] = LINE.map(x);
  pen.rect("water", [left, SURFACE, right - left, floor - SURFACE], "query", { opacity: 0.05 });
  drawLevels(pen, "level", [left, right], y, [0, 50, 100]);
  pen.text("value", 0, 8, "depth, cm", "value", { bold: true });
  const end = floor + strip;
  for (const tick of TICKS) {
    const line = [
      [x(tick), SURFACE],
      [x(tick), end],
    ];
    pen.line(`tick${tick}`, line, "ink", { line: 1, opacity: 0.12 });
    const look = { at: "middle", small: true, opacity: 0.75 };
    pen.text(`tick${tick}-is`, x(tick), end + 10, tick, "ink", look);
  }
  const text = pen.narrow ? "metres" : "metres from the bank";
  pen.text("key", right, end - 9, text, "key", { at: "end", small: true });
};

attnMachine("machine-kernel-regression", {
  model: (state) => {
    const found = estimateAt(state, state.query[0]);
    return { ...found, effective: found.empty ? 0 : 1 / dot(found.weights, found.weights) };
  },

  grows: ["points", "off"],
  acts: {
    add: ({ points, off, query }) =>
      points.length < 2 * FULL
        ? {
            points: [...points, near(query[0]), 60],
            off: [...pairsOf(points).map((_, j) => off[j] ?? 0), 0],
          }
        : {},
  },

  draw(pen, state, model, set) {
    const floor = pen.narrow ? 262 : 290,
      strip = 78;
    const chart = {
      pen,
      state,
      model,
      set,
      floor,
      strip,
      x: scaleOf(...LINE, 30, pen.width - 12),
      y: scaleOf(0, 100, SURFACE, floor),
      pairs: pairsOf(state.points),
      query: state.query[0],
    };
    drawRiver(chart);
    drawHill(chart);
    drawCurve(chart);
    drawQuery(chart); // before the points: it is the first that the Tab key reaches
    drawPoints(chart);
    drawOutput(chart);
    drawNames(chart);
    return floor + strip + 20;
  },

  say(state, { weights, output, empty, effective }, step) {
    const { kernel, width, points, off } = state,
      [query] = state.query,
      at = shown(query, 1);
    const missed = pairsOf(points).find((_, j) => off[j]);
    if (missed && step === 3) {
      const others = estimateAt(state, missed[0]);
      const guess = others.empty ? "nothing" : `${shown(others.output, 0)} cm`;
      return `Left out: the sounding at ${shown(missed[0], 1)} m, ${shown(missed[1], 0)} cm. The others guess ${guess}.`;
    }
    if (empty) return `No key within reach of the query ${at}: 0/0, there is no output.`;
    if (step === 1)
      return `The ${kernel} kernel of width ${width}, laid on the query ${at}, says how much each key counts.`;
    const most = shown(Math.max(...weights)),
      best = pairsOf(points).filter((_, j) => shown(weights[j]) === most),
      where = best.map(([key]) => shown(key, 1)).join(" and ");
    const share = `${most}, at the key${best.length > 1 ? "s" : ""} ${where}`;
    const keys = `the effective number of keys is ${shown(effective, 1)}`;
    if (step === 2) return `The largest weight is ${share}; ${keys}.`;
    return `The output at the query ${at} is ${shown(output, 1)}; the largest weight is ${share}, and ${keys}.`;
  },
});
