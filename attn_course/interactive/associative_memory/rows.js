// The rows that softmax keeps: what was written, and beside it what the state answers.
const LINES = 12; // rows in a column
const lineOf = ({ narrow }) => (narrow ? 19 : 21); // pixels

// The shares of the colours, one after the other.
const drawShares = (pen, id, [x, y, width, height], shares, { colours }) => {
  let from = x;
  shares.forEach((share, i) => {
    const box = { x: from, y, width: width * share, height };
    pen.put(`${id}-${i}`, "rect", { ...box, fill: colours[i][1] });
    from += width * share;
  });
  pen.rect(`${id}-frame`, [x, y, width, height], "ink", { line: 1, opacity: 0.5, round: 0 });
};

const likeliest = (shares, { colours }) => {
  const most = Math.max(...shares);
  return `${colours[shares.indexOf(most)][0]} ${percent(most)}`;
};

const drawAnswer = (pen, [x, y, width], { answer }, data) => {
  const { name, colour, shares } = answer,
    told = `${data.names[name]}, written ${data.colours[colour][0]}`;
  pen.text("asked", x, y + 8, told, "ink", { bold: true });
  ["state", "softmax"].forEach((memory, n) => {
    const middle = y + 29 + 23 * n;
    pen.text(`${memory}-says`, x, middle, memory, "ink");
    drawShares(pen, memory, [x + 58, middle - 10, width - 160, 20], shares[n], data);
    pen.text(`${memory}-best`, x + width - 96, middle, likeliest(shares[n], data), "ink", {
      bold: true,
    });
  });
  return y + 70;
};

// Where the bar of a row begins, and its length: after the name, if vectors are shown the dot product
// of its key, and its colour, before the tick.
const barsOf = ({ narrow }, [x, width], isOpen) => {
  const before = (narrow ? 66 : 72) + (isOpen ? 42 : 0);
  return [x + before, width - before - 22];
};

// A row for each pair; of a name that was written again the last one counts.
const drawRow = (pen, i, [x, y, width], model, data, isOpen) => {
  const [name, colour] = model.written[i],
    isLast = !model.written.slice(i + 1).some(([other]) => other === name),
    { shares, right } = model.answers.find((one) => one.name === name),
    weight = model.answer.weights[i],
    line = lineOf(pen),
    middle = y + line / 2,
    opacity = isLast ? 1 : 0.55,
    [left, long] = barsOf(pen, [x, width], isOpen);
  if (weight > 0.01)
    pen.rect(`weight${i}`, [x, y + 1, width, line - 2], "weight", { opacity: 0.4 * weight });
  if (i === model.asked) pen.rect("here", [x, y + 1, width, line - 2], "query", { line: 2 });
  pen.text(`name${i}`, x + 5, middle, data.names[name], "ink", {
    bold: i === model.asked,
    opacity,
  });
  if (isOpen) {
    const looks = { at: "end", bold: i === model.asked, opacity };
    pen.text(`dot${i}`, left - 26, middle, shown(model.dots[i]), "key", looks);
  }
  const box = { x: left - 20, y: middle - 6, width: 12, height: 12, rx: 3, opacity };
  pen.put(`colour${i}`, "rect", { ...box, fill: data.colours[colour][1] });
  if (!isLast) return;
  drawShares(pen, `shares${i}`, [left, middle - 6, long, 12], shares[0], data);
  const sign = right[0] ? "\u2713" : "\u2717";
  pen.text(`right${i}`, x + width - 11, middle, sign, "ink", { at: "middle", bold: !right[0] });
};

const drawRows = (pen, [x, y, width], model, set, data, isOpen) => {
  const { written, asked, answer, d } = model,
    half = (width - 12) / 2,
    line = lineOf(pen),
    count = 2 * d * written.length,
    [name, colour] = written[asked];
  const rows = written.length,
    kept = rows > 1 ? `${pen.narrow ? "" : "all "}${rows} rows` : "1 row",
    title = `written (softmax keeps ${kept}: ${count} numbers)`;
  pen.text("rows", x, y + 8, title, "ink", { bold: true });
  const [bars] = barsOf(pen, [x, half]),
    products = `key \u00b7 ${data.names[name]}'s key; `;
  pen.text(
    "bars",
    isOpen ? x + 5 : bars,
    y + 27,
    `${isOpen ? products : ""}the state's answer`,
    "ink",
    {
      small: true,
    },
  );
  const top = y + 38;
  written.forEach((_, i) => {
    const left = x + Math.floor(i / LINES) * (half + 12);
    drawRow(pen, i, [left, top + (i % LINES) * line, half], model, data, isOpen);
  });
  const waiting = data.names.filter((_, name) => written.every(([other]) => other !== name));
  waiting.slice(0, data.most - rows).forEach((told, n) => {
    const [left, down] = [Math.floor((rows + n) / LINES), (rows + n) % LINES];
    pen.text(`waits${n}`, x + left * (half + 12) + 5, top + (down + 0.5) * line, told, "ink", {
      opacity: 0.7,
    });
  });
  const said = `${data.names[name]}, ${data.colours[colour][0]}`,
    right = answer.right[0] ? "right" : "wrong",
    says = `${said}; the state says ${likeliest(answer.shares[0], data)}, ${right}`;
  const column = Math.floor(asked / LINES);
  putGrip(pen, "asked", [x + column * (half + 12) + 9, top + ((asked % LINES) + 0.5) * line], {
    label: "name to ask for",
    box: [x, top, rows > LINES ? width : half, Math.min(rows, LINES) * line],
    up: [asked + 1, 1, written.length, says],
    step: line,
    move: (px, py) => {
      const on = clamp(Math.floor((px - x) / (half + 12)), 0, 1) * LINES;
      set({ asked: [clamp(on + Math.floor((py - top) / line), 0, written.length - 1)] });
    },
  });
  return top + LINES * line;
};
