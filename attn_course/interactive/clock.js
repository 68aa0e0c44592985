attnFigure("clock", (root, data, say, { form, part, keep, write, put, show }) => {
  const pairs = data.d_model / 2,
    last = data.length - 1;
  const dials = [...Array(pairs).keys()].map((i) => part(`hand-${i}-0`));
  const [x, y] = [
    (i) => Number(dials[i].getAttribute("x1")),
    (i) => Number(dials[i].getAttribute("y1")),
  ];
  const places = part("curve")
    .getAttribute("d")
    .slice(1)
    .split("L")
    .map((at) => at.split(","));
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
    const vectors = [one, other].map((t) => sinusoid(t, data.d_model));
    const cosines = dials.map((_, i) => {
      const hands = vectors.map((vector) => vector.subarray(2 * i, 2 * i + 2));
      hands.forEach(([sine, cosine], k) => {
        put(`hand-${i}-${k}`, {
          x2: x(i) + data.reach[k] * sine,
          y2: y(i) - data.reach[k] * cosine,
        });
      });
      const both = dot(...hands);
      write(`cosine-${i}`, (Math.round(100 * both) / 100 + 0).toFixed(2));
      return both;
    });
    const product = sum(cosines),
      distance = Math.abs(other - one);
    const [cx, cy] = places[distance];
    put("here", { cx, cy });
    write("one-reading", one);
    write("other-reading", other);
    write("distance-reading", distance);
    write("product-reading", product.toFixed(2));
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
