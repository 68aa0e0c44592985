// The letters in lines: above each what the head of layer 0 gives it, below it what the model had
// predicted in its place, and what the head of layer 1 gives it, from the letter the reader stands on.
const CELL = { wide: 17.8, narrow: 16.6 },
  EDGE = { wide: 62, narrow: 61 }, // pixels for the names of the rows
  ROWS = { bars: 18, letter: 29, told: 47, below: 58, note: 86, line: 96 }, // from the top of a line
  SEEN = 0.3, // the least weight of a look that gets an arc
  NOTED = 0.5; // and of one that has left a label

const spelt = (letter) => (letter === " " ? "\u2423" : letter);
const saidOf = (letter) => (letter === " " ? "a space" : `\u201c${letter}\u201d`);

// The weights of a silent head are grey: it looks, and what it finds goes nowhere.
const SILENT = 0.25;
const weightLooks = (isOff, opacity = 1) =>
  isOff ? ["ink", { opacity: SILENT * opacity }] : ["weight", { opacity }];

// It can be predicted if it once followed the same letter.
const cameBefore = (text, at) => at > 0 && text.indexOf(text.slice(at - 1, at + 1)) < at - 1;

const drawBars = (pen, now, at, [x, y, wide]) => {
  const [above, below] = now.weights.map((rows) => ROWS.bars * (rows[now.at][at] ?? 0)),
    boxes = { above: [y + ROWS.bars - above, above], below: [y + ROWS.below, below] };
  Object.entries(boxes).forEach(([name, [top, tall]], layer) => {
    const [role, looks] = weightLooks(now.off.has(layer));
    pen.rect(`${name}${at}`, [x + 3, top, wide - 6, tall], role, { ...looks, round: 1 });
  });
};

const drawLetter = (pen, now, at, [x, y, wide]) => {
  const middle = x + wide / 2,
    predicted = at > 0 ? now.told[at - 1] : "",
    isDue = cameBefore(now.text, at),
    looks = { at: "middle", small: true, opacity: isDue ? 1 : 0.5 },
    box = predicted === now.text[at] ? { opacity: 0.18 } : { line: 1, opacity: 0.7 };
  if (at === now.at)
    pen.rect("here", [x + 0.5, y + ROWS.letter - 10, wide - 1, 20], "query", { line: 2 });
  if (isDue) pen.rect(`due${at}`, [x + 1.5, y + ROWS.told - 8.5, wide - 3, 16], "ink", box);
  pen.text(`letter${at}`, middle, y + ROWS.letter, spelt(now.text[at]), "ink", {
    at: "middle",
    bold: true,
  });
  pen.text(`told${at}`, middle, y + ROWS.told, predicted && spelt(predicted), "ink", looks);
};

// An arc from the letter that looks to the one at which a head looks; from one line to another it
// leaves at the left edge, and comes in at the right one.
const drawArc = (pen, key, layer, [from, here], [to, there], weight, ends, line = 2) => {
  const [left, right] = ends,
    [start, bend] = layer ? [ROWS.below, 56] : [ROWS.bars, -22],
    [out, home] = [here + start, there + start + ROWS.bars * weight * Math.sign(bend)],
    [low, high] = [here, there].map((y) => y + start + 0.35 * bend);
  const bow =
    here === there
      ? `M${from},${out}Q${(from + to) / 2},${out + bend} ${to},${home}`
      : `M${from},${out}Q${(from + left) / 2},${low} ${left},${low}` +
        `M${right},${high}Q${(right + to) / 2},${high} ${to},${home}`;
  pen.path(key, bow, "ink", { line, opacity: 0.7 });
};

// Where both heads look; and the label of the letter that layer 1 finds, if layer 0 has written one.
const drawLooks = (pen, now, { wide, edge, columns }) => {
  const middle = (at) => edge + ((at % columns) + 0.5) * wide,
    top = (at) => Math.floor(at / columns) * ROWS.line,
    place = (at) => [middle(at), top(at)],
    ends = [edge, edge + columns * wide];
  const lookOf = (layer, at) => {
    const row = now.weights[layer][at],
      seen = largest(row);
    return now.off.has(layer) || seen === at || row[seen] < SEEN ? undefined : seen;
  };
  const bar = (layer, at) => now.weights[layer][now.at][at] ?? 0,
    [before, found] = [0, 1].map((layer) => lookOf(layer, now.at));
  if (before !== undefined)
    drawArc(pen, "arc0", 0, place(now.at), place(before), bar(0, before), ends);
  if (found === undefined) return;
  drawArc(pen, "arc1", 1, place(now.at), place(found), bar(1, found), ends);
  const noted = found - 1;
  if (lookOf(0, found) !== noted || now.weights[0][found][noted] < NOTED) return;
  drawArc(pen, "noted", 0, place(found), place(noted), bar(0, noted), ends, 1);
  const [label, asked] = [noted, now.at].map((at) => spelt(now.text[at])),
    said = `after ${label}${label === asked ? "" : `, not ${asked}`}`;
  const x = Math.max(middle(found) + 2, 6.4 * said.length); // left of the arc, in the picture
  pen.text("note", x, top(found) + ROWS.note, said, "key", { at: "end", small: true });
};

// The letter on which the reader stands follows a finger, a mouse and the arrow keys.
const putStand = (pen, now, { wide, edge, columns, lines }, stand) => {
  const [line, column] = [Math.floor(now.at / columns), now.at % columns],
    last = now.text.length - 1;
  putGrip(pen, "stand", [edge + (column + 0.5) * wide, (line + 0.5) * ROWS.line], {
    label: "letter to stand on",
    box: [edge, 0, columns * wide, lines * ROWS.line],
    across: [now.at + 1, 1, last + 1, `letter ${now.at + 1}, ${saidOf(now.text[now.at])}`],
    step: wide,
    move: (x, y) => {
      const on = clamp(Math.floor(y / ROWS.line), 0, lines - 1) * columns;
      stand(clamp(on + Math.floor((x - edge) / wide), 0, last));
    },
  });
};

// Returns the height of all lines.
const drawLetters = (pen, now, stand) => {
  const size = pen.narrow ? "narrow" : "wide",
    [wide, edge] = [CELL[size], EDGE[size]],
    columns = Math.floor((pen.width - edge) / wide),
    lines = Math.ceil(now.text.length / columns),
    rowOf = { bars: 0, below: 1 }; // the layer
  for (let line = 0; line < lines; line++) {
    const y = line * ROWS.line,
      names = { bars: "layer 0", letter: "text", told: "predicted", below: "layer 1" };
    for (const row in names) {
      const shift = { bars: -7, below: 8 }[row] ?? 0;
      const isOff = now.off.has(rowOf[row]),
        looks = { small: true, off: isOff, opacity: isOff ? 0.6 : 1 };
      pen.text(`name-${row}-${line}`, 0, y + ROWS[row] + shift, names[row], "ink", looks);
    }
    for (let at = line * columns; at < Math.min((line + 1) * columns, now.text.length); at++) {
      const place = [edge + (at - line * columns) * wide, y, wide];
      drawBars(pen, now, at, place);
      drawLetter(pen, now, at, place);
    }
  }
  drawLooks(pen, now, { wide, edge, columns });
  putStand(pen, now, { wide, edge, columns, lines }, stand);
  return lines * ROWS.line;
};
