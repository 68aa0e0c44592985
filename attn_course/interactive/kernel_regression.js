// The logarithm of each kernel at the squared distance in widths, as attn_course has it.
const positivePart = (number) => (number > 0 ? Math.log(number) : -Infinity);
const logKernels = {
  Gaussian: (squared) => -squared / 2,
  boxcar: (squared) => (squared > 1 ? -Infinity : 0),
  triangular: (squared) => positivePart(1 - Math.sqrt(squared)),
  Epanechnikov: (squared) => positivePart(1 - squared),
};

const weigh = (logKernel, width, query, keys) => {
  const scores = keys.map((key) => logKernel((query / width - key / width) ** 2));
  const best = Math.max(...scores);
  if (best === -Infinity) return null; // an empty window: 0/0
  // softmax after subtracting the best score, so that a tiny width does not give 0/0
  const exponentials = scores.map((score) => Math.exp(score - best));
  const total = exponentials.reduce((sum, one) => sum + one, 0);
  return exponentials.map((one) => one / total);
};

const blend = (weights, values) => weights.reduce((sum, w, j) => sum + w * values[j], 0);

const line = (points) => {
  const steps = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
  return steps.length ? `M${steps.join("L")}` : "";
};

attnFigure("kernel-regression", (root, data, say, { form, picture, part, put, write }) => {
  const { keys, values, widths, decimals, steps, radii } = data;
  const [across, up, tall] = [data.across, data.up, data.tall].map(attnScale);
  const [low, high] = data.across;
  const dots = [...root.querySelectorAll("circle[data-key]")];
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;

  const read = () => {
    const kernel = root.querySelector("input[type=radio]:checked").value;
    const width = widths[Number(part("width").value)];
    const query = Number(part("query").value);
    const standIn = part("empty").value === "mean" ? mean : 0;
    const weights = weigh(logKernels[kernel], width, query, keys);
    const shares = weights ?? keys.map(() => 0);
    const concentration = shares.reduce((sum, w) => sum + w * w, 0);
    return {
      kernel,
      width,
      query,
      standIn,
      weights: shares,
      empty: weights === null,
      output: weights ? blend(weights, values) : standIn,
      effective: weights ? 1 / concentration : 0,
    };
  };

  const drawCurve = ({ kernel, width, standIn }) => {
    const runs = { curve: "", gap: "" };
    let before,
      run = [];
    const finish = () => (runs[before] += line(run));
    for (let i = 0; i <= steps; i++) {
      const position = low + ((high - low) * i) / steps;
      const weights = weigh(logKernels[kernel], width, position, keys);
      const now = weights ? "curve" : "gap";
      if (before && now !== before) {
        finish();
        run = [];
      }
      run.push([across(position), up(weights ? blend(weights, values) : standIn)]);
      before = now;
    }
    finish();
    put("curve", { d: runs.curve });
    put("gap", { d: runs.gap });
  };

  const drawWindow = ({ kernel, width, query }) => {
    const reach = kernel === "Gaussian" ? 4 : 1;
    const edge = (u) => [across(query + u * width), tall(0)];
    const points = [edge(-reach)];
    for (let i = -40; i <= 40; i++) {
      const u = (i / 40) * reach;
      points.push([across(query + u * width), tall(Math.exp(logKernels[kernel](u * u)))]);
    }
    put("window", { d: line([...points, edge(reach)]) });
  };

  const drawQuery = ({ query, output, weights, empty }) => {
    const most = Math.max(...weights) || 1;
    dots.forEach((dot, j) => {
      const share = weights[j] / most;
      dot.setAttribute("r", (radii[0] + (radii[1] - radii[0]) * Math.sqrt(share)).toFixed(1));
      dot.setAttribute("fill-opacity", weights[j] > 0 ? 0.85 : 0);
    });
    const stem = (key, j) =>
      line([
        [across(key), tall(0)],
        [across(key), tall(weights[j] / most)],
      ]);
    put("weights", { d: keys.map((key, j) => (weights[j] > 0 ? stem(key, j) : "")).join("") });
    const x = across(query).toFixed(1),
      y = up(output).toFixed(1);
    put("query-line", { d: `M${x},${tall(0).toFixed(1)}V${up(data.up[1]).toFixed(1)}` });
    put("query-handle", { transform: `translate(${x} ${tall(0).toFixed(1)})` });
    put("output-line", { d: `M${x},${y}H${across(low).toFixed(1)}` });
    put("output", { cx: x, cy: y, "fill-opacity": empty ? 0 : 1 });
    put("none", { visibility: empty ? "visible" : "hidden" });
    write("most", empty ? "" : most.toFixed(3));
  };

  const tell = ({ kernel, width, query, output, effective, weights, empty }) => {
    const found = output.toFixed(decimals),
      share = effective.toFixed(1);
    write("width-reading", String(width));
    write("query-reading", part("query").value);
    write("output-reading", empty ? `${found}, in place of 0/0` : found);
    write("effective-reading", `${share} of ${keys.length}`);
    write("inside-reading", String(weights.filter((weight) => weight > 0).length));
    part("width").setAttribute("aria-valuetext", String(width));
    say(
      `${kernel} kernel of width ${width}, query at ${query}: ` +
        (empty
          ? `no key in the window, 0/0; the output is ${found} instead.`
          : `output ${found}, effective number of keys ${share} of ${keys.length}.`),
    );
  };

  const draw = () => {
    root.reading = read();
    for (const show of [drawCurve, drawWindow, drawQuery, tell]) show(root.reading);
  };

  attnDrag(picture, (x) => {
    const [, , start, stop] = data.across;
    part("query").value = low + ((x - start) / (stop - start)) * (high - low);
    draw();
  });
  form.addEventListener("input", draw);
  draw();
});
