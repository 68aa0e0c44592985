// REINFORCE on three cells: one draw pushes the scores, and the mean of many draws is the gradient.
// Where there is a baseline, the figure shows the variance, too.
const WEIGHTS = [0.5, 0.25, 0.25],
  REWARDS = [-1, -2, -4];

// Until then a reader may bet where the mean goes.
const isSettled = (many) => many >= 100;

// The push of a draw: reward minus baseline, times one-hot minus weights.
const pushOf = (cell, baseline) =>
  WEIGHTS.map((weight, j) => (REWARDS[cell] - baseline) * (Number(j === cell) - weight));
const squaredDistance = (a, b) => total(a.map((one, j) => (one - b[j]) ** 2));

const modelOf = ({ drawn: [many], baseline = 0 }, { cells }) => {
  const all = REWARDS.map((_, cell) => pushOf(cell, baseline)),
    exact = blend(WEIGHTS, all),
    seen = cells.slice(0, many),
    counts = REWARDS.map((_, cell) => seen.filter((one) => one === cell).length);
  const mean = blend(
    counts.map((count) => count / seen.length),
    all,
  );
  const variance = dot(
    WEIGHTS,
    all.map((push) => squaredDistance(push, exact)),
  );
  return { cell: seen.at(-1), counts, push: all[seen.at(-1)], mean, exact, variance };
};

const drawCells = (pen, [x, y, width, height], { cell, counts }, many) => {
  const wide = width / 3,
    base = y + height - 60;
  pen.text("cells", x, y + 8, `weights, rewards; ${many} drawn`, "ink", { bold: true });
  WEIGHTS.forEach((weight, j) => {
    const middle = x + wide * (j + 0.5),
      tall = (base - y - 40) * (weight / 0.5);
    if (j === cell)
      pen.rect("drawn", [middle - wide * 0.46, y + 20, wide * 0.92, height - 20], "ink", {
        opacity: 0.1,
      });
    pen.rect(`weight${j}`, [middle - wide * 0.25, base - tall, wide * 0.5, tall], "weight");
    pen.text(`weight${j}-is`, middle, base - tall - 10, shown(weight), "weight", { at: "middle" });
    const look = { at: "middle", bold: true };
    pen.text(`cell${j}`, middle, base + 14, `cell ${j + 1}`, "ink", { at: "middle" });
    pen.text(`reward${j}`, middle, base + 32, `R = ${shown(REWARDS[j], 0)}`, "ink", look);
    const often = { at: "middle", small: true };
    pen.text(`count${j}`, middle, base + 50, `drawn ${counts[j]}`, "ink", often);
  });
};

// Bars of three numbers, and ticks at what they should be on average, where that is shown. Each number
// stands beyond its bar, and beyond the tick if that is on the same side.
const FAR = 4.2; // the longest bar, with baseline -5, ends at 3.3
const drawPushes = (pen, key, [x, y, width, height], title, numbers, step, exact) => {
  const opacity = pen.seen(step),
    box = [x, y + 26, width, height - 26],
    up = scaleOf(-FAR, FAR, y + height, y + 26);
  pen.text(`${key}-title`, x, y + 8, title, "ink", { bold: true, opacity });
  const shares = numbers.map((number) => number * opacity);
  drawBars(pen, key, box, shares, [-FAR, FAR], "ink", { opacity: 0.45 });
  numbers.forEach((number, j) => {
    const middle = x + (width / 3) * (j + 0.5),
      sign = number < 0 ? -1 : 1,
      tick = exact ? sign * exact[j] : 0,
      end = up(sign * Math.max(sign * number, tick)) - 11 * sign;
    pen.text(`${key}${j}-is`, middle, end, shown(number), "ink", {
      at: "middle",
      opacity,
      halo: true,
    });
    const below = { at: "middle", small: true, opacity: 0.75 * opacity };
    pen.text(`${key}${j}-cell`, middle, y + height + 8, `cell ${j + 1}`, "ink", below);
    if (!exact) return;
    const line = [-1, 1].map((side) => [middle + side * width * 0.15, up(exact[j])]);
    pen.line(`exact${j}`, line, "ink", { line: 2.5, opacity });
  });
  const places = [
    [x + width, y + 24, "end"],
    [x, y + height - 10, "start"],
  ];
  if (exact) pen.name("exact", places, "lines: on average", "ink", { small: true, opacity });
};

const MOST_VARIANCE = 5.5; // at either end of the slider it is a little less
const drawVariance = (pen, y, { variance }, baseline) => {
  const x = scaleOf(0, MOST_VARIANCE, 0, pen.width),
    opacity = pen.seen(3);
  const says = `variance of a push: ${shown(variance)}`;
  pen.text("variance", 0, y, says, "ink", { bold: true, opacity });
  pen.rect("variance-track", [0, y + 14, pen.width, 18], "ink", { opacity: 0.12 });
  pen.rect("variance-bar", [0, y + 14, x(variance) * opacity, 18], "ink", {
    opacity: 0.45,
  });
  const text = `baseline ${shown(baseline, 1)}`;
  pen.text("baseline", pen.width, y, text, "ink", { at: "end", bold: true });
};

const reinforce = (name) =>
  attnMachine(name, {
    model: modelOf,
    acts: {
      draw: ({ drawn: [many] }, { cells }) => ({ drawn: [Math.min(many + 1, cells.length)] }),
      more: ({ drawn: [many] }, { cells }) => ({
        drawn: [Math.min(many + 500, cells.length)],
        step: 3, // the mean
      }),
    },
    draw(pen, { drawn: [many], baseline }, model) {
      const gap = 22,
        width = pen.narrow ? (pen.width - gap) / 2 : (pen.width - 2 * gap) / 3,
        tall = pen.narrow ? 150 : 176;
      const push = pen.narrow ? [0, tall + 16] : [width + gap, 0],
        mean = pen.narrow ? [width + gap, tall + 16] : [2 * (width + gap), 0];
      drawCells(pen, [0, 0, pen.narrow ? pen.width : width, tall], model, many);
      drawPushes(pen, "push", [...push, width, tall], "push of this draw", model.push, 2);
      const settled = isSettled(many) ? model.exact : undefined;
      drawPushes(pen, "mean", [...mean, width, tall], `mean of ${many}`, model.mean, 3, settled);
      const y = (pen.narrow ? 2 * tall + 16 : tall) + 26;
      if (baseline === undefined) return y - 8;
      drawVariance(pen, y, model, baseline);
      return y + 40;
    },
    say({ drawn: [many], baseline }, { cell, push, mean, exact, variance }, step) {
      if (step === 1)
        return `Draw ${many} is cell ${cell + 1}: its reward is ${shown(REWARDS[cell], 0)}.`;
      if (step === 2)
        return `Draw ${many}, cell ${cell + 1}, pushes the scores by ${listed(push)}.`;
      const pushes = many === 1 ? "1 push" : `${many} pushes`;
      const settled = isSettled(many) ? `; on average it is ${listed(exact)}` : "",
        says = `The mean of ${pushes} is ${listed(mean)}${settled}.`;
      if (baseline === undefined) return says;
      return `${says} With the baseline ${shown(baseline, 1)} the variance is ${shown(variance)}.`;
    },
  });
