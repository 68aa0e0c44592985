const raised = (exponent) =>
  [...String(exponent)].map((one) => (one === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[one])).join("");
const short = (number) => {
  if (number >= 0.001 && number < 99) return number.toPrecision(2);
  const [digit, exponent] = number.toExponential(0).split("e");
  return `${digit}·10${raised(Number(exponent))}`;
};

attnFigure("recurrence", (root, data, say, parts) => {
  const { form, picture, part, value, keep, write, show, ran } = parts;
  const { layers, streams, width } = data;
  const far = data.length - 1;
  const across = attnScale([0, far, LEFT, RIGHT]),
    up = attnScale([LOW, HIGH, BOTTOM, TOP]);

  layOut(picture, layers, { across, up });

  const read = remembering((seed) => {
    const along = normal(seed, streams.direction, width),
      long = length(along);
    return {
      tokens: rowsOf(normal(seed, streams.tokens, data.length * width), width),
      direction: along.map((one) => one / long),
    };
  });
  const gated = (seed, name, gates) => {
    const wide = gates * width,
      shapes = [
        [wide, width],
        [wide, width],
        [1, wide],
        [1, wide],
      ];
    return parameters(seed, streams[name], shapes, width);
  };
  const turned = remembering((seed) => orthogonal(seed, streams.orthogonal, width));
  const reaches = {
    rnn: remembering((seed, gain) => {
      const [W, , b, c] = gated(seed, "rnn", 1);
      const U = turned(seed).map((row) => row.map((one) => gain * one));
      return reachOfRnn(read(seed), [W, U, b, c]);
    }),
    lstm: remembering((seed, gain, bias) => {
      const [W, U, b, c] = gated(seed, "lstm", 4);
      b[0].fill(0, width, 2 * width); // the forget gate
      c[0].fill(bias, width, 2 * width);
      return reachOfLstm(read(seed), [W, U, b, c]);
    }),
    gru: remembering((seed) => reachOfGru(read(seed), gated(seed, "gru", 3))),
    attention: remembering((seed) => {
      const square = [width, width];
      const drawn = parameters(seed, streams.attention, [square, square, square], width);
      return reachOfAttention(read(seed), drawn);
    }),
  };

  const state = () => {
    const number = (name) => Number(value(name));
    const [seed, distance, gain, bias] = ["seed", "distance", "gain", "forget bias"].map(number);
    const reach = Object.fromEntries(layers.map((name) => [name, reaches[name](seed, gain, bias)]));
    return { seed, distance, gain, bias, reach };
  };

  const drawCurves = ({ distance, reach }) => {
    const curves = Object.fromEntries(
      layers.map((name) => [name, seen(reach[name], { across, up })]),
    );
    const named = placeNames(curves);
    for (const name of layers) {
      const { points } = curves[name];
      const path = points.map((point) => point.map((one) => one.toFixed(1)).join(",")).join("L");
      root.querySelector(`[data-curve="${name}"]`).setAttribute("d", `M${path}`);
      const [x, y] = named[name].map((one) => one.toFixed(1));
      root.querySelector(`[data-name="${name}"]`).setAttribute("transform", `translate(${x} ${y})`);
      const here = root.querySelector(`[data-here="${name}"]`);
      const height = up(Math.log10(reach[name][distance])).toFixed(1);
      here.setAttribute("transform", `translate(0.0 ${height})`);
      here.setAttribute("visibility", distance < points.length ? "visible" : "hidden");
    }
    part("here").setAttribute("transform", `translate(${across(distance).toFixed(1)} 0)`);
  };

  const tell = ({ distance, gain, bias, reach }) => {
    const gate = (1 / (1 + Math.exp(-bias))).toFixed(3);
    write("distance-reading", String(distance));
    write("gain-reading", gain.toFixed(2));
    write("forget bias-reading", bias.toFixed(2));
    for (const name of layers) {
      const factor = (reach[name][far] / reach[name][data.near]) ** (1 / (far - data.near));
      const more = name === "lstm" ? `, gate ${gate}` : "";
      const now = short(reach[name][distance]);
      show(name, `${now}, × ${factor.toFixed(2)} a step${more}`);
    }
    const reached = layers.map((name) => `${name} ${short(reach[name][distance])}`);
    say(
      `Gain ${gain.toFixed(2)}, forget bias ${bias.toFixed(2)}. ` +
        `Gradient at distance ${distance}: ${reached.join(", ")}.`,
    );
  };

  const draw = () => {
    root.reading = state();
    for (const show of [drawCurves, tell]) show(root.reading);
  };

  form.addEventListener("input", ({ target }) => {
    draw();
    if (target.name === "gain") ran(reachOfRnn);
    if (target.name === "forget bias") ran(reachOfLstm);
  });
  part("again").addEventListener("click", () => {
    keep({ seed: (Number(value("seed")) + 1) % data.seeds });
    draw();
    ran(reachOfRnn, reachOfGru, reachOfLstm, reachOfAttention);
  });
  attnDrag(picture, (x) => {
    keep({ distance: Math.round((far * (x - LEFT)) / (RIGHT - LEFT)) });
    draw();
  });
  draw();
});
