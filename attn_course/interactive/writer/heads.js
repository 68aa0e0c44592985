// Where the last piece looks: for each head a strip of its weights, oldest piece first, and the piece
// with the greatest one. A dot silences a part, or a block with all its parts.
const DOT = 26,
  THIN = 1.6, // the least width of a bar
  SEEN = 95; // pixels for the piece beside a strip; none has more than 8 letters

// The parts of a block that can be silent.
const partsOf = (weights, block) => [
  ...weights[block].map((_, head) => `${block}.${head}`),
  `${block}.maps`,
];

const drawDot = (pen, key, [x, y], row, label, isOff, turn) => {
  pen.disc(`${key}-dot`, [x + 12, y], 6, "ink", isOff ? { line: 1.5 } : { opacity: 0.75 });
  const box = [x, y - row / 2, DOT, row];
  putGrip(pen, key, [x + 12, y], { box, label: `${label}: silent`, pressed: isOff, press: turn });
};

const drawStrip = (pen, key, [x, y, width, height], weights, opacity) => {
  const most = Math.max(...weights),
    step = width / weights.length,
    wide = Math.max(step, THIN),
    bottom = y + height;
  const bars = Array.from(weights, (weight, j) => {
    const left = Math.min(x + j * step, x + width - wide).toFixed(1),
      high = ((height * weight) / most).toFixed(1);
    return `M${left},${bottom}v-${high}h${wide.toFixed(2)}v${high}z`;
  });
  pen.rect(`${key}-base`, [x, bottom, width, 1], "ink", { opacity: 0.4 });
  pen.path(`${key}-bars`, bars.join(""), "weight", { opacity });
};

const drawHead = (pen, now, name, [x, y, width, row]) => {
  const [block, head] = name.split("."),
    weights = now.weights[block][head],
    isOff = now.off.has(name),
    strip = width - DOT - 14 - SEEN,
    best = largest(weights),
    seen = spelt(now.words.at(best - weights.length));
  const box = [x + DOT - 1, y - row / 2 + 1, width - DOT - 2, row - 2];
  if (now.look === name) pen.rect(`${name}-look`, box, "weight", { opacity: 0.2 });
  pen.text(`${name}-name`, x + 28, y, head, "ink", { small: true });
  drawStrip(pen, name, [x + 40, y - 8, strip, 16], weights, isOff ? 0.3 : 1);
  const text = `${seen} ${percent(weights[best])}`;
  letters(pen, `${name}-seen`, [x + 46 + strip, y], text, 12, isOff ? "press faint" : "press");
  const [left, top, wide, tall] = box,
    place = { x: left, y: top, width: wide, height: tall };
  pen.put(`${name}-take`, "rect", { ...place, class: "grip cut", "data-look": name });
};

const drawBlock = (pen, now, block, [x, top, width, row], silence) => {
  const names = partsOf(now.weights, block),
    title = `block ${block}`;
  const y = (i) => top + 20 + (i + 0.5) * row;
  const dot = (key, i, label, parts) => {
    const isOff = parts.every((name) => now.off.has(name));
    drawDot(pen, key, [x, y(i)], row, label, isOff, () => silence(parts));
  };
  pen.text(`block${block}-name`, x + 28, y(0), title, "ink", { bold: true });
  dot(`block${block}`, 0, title, names);
  names.forEach((name, i) => {
    const part = name.split(".")[1],
      looks = { small: true, opacity: now.off.has(name) ? 0.6 : 1 };
    if (part === "maps") pen.text(`${name}-name`, x + 28, y(i + 1), "the two maps", "ink", looks);
    else drawHead(pen, now, name, [x, y(i + 1), width, row]);
    dot(name, i + 1, `${title}, ${part === "maps" ? part : `head ${i}`}`, [name]);
  });
  return y(names.length) + row / 2;
};
