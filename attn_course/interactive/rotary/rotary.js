// A query and a key in the plane of one pair, all eight pairs as clocks, and the head's score by distance.
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
    plane.arrow(`${role}-start`, model[role], role, { line: 1.5, opacity: 0.8, dash: "4 3" });
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

// A clock for each pair, in rows: the one that is looked at has a rim.
const drawClocks = (pen, box, { pair, turned, scores }, set, { longest }) => {
  const [x, y, width, height, across] = box,
    wide = width / across,
    high = (height - 18) / (turned.length / across),
    radius = Math.min(wide / 2 - 4, (high - 18) / 2);
  const title = pen.narrow ? "the head's clocks" : "the eight clocks of the head";
  pen.text("clocks", x, y + 8, title, "ink", { bold: true });
  turned.forEach((vectors, i) => {
    const middle = [
        x + wide * ((i % across) + 0.5),
        y + 20 + radius + high * Math.floor(i / across),
      ],
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
    const looks = { at: "middle", small: true, bold: isSeen },
      beside = pen.narrow
        ? [middle[0] - radius - 7, middle[1]]
        : middle.map((one) => one - 0.7 * radius - 8);
    pen.text(`number${i}`, ...beside, i, "ink", { ...looks, opacity: 0.75 });
    pen.text(`clock${i}-is`, middle[0], middle[1] + radius + 10, shown(scores[i], 1), "ink", looks);
    putGrip(pen, `pair${i}`, middle, {
      label: `clock ${i}`,
      pressed: isSeen,
      press: () => set({ pair: [i] }),
    });
  });
};

// The score of the head by the distance, and the place where it is now.
const drawCurve = (
  pen,
  [x, y, width, height],
  { curve, head },
  distance,
  { last, pairs, longest },
) => {
  const most = pairs * longest ** 2,
    across = scaleOf(-last, last, x, x + width),
    up = scaleOf(-most, most, y + height, y);
  const title = `the head's score, their sum: ${shown(head)}`;
  pen.text("head-title", x, y - 12, title, "ink", { bold: true });
  [-most / 2, 0, most / 2].forEach((level, i) => {
    const ends = [x, x + width].map((end) => [end, up(level)]);
    pen.line(`head-level${i}`, ends, "ink", { line: 1, opacity: level ? 0.12 : 0.5 });
    const looks = { at: "end", small: true, opacity: 0.75 };
    pen.text(`head-level${i}-is`, x - 6, up(level), shown(level, 0), "ink", looks);
  });
  const points = curve.map((score, i) => [across(i / FINE - last), up(score)]),
    here = [across(distance), up(head)];
  pen.line("head", points, "ink", { line: 1.5 });
  const upright = [y, y + height].map((end) => [here[0], end]);
  pen.line("head-here", upright, "ink", { line: 1.5, dash: "3 3" });
  pen.disc("head-now", here, 6, "ink");
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
    const { pair } = model,
      distance = state.n - state.m,
      side = pen.narrow ? 190 : 330;
    drawTurned(pen, [0, 26, side, side], state, model, set, data);
    const speed = speedSaid(model.speeds[pair]);
    if (!pen.narrow) pen.text("speed", side, 15, speed, "ink", { at: "end", small: true });
    const clocks = pen.narrow
        ? [side + 14, side - 182, pen.width - side - 14, 208, 2]
        : [side + 36, 4, pen.width - side - 36, 196, 4],
      head = pen.narrow
        ? [32, side + 64, pen.width - 34, 90]
        : [side + 68, 234, pen.width - side - 70, 122];
    drawClocks(pen, clocks, model, set, data);
    const across = drawCurve(pen, head, model, distance, data);
    drawDistances(pen, across, head[1] + head[3] + 10);
    return head[1] + head[3] + 38;
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
