// The text of the writer, in letters of one width, with the weight of each piece under it.
const LINES = 4,
  LINE = 21, // pixels
  EDGE = 6,
  MONO = "ui-monospace, monospace";

// Places of pieces in lines of so many letters; a word that does not fit begins another line.
const laidOut = (pieces, columns) => {
  const words = []; // letters from each piece to the end of its word
  for (let i = pieces.length - 1; i >= 0; i--) {
    const isLast = /^\s/.test(pieces[i + 1] ?? " ");
    words[i] = pieces[i].length + (isLast ? 0 : words[i + 1]);
  }
  let [line, column] = [0, 0];
  return pieces.map((piece, i) => {
    const isWord = piece[0] === " ";
    if (column + (isWord ? words[i] : piece.length) > columns) [line, column] = [line + 1, 0];
    const text = piece.trim();
    if (isWord && column > 0) column++;
    const here = { line, column, text };
    column += text.length;
    if (piece === "\n") [line, column] = [line + 1, 0];
    return here;
  });
};

// The text takes the same room in every browser.
const letters = (pen, key, [x, y], text, size, looks = "") => {
  const wide = { textLength: text.length * size * 0.6, lengthAdjust: "spacingAndGlyphs" };
  const node = pen.put(key, "text", { x, y: y + 4.5, ...wide, class: `t ink ${looks}`.trim() });
  Object.assign(node.style, { fontSize: `${size}px`, fontFamily: MONO });
  if (node.textContent !== text) node.textContent = text;
};

// The share of each piece in what the last one sees: in one head, or on average in those that are
// not silent.
const sharesOf = ({ weights, words, off, look }) => {
  const all = weights.flatMap((block, i) => block.map((head, h) => [`${i}.${h}`, head])),
    chosen = all.filter(([name]) => (look ? name === look : !off.has(name))),
    before = words.length - weights[0][0].length; // beyond the context
  return words.map((_, at) => {
    const shares = chosen.map(([, head]) => head[at - before] ?? 0);
    return sum(shares) / (shares.length || 1);
  });
};

// `share` is a share of the greatest one.
const drawPiece = (pen, i, [x, y], { text, size, share, isGiven, isForced }) => {
  const wide = size * 0.6,
    long = (text.length || 0.6) * wide;
  if (share > 0.02) {
    pen.rect(`tint${i}`, [x, y - 9, long, 17], "weight", { opacity: 0.3 * share });
    pen.rect(`mark${i}`, [x, y + 8, long, 5 * share], "weight", { round: 1 });
  }
  if (isForced) pen.rect(`forced${i}`, [x - 1, y - 9, long + 2, 17], "ink", { line: 1.2 });
  letters(pen, `word${i}`, [x, y], text, size, isGiven ? "bold" : "");
  if (isGiven) return;
  const box = { x: x - wide / 2, y: y - LINE / 2, width: long + wide / 2, height: LINE };
  pen.put(`cut${i}`, "rect", { ...box, class: "grip cut", "data-cut": i });
};

// The last lines of the text; returns their height.
const drawText = (pen, now) => {
  const size = pen.narrow ? 12.5 : 14,
    places = laidOut(now.words, Math.floor((pen.width - 2 * EDGE) / size / 0.6) - 1),
    last = places.at(-1),
    first = Math.max(0, last.line - LINES + 1),
    shares = sharesOf(now),
    most = Math.max(...shares, 1e-9),
    height = LINES * LINE + 2 * EDGE;
  const at = ({ line, column }) => [EDGE + column * size * 0.6, EDGE + (line - first + 0.5) * LINE];
  pen.rect("page", [0.5, 0.5, pen.width - 1, height - 1], "ink", { line: 1, opacity: 0.3 });
  places.forEach((place, i) => {
    if (place.line < first) return;
    const looks = { isGiven: i < now.begun, isForced: now.forced.has(i) };
    drawPiece(pen, i, at(place), { text: place.text, size, share: shares[i] / most, ...looks });
  });
  const [x, y] = at({ ...last, column: last.column + last.text.length });
  pen.rect("caret", [x + 2, y - 8, 1.5, 16], "ink");
  return height;
};
