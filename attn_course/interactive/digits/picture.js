// The pad with the query, ten shares, and the query's pixels beside some keys by rank, each with its
// weight.
const PAD_FRAME = 3; // pixels

// An image of 8 x 8 pixels: for each shade a line along the middle of its pixels.
const drawInk = (pen, id, [x, y, side], ink) => {
  const lines = Array.from({ length: 16 }, () => "");
  ink.forEach((one, pixel) => {
    const shade = Math.round(16 * one),
      row = Math.floor(pixel / CELL);
    if (shade) lines[shade - 1] += `M${pixel % CELL} ${row}.5h1`;
  });
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${(side / CELL).toFixed(3)})`;
  lines.forEach((d, i) => {
    if (d) pen.put(`${id}-${i}`, "path", { d, transform, opacity: (i + 1) / 16, class: "pixels" });
  });
};

const drawFrame = (pen, id, [x, y, side], role, line) =>
  pen.rect(id, [x - line / 2, y - line / 2, side + line, side + line], role, { line, round: 2 });

// What the reader draws, or the pixels that it becomes.
const drawPad = (pen, [x, y, side], { ink, hand, isOpen }) => {
  pen.put("pad", "rect", { x, y, width: side, height: side, class: "pad" });
  if (isOpen) {
    const d = written(hand.map((stroke) => [stroke[0], ...stroke])) || "M0,0";
    const scale = side / POINTS;
    pen.put("hand", "path", {
      d,
      transform: `translate(${x} ${y}) scale(${scale})`,
      class: "hand",
    });
  } else drawInk(pen, "query", [x, y, side], ink);
  drawFrame(pen, "query-frame", [x, y, side], "query", PAD_FRAME);
};

// A bar for each digit; the one that is read stands out.
const drawDigitShares = (pen, [x, y, width, height], { shares, read }) => {
  const step = width / 10,
    floor = y + height - 22;
  pen.line(
    "shares-floor",
    [
      [x, floor],
      [x + width, floor],
    ],
    "ink",
    { line: 1, opacity: 0.4 },
  );
  shares.forEach((share, digit) => {
    const middle = x + step * (digit + 0.5),
      tall = (height - 44) * share,
      isRead = digit === read;
    const looks = { round: 2, opacity: isRead ? 1 : 0.45 };
    pen.rect(
      `share${digit}`,
      [middle - step * 0.36, floor - tall, step * 0.72, tall],
      "output",
      looks,
    );
    const role = isRead ? "output" : "ink";
    pen.text(`digit${digit}`, middle, floor + 13, digit, role, { at: "middle", bold: isRead });
    if (isRead || share >= (pen.narrow ? 0.15 : 0.1))
      pen.text(`percent${digit}`, middle, floor - tall - 11, percent(share), role, {
        at: "middle",
        bold: isRead,
        small: !isRead,
      });
  });
};

const withArticle = (digit) => `${digit === 8 ? "an" : "a"} ${digit}`;

const ordinal = (rank) =>
  rank === 1 ? "nearest" : `${rank}${{ 2: "nd", 3: "rd" }[rank % 10] ?? "th"}`;

// Of little weights a digit more.
const fine = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;

// Keys at ranks that grow: their weights as bars, the nearest one's being the tallest. Before them
// stands the query, as large and as coarse as they are: the two that are compared.
const drawRanked = (pen, [x, y, width], { ink, order, weights, keys, labels, truth }) => {
  const ranks = pen.narrow ? [1, 4, 16, 64, 256] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    step = width / (ranks.length + 1),
    side = Math.min(step - 12, 50),
    tall = 44,
    floor = y + 40 + tall,
    small = { at: "middle", small: true },
    first = x + step / 2;
  drawInk(pen, "asked", [first - side / 2, floor + 6, side], ink);
  drawFrame(pen, "asked-frame", [first - side / 2, floor + 6, side], "query", 2);
  pen.text("asked-name", first, floor + side + 21, "query", "query", { at: "middle", bold: true });
  pen.text("asked-size", first, floor + side + 38, "8 \u00d7 8", "ink", small);
  ranks.forEach((rank, n) => {
    const j = order[rank - 1],
      middle = x + step * (n + 1.5),
      left = middle - side / 2;
    const high = (tall * weights[j]) / weights[order[0]];
    pen.rect(`weight${n}`, [left, floor - high, side, high], "weight", { round: 2 });
    const share = weights[j] >= 0.0005 ? fine(weights[j]) : "";
    pen.text(`weight${n}-is`, middle, floor - high - 9, share, "weight", small);
    drawInk(pen, `key${n}`, [left, floor + 6, side], keys[j]);
    drawFrame(pen, `key-frame${n}`, [left, floor + 6, side], "key", 2);
    const said = labels[j] === truth[j] ? `“${labels[j]}”` : `“${labels[j]}” \u2717`;
    pen.text(`label${n}`, middle, floor + side + 21, said, "value", { at: "middle", bold: true });
    pen.text(`rank${n}`, middle, floor + side + 38, ordinal(rank), "ink", small);
  });
  pen.line(
    "weights-floor",
    [
      [x + step, floor],
      [x + width, floor],
    ],
    "ink",
    { line: 1, opacity: 0.4 },
  );
  return floor + side + 48;
};

// The weights of the nearest keys, ten to a bar: below, those that say the digit that is read, and on
// them the others.
const NEAREST = 400,
  EACH = 10;
const drawNearest = (pen, [x, y, width], { order, weights, labels, read }) => {
  const tall = pen.narrow ? 36 : 44,
    floor = y + 14 + tall,
    bars = Array.from({ length: NEAREST / EACH }, () => [0, 0]),
    step = width / bars.length;
  order.slice(0, NEAREST).forEach((j, rank) => {
    bars[Math.floor(rank / EACH)][labels[j] === read ? 0 : 1] += weights[j];
  });
  const scale = tall / Math.max(...bars.map(([same, other]) => same + other));
  const area = (from, to) =>
    bars.map((bar, n) => {
      const [low, high] = [from(bar), to(bar)].map((one) => (floor - scale * one).toFixed(1));
      return low === high
        ? ""
        : `M${(x + step * n).toFixed(1)} ${low}V${high}h${(step - 1).toFixed(1)}V${low}`;
    });
  const [same, both] = [([one]) => one, ([one, other]) => one + other];
  pen.path("near-same", area(() => 0, same).join("") || "M0,0", "output");
  pen.path("near-others", area(same, both).join("") || "M0,0", "weight", { opacity: 0.6 });
  const ends = [x, x + width].map((end) => [end, floor]);
  pen.line("near-floor", ends, "ink", { line: 1, opacity: 0.4 });
  const title = pen.narrow
    ? `the nearest ${NEAREST}`
    : `the nearest ${NEAREST} of ${order.length} keys`;
  pen.text("near-title", x, y, title, "weight", { bold: true });
  const said = read === undefined ? "" : `those that say ${read}`;
  pen.text("near-said", x + width, y, said, "output", { at: "end", bold: true });
  return floor + 4;
};

const drawDigits = (pen, now) => {
  const side = pen.narrow ? 128 : 190,
    top = 26,
    right = side + (pen.narrow ? 16 : 36),
    below = top + side + (pen.narrow ? 24 : 30);
  const bold = { bold: true };
  pen.text("pad-title", 0, 8, pen.narrow ? "draw here" : "query: draw here", "query", bold);
  drawPad(pen, [PAD_FRAME, top, side], now);
  const said = now.read === undefined ? "" : `it reads ${withArticle(now.read)}`;
  pen.text("shares-title", right, 8, said, "output", bold);
  drawDigitShares(pen, [right, top, pen.width - right, side + 6], now);
  const title = pen.narrow ? "weights of the keys" : "weights of the keys, by distance";
  pen.text("ranked-title", 0, below, title, "weight", bold);
  const many = `${pen.narrow ? "effective" : "effective number of keys"}: ${shown(now.effective, 0)}`;
  pen.text("effective", pen.width, below, many, "ink", { at: "end" });
  const after = drawRanked(pen, [0, below, pen.width], now);
  return drawNearest(pen, [0, after + (pen.narrow ? 14 : 18), pen.width], now);
};
