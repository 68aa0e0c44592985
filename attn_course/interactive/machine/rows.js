// The machine row by row: key, score, power, weight, value, and what the value adds to the output.
const COLUMNS = {
  wide: [
    700,
    { key: [4, 70], score: [92, 262], power: [284, 358], weight: [408, 528] },
    { value: [580, 632], part: [640, 694] },
  ],
  narrow: [
    358,
    { key: [2, 46], score: [58, 158], power: [164, 204], weight: [216, 266] },
    { value: [314, 356], part: [356, 356] },
  ],
};

// `rows` says the names of the keys, the range of the scores, the temperature, which keys are off,
// and what `drag(key, score)` and `mask(key)` do.
const drawRows = (pen, [x, y, width, height], model, rows) => {
  const wide = width > 520,
    [whole, ...columns] = COLUMNS[wide ? "wide" : "narrow"],
    unit = width / (model.values ? whole : columns[0].weight[1] + 44); // a number stands beside it
  const at = Object.fromEntries(
    columns
      .flatMap(Object.entries)
      .map(([name, ends]) => [name, ends.map((end) => x + end * unit)]),
  );
  const top = y + 30,
    tall = (height - 58) / model.scores.length;
  const table = { ...rows, pen, wide, at, top, tall, bar: Math.min(22, tall * 0.5) };
  table.bottom = top + tall * model.scores.length;
  drawHead(table, y + 8, model);
  model.scores.forEach((_, j) => {
    const place = { j, y: top + tall * (j + 0.5), off: Boolean(rows.off?.[j]) };
    drawKey(table, place);
    drawScore(table, place, model);
    drawWeight(table, place, model);
    if (model.values) drawValue(table, place, model);
  });
  drawFoot(table, model);
};
// Where there is little room, no more than four letters.
const brief = (number) => shown(number, number >= 100 ? 0 : number >= 10 ? 1 : 2);
const middle = ([from, to]) => (from + to) / 2;
const span = ([from, to]) => to - from;

const drawHead = ({ pen, wide, at, temperature = 1, top, tall, bottom }, y, { values }) => {
  const stem = middle(at.key);
  pen.line(
    "asks",
    [
      [stem, y],
      [stem, bottom - tall / 2],
    ],
    "query",
    { opacity: 0.45 },
  );
  pen.rect("query", [at.key[0], top - 34, span(at.key), 25], "query", { round: 12 });
  pen.text("query-name", stem, y, wide ? "query" : "q", "white", { at: "middle", bold: true });
  const power = wide && temperature !== 1 ? "exp(score/\u03c4)" : "exp";
  const names = [
    ["score", "score", "ink", 1, "middle"],
    ["power", power, "weight", 2, "end"],
    ["weight", "weight", "weight", 2, "start"],
    ...(values
      ? [
          ["value", "value", "value", 3, "middle"],
          ["part", wide ? "part" : "", "output", 3, "end"],
        ]
      : []),
  ];
  for (const [name, text, role, step, side] of names) {
    const place = { start: at[name][0], end: at[name][1], middle: middle(at[name]) }[side];
    const opacity = Math.max(pen.seen(step), 0.3);
    pen.text(`head-${name}`, place, y, text, role, { at: side, bold: true, opacity });
  }
};

const drawKey = ({ pen, at, names, mask }, { j, y, off }) => {
  const box = [at.key[0], y - 14, span(at.key), 28];
  pen.rect(`key${j}-paper`, box, "paper", { round: 14 });
  pen.rect(`key${j}`, box, "key", { round: 14, opacity: off ? 0.08 : 0.2 });
  pen.text(`key${j}-name`, middle(at.key), y, names[j], "key", { at: "middle", bold: true });
  const struck = [
    [at.key[0] + 8, y + 8],
    [at.key[1] - 8, y - 8],
  ];
  if (off) pen.line(`key${j}-struck`, struck, "ink", { line: 1.5 });
  putGrip(pen, `mask${j}`, [middle(at.key), y], {
    label: `mask ${names[j]}`,
    pressed: off,
    box: [at.key[0] - 3, y - 18, span(at.key) + 6, 36],
    press: () => mask(j),
  });
};

const drawScore = ({ pen, at, bar, range, names, drag }, { j, y, off }, { scores }) => {
  const zero = middle(at.score),
    unit = span(at.score) / 2 / range,
    score = scores[j];
  const end = zero + clamp(score, -range, range) * unit,
    left = score < 0;
  pen.rect(`track${j}`, [at.score[0], y - bar / 2, span(at.score), bar], "ink", { opacity: 0.06 });
  const box = [Math.min(zero, end), y - bar / 2, Math.abs(end - zero), bar];
  pen.rect(`score${j}`, box, "ink", { round: 1, opacity: off ? 0.14 : 0.55 });
  pen.line(
    `zero${j}`,
    [
      [zero, y - bar / 2 - 3],
      [zero, y + bar / 2 + 3],
    ],
    "ink",
    { line: 1, opacity: 0.5 },
  );
  const text = shown(off ? -Infinity : score);
  pen.text(`score${j}-is`, zero + (left ? 13 : -13), y, text, "ink", {
    at: left ? "start" : "end",
  });
  if (!drag) return;
  putGrip(pen, `score${j}`, [end, y], {
    label: `score of ${names[j]}`,
    across: [score, -range, range, shown(score)],
    box: [at.score[0] - 6, y - 20, span(at.score) + 12, 40],
    knob: "ink",
    step: unit * 0.1,
    move: (to) => drag(j, near(clamp((to - zero) / unit, -range, range), 0.05)),
  });
};

const drawWeight = ({ pen, wide, at, bar }, { j, y }, { powers, weights }) => {
  const opacity = pen.seen(2),
    end = at.power[1],
    peak = Math.max(...powers, 1e-9),
    text = wide ? shown(powers[j]) : brief(powers[j]);
  pen.text(`power${j}`, end, y, text, "weight", { at: "end", opacity });
  const long = (span(at.power) * powers[j] * opacity) / peak;
  pen.rect(`power${j}-bar`, [end - long, y + 11, long, 3], "weight", { opacity: 0.7 });
  const box = (share) => [at.weight[0], y - bar / 2, span(at.weight) * share, bar];
  pen.rect(`weight${j}-track`, box(1), "weight", { opacity: 0.14 * opacity });
  pen.rect(`weight${j}`, box(weights[j] * opacity), "weight");
  const look = { opacity, bold: true };
  pen.text(`weight${j}-is`, at.weight[1] + 6, y, shown(weights[j]), "weight", look);
};

const drawValue = ({ pen, wide, at }, { j, y }, { weights, values }) => {
  const opacity = pen.seen(3),
    box = [at.value[0], y - 14, span(at.value), 28];
  pen.rect(`value${j}`, box, "value", { round: 6, opacity: 0.2 * opacity });
  const look = { at: "middle", bold: true, opacity };
  pen.text(`value${j}-is`, middle(at.value), y, shown(values[j], 0), "value", look);
  const part = shown(weights[j] * values[j]);
  if (wide) pen.text(`part${j}`, at.part[1], y, part, "output", { at: "end", opacity });
};

const drawFoot = ({ pen, wide, at, top, bottom }, { sum, weights, values, output }) => {
  const y = bottom + 14,
    [weighed, blended] = [pen.seen(2), pen.seen(3)],
    look = { opacity: weighed },
    rule = [
      [at.power[0], y - 13],
      [at.weight[1] + 36, y - 13],
    ];
  pen.line("rule", rule, "ink", { line: 1, opacity: 0.4 * weighed });
  const between = (at.power[1] + at.weight[0]) / 2;
  const divides = { at: "middle", small: true, ...look };
  if (wide) pen.text("divide", between, (top + bottom) / 2, "\u00f7 sum", "weight", divides);
  const said = `sum ${wide ? shown(sum) : brief(sum)}`;
  pen.text("sum", at.power[1], y, said, "weight", { at: "end", bold: true, ...look });
  pen.text("one", at.weight[1] + 6, y, shown(total(weights)), "weight", look);
  const last = { at: "end", bold: true, opacity: blended };
  if (wide && values) pen.text("output-is", at.part[1], y, shown(output), "output", last);
};
