// A dial for each frequency, on which each position has a hand, and the dot product by the distance.
const [IN_A_ROW, RADIUS, SPACE, ROW] = [8, 30, 80, 96];
// One hand is short and thick, the other long and thin.
const HANDS = [
  { role: "query", reach: RADIUS - 6, wide: 6 },
  { role: "key", reach: RADIUS, wide: 3 },
];
const PLOT = { left: 50, right: 620, tall: 130, wide: 640 };

// 0 is at the top, and hands go round like a clock's.
const makeDial = (i) => {
  const [x, y] = [SPACE * ((i % IN_A_ROW) + 0.5), 36 + ROW * Math.floor(i / IN_A_ROW)];
  const rim = attnElement("circle", { cx: x, cy: y, r: RADIUS, class: "attn-axis" });
  const hands = HANDS.map(({ role, wide }, k) =>
    attnElement("line", {
      x1: x,
      y1: y,
      stroke: `var(--attn-${role})`,
      "stroke-width": wide,
      "data-part": `hand-${i}-${k}`,
    }),
  );
  const cosine = attnElement("text", {
    x,
    y: y + RADIUS + 20,
    "text-anchor": "middle",
    "data-part": `cosine-${i}`,
  });
  const turn = (vectors) => {
    const pair = vectors.map((vector) => vector.subarray(2 * i, 2 * i + 2));
    pair.forEach(([sine, cosine], k) => {
      hands[k].setAttribute("x2", (x + HANDS[k].reach * sine).toFixed(2));
      hands[k].setAttribute("y2", (y - HANDS[k].reach * cosine).toFixed(2));
    });
    const both = dot(...pair);
    cosine.textContent = (Math.round(100 * both) / 100 + 0).toFixed(2);
    return both;
  };
  return { nodes: [rim, ...hands, cosine], turn };
};

// The dot product at each distance, and a mark that goes along it.
const makePlot = (falls, top) => {
  const bottom = top + PLOT.tall,
    last = falls.length - 1;
  const [low, high] = [Math.min(0, ...falls), Math.max(...falls)];
  const x = attnScale([0, last, PLOT.left, PLOT.right]),
    y = attnScale([low, high, bottom, top]);
  const decade = 10 ** Math.max(0, Math.floor(Math.log10(last / 6)));
  const step = decade * [1, 2, 5, 10].find((one) => one * decade >= last / 6);
  const text = (said, x, y, at, more) =>
    attnElement("text", { x, y, "text-anchor": at, ...more }, said);
  const levels = [0, high].flatMap((level) => [
    attnElement("path", { d: `M${PLOT.left},${y(level)}H${PLOT.right}`, class: "attn-grid" }),
    text(level.toFixed(0), PLOT.left - 8, y(level) + 5, "end"),
  ]);
  const ticks = Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
  const points = falls.map((fall, at) => `${x(at).toFixed(1)},${y(fall).toFixed(1)}`);
  const line = { fill: "none", stroke: "currentColor", "stroke-width": 1.5 };
  const mark = attnElement("circle", { r: 7, fill: "currentColor", "data-part": "here" });
  const go = (distance) => {
    mark.setAttribute("cx", x(distance).toFixed(1));
    mark.setAttribute("cy", y(falls[distance]).toFixed(1));
  };
  const name = { class: "attn-name" };
  const nodes = [
    ...levels,
    ...ticks.map((at) => text(at, x(at).toFixed(1), bottom + 20, "middle")),
    text("dot product", PLOT.left + 8, top - 6, "start", name),
    text("distance", PLOT.right, bottom + 40, "end", name),
    attnElement("path", { d: `M${points.join("L")}`, ...line }),
    mark,
  ];
  return { nodes, go };
};

attnFigure("sinusoids", (root, data, say, { form, picture, keep, write, show }) => {
  const pairs = data.d_model / 2,
    last = data.length - 1;
  const at = (position) => sinusoid(position, data.d_model);
  const dials = Array.from({ length: pairs }, (_, i) => makeDial(i));
  const top = ROW * Math.ceil(pairs / IN_A_ROW) + 20;
  const falls = Array.from({ length: data.length }, (_, distance) => dot(at(0), at(distance)));
  const plot = makePlot(falls, top);
  picture.setAttribute("viewBox", `0 0 ${PLOT.wide} ${top + PLOT.tall + 46}`);
  picture.append(...dials.flatMap(({ nodes }) => nodes), ...plot.nodes);
  const chosen = (name) => Number(form.elements[name].value);
  let before = [chosen("one"), chosen("other")];

  // where one goes the other goes too, as far as there are positions; returns what stopped them
  const moveTogether = () => {
    const steps = ["one", "other"].map((name, k) => chosen(name) - before[k]);
    const wanted = steps[0] || steps[1];
    const least = -Math.min(...before),
      most = last - Math.max(...before);
    const step = Math.min(Math.max(wanted, least), most);
    keep({ one: before[0] + step, other: before[1] + step });
    if (step === wanted) return "";
    return step < wanted ? `${last} is the last position` : "0 is the first position";
  };

  const draw = (stopped) => {
    const [one, other] = (before = [chosen("one"), chosen("other")]);
    const vectors = [one, other].map(at),
      cosines = dials.map(({ turn }) => turn(vectors));
    const product = sum(cosines),
      distance = Math.abs(other - one);
    plot.go(distance);
    write("one-reading", one);
    write("other-reading", other);
    show("distance", distance);
    show("product", product.toFixed(2));
    show("largest", pairs);
    show("stopped", stopped);
    root.reading = { vectors: vectors.map((vector) => [...vector]), cosines, product, distance };
    const sentence = `Positions ${one} and ${other}, ${distance} apart: dot product ${product.toFixed(2)}.`;
    say(sentence + (stopped && ` Together no further: ${stopped}.`));
  };

  form.addEventListener("input", ({ target }) => {
    const together = form.elements.together.checked && target.type === "range";
    draw(together ? moveTogether() : "");
  });
  draw("");
});
