// A query and a key in the plane of one pair, all eight pairs as clocks, and the scores by distance.
const drawArc = (plane, [query, key]) => {
  const from = Math.atan2(query[1], query[0]),
    way = Math.atan2(query[0] * key[1] - query[1] * key[0], dot(query, key));
  const steps = Array.from({ length: 25 }, (_, i) => from + (way * i) / 24),
    rim = steps.map((angle) => plane.to([0.55 * Math.cos(angle), 0.55 * Math.sin(angle)]));
  const points = [plane.zero, ...rim].map((point) => point.map((one) => one.toFixed(1)).join());
  plane.pen.path("between", `M${points.join("L")}Z`, "ink", { opacity: 0.16 });
};

// The vectors as they are at position 0 are dashed; a drag of a turned one is turned back.
const drawTurned = (pen, box, { m, n }, model, set, { longest }) => {
  const { pair, turned, speeds } = model,
    plane = planeOf(pen, "plane", box, [-2.2, 2.2, -2.2, 2.2], `clock ${pair}`);
  const both = [
    ["query", "q", m],
    ["key", "k", n],
  ];
  both.forEach(([role], i) => {
    const long = Math.hypot(...turned[pair][i]) * plane.unit;
    pen.disc(`${role}-way`, plane.zero, long, role, { line: 1, opacity: 0.35 });
    plane.arrow(`${role}-start`, model[role], role, { line: 1.2, opacity: 0.5, dash: "4 3" });
  });
  drawArc(plane, turned[pair]);
  both.forEach(([role, name], i) =>
    plane.arrow(role, turned[pair][i], role, {
      line: 3,
      name: pen.narrow ? name : `${name} at ${[m, n][i]}`,
    }),
  );
  both.forEach(([role, , position], i) =>
    plane.grip(role, turned[pair][i], role, role, (to) =>
      set({ [role]: bounded(turn(bounded(to, longest), -position * speeds[pair]), longest) }),
    ),
  );
  // no name lies on an arrow
  for (const vector of turned[pair])
    for (const part of [0.3, 0.6, 0.9]) pen.keepFree(plane.to(vector.map((one) => part * one)), 2);
  plane.write();
  const [x, y, width, height] = box,
    [left, baseline] = pen.narrow ? [x + width, 15] : [x + 7, y + height - 11];
  const looks = { small: true, at: pen.narrow ? "end" : "start" };
  pen.text("dashed", left, baseline, "dashed: at position 0", "ink", looks);
};

// A clock for each pair: the one that is looked at has a rim.
const drawClocks = (pen, [x, y, width], { pair, turned, scores }, set, { longest }) => {
  const wide = width / turned.length,
    radius = wide / 2 - 5;
  pen.text("clocks", x, y + 8, "the eight clocks of the head", "ink", { bold: true });
  turned.forEach((vectors, i) => {
    const middle = [x + wide * (i + 0.5), y + 22 + radius],
      isSeen = i === pair;
    pen.disc(`clock${i}`, middle, radius, "ink", { opacity: 0.06 });
    pen.disc(`rim${i}`, middle, radius, "ink", {
      line: isSeen ? 2.5 : 1,
      opacity: isSeen ? 1 : 0.3,
    });
    vectors.forEach(([a, b], j) => {
      const tip = [middle[0] + (a / longest) * radius, middle[1] - (b / longest) * radius];
      pen.line(`hand${i}-${j}`, [middle, tip], j ? "key" : "query", { line: 2.5 });
    });
    const looks = { at: "middle", small: true, bold: isSeen };
    pen.text(`clock${i}-is`, middle[0], y + 32 + 2 * radius, shown(scores[i], 1), "ink", looks);
    putGrip(pen, `pair${i}`, middle, {
      label: `clock ${i}`,
      pressed: isSeen,
      press: () => set({ pair: [i] }),
    });
  });
};

// A score by the distance, and the place where it is now.
const drawCurve = (pen, key, [x, y, width, height], title, curve, now, most, { last }) => {
  const across = scaleOf(-last, last, x, x + width),
    up = scaleOf(-most, most, y + height, y);
  pen.text(`${key}-title`, x, y - 12, title, "ink", { bold: true });
  [-most / 2, 0, most / 2].forEach((level, i) => {
    const ends = [x, x + width].map((end) => [end, up(level)]);
    pen.line(`${key}-level${i}`, ends, "ink", { line: 1, opacity: level ? 0.12 : 0.5 });
    const looks = { at: "end", small: true, opacity: 0.75 };
    pen.text(`${key}-level${i}-is`, x - 6, up(level), shown(level, 0), "ink", looks);
  });
  const points = curve.map((score, i) => [across(i / FINE - last), up(score)]),
    here = [across(now.distance), up(now.score)];
  pen.line(key, points, "ink", { line: 1.5 });
  const upright = [y, y + height].map((end) => [here[0], end]);
  pen.line(`${key}-here`, upright, "ink", { line: 1.5, dash: "3 3" });
  pen.disc(`${key}-now`, here, 6, "ink");
  return across;
};

const drawDistances = (pen, across, y) => {
  for (const distance of [-60, -30, 0, 30, 60]) {
    const looks = { at: "middle", small: true, opacity: 0.75 };
    pen.text(`at${distance}`, across(distance), y, shown(distance, 0), "ink", looks);
  }
  const looks = { at: "end", small: true };
  pen.text("distances", pen.width, y + 18, "key position \u2212 query position", "ink", looks);
};

const speedSaid = (speed) => `turns ${Number(speed.toPrecision(2))} rad a step`;

attnMachine("rotary", {
  model: turnedModel,
  acts: {
    *both({ m, n }, { last }) {
      const begun = Math.min(m, n),
        apart = [m - begun, n - begun],
        places = last + 1 - Math.max(...apart);
      for (let step = 1; step <= 10; step++) {
        const start = (begun + step) % places;
        yield { m: start + apart[0], n: start + apart[1] };
      }
    },
  },
  draw(pen, state, model, set, data) {
    const { pair, scores, head, curves } = model,
      distance = state.n - state.m,
      side = pen.narrow ? 190 : 330;
    drawTurned(pen, [0, 26, side, side], state, model, set, data);
    const speed = speedSaid(model.speeds[pair]);
    if (!pen.narrow) pen.text("speed", side, 15, speed, "ink", { at: "end", small: true });
    const clocks = pen.narrow ? [0, side + 38, pen.width] : [side + 36, 4, pen.width - side - 36];
    drawClocks(pen, clocks, model, set, data);
    const [one, all] = pen.narrow
      ? [
          [side + 44, 66, pen.width - side - 46, side - 40],
          [32, side + 142, pen.width - 34, 80],
        ]
      : [
          [side + 68, 120, pen.width - side - 70, 84],
          [side + 68, 238, pen.width - side - 70, 128],
        ];
    const most = data.longest ** 2;
    drawCurve(
      pen,
      "pair",
      one,
      `clock ${pair}: ${shown(scores[pair])}`,
      curves.pair,
      { distance, score: scores[pair] },
      most,
      data,
    );
    const across = drawCurve(
      pen,
      "head",
      all,
      `head, the sum of all: ${shown(head)}`,
      curves.head,
      { distance, score: head },
      data.pairs * most,
      data,
    );
    drawDistances(pen, across, all[1] + all[3] + 10);
    return all[1] + all[3] + 38;
  },
  say({ m, n }, { pair, speeds, scores, head }) {
    const apart = Math.abs(n - m),
      where = !apart ? "at the same place" : `${apart} ${n < m ? "before" : "after"} it`;
    return (
      `The query is at ${m}, the key ${where}. Clock ${pair} ${speedSaid(speeds[pair])}: ` +
      `its score is ${shown(scores[pair])}, the head's ${shown(head)}.`
    );
  },
});
