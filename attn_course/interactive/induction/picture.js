// What may come after the letter on which the reader stands, and all weights of both heads, a row
// for each letter that looks.
const SHADES = 5;

const drawNext = (pen, now, [x, y, width]) => {
  const bar = width - 70;
  pen.text("next", x, y + 8, `after ${spelt(now.text[now.at])} comes`, "ink", { bold: true });
  now.best.forEach(([token, share], i) => {
    const row = y + 30 + 21 * i;
    pen.text(`name${i}`, x + 12, row, spelt(now.symbols[token]), "ink", {
      at: "middle",
      bold: true,
    });
    pen.rect(`base${i}`, [x + 28, row + 6, bar, 1], "ink", { opacity: 0.3 });
    pen.rect(`share${i}`, [x + 28, row - 6, bar * share, 12], "ink", { round: 2, opacity: 0.6 });
    pen.text(`reads${i}`, x + width, row, percent(share), "ink", { at: "end", small: true });
  });
  return y + 30 + 21 * now.best.length;
};

// The weights as squares in a few shades, so that a map is a few paths and not a thousand.
const drawMap = (pen, now, layer, [x, y, side]) => {
  const rows = now.weights[layer],
    cell = side / rows.length,
    shades = Array.from({ length: SHADES }, () => []);
  rows.forEach((row, i) =>
    row.forEach((weight, j) => {
      const shade = Math.ceil(weight * SHADES) - 1;
      if (weight < 0.04) return;
      const corner = `${(x + j * cell).toFixed(1)},${(y + i * cell).toFixed(1)}`;
      shades[Math.min(shade, SHADES - 1)].push(
        `M${corner}h${cell.toFixed(2)}v${cell.toFixed(2)}h-${cell.toFixed(2)}z`,
      );
    }),
  );
  pen.rect(`frame${layer}`, [x, y, side, side], "ink", { line: 1, opacity: 0.4, round: 0 });
  shades.forEach((squares, i) => {
    const looks = weightLooks(now.off.has(layer), (i + 1) / SHADES);
    pen.path(`map${layer}-${i}`, squares.join("") || "M0,0", ...looks);
  });
  const here = [x, y + now.at * cell, (now.at + 1) * cell, cell];
  pen.rect(`row${layer}`, here, "query", { line: 1.2, round: 0 });
  const all = { x, y, width: side, height: side, class: "grip map", "data-map": layer };
  pen.put(`take${layer}`, "rect", all);
};

const drawInduction = (pen, now, stand) => {
  const top = drawLetters(pen, now, stand) + 10,
    side = pen.narrow ? 98 : 128,
    gap = pen.narrow ? 10 : 40,
    left = pen.width - 2 * side - gap,
    bottom = drawNext(pen, now, [0, top, Math.min(left - 24, 290)]);
  [0, 1].forEach((layer) => {
    const x = left + layer * (side + gap),
      off = now.off.has(layer);
    pen.text(`title${layer}`, x, top + 8, `layer ${layer}${off ? ", off" : ""}`, "ink", {
      bold: true,
      off,
    });
    drawMap(pen, now, layer, [x, top + 22, side]);
  });
  const end = top + 22 + side + 12,
    below = pen.narrow ? end + 20 : Math.max(end, bottom + 4);
  pen.text("axes", pen.width, end, "row: from, column: to", "ink", { at: "end", small: true });
  pen.text("found", 0, below, foundSaid(now), "ink", { small: true });
  return below + 12;
};

// Of the letters that could be predicted, how many were.
const foundSaid = ({ text, told }) => {
  const again = [...text].map((_, i) => i).filter((i) => cameBefore(text, i)),
    right = again.filter((i) => told[i - 1] === text[i]).length;
  if (!again.length) return "No letter could be predicted yet.";
  const letters = again.length === 1 ? "1 letter" : `${again.length} letters`;
  return `Of ${letters} that could be predicted, ${right} ${right === 1 ? "was" : "were"}.`;
};

const inductionSentence = (now) => {
  const [[token, share]] = now.best;
  const looks = now.weights.map((rows, layer) => {
    const row = rows[now.at],
      at = largest(row),
      seen = `${saidOf(now.text[at])}, letter ${at + 1}`;
    const head = `The head of layer ${layer}${now.off.has(layer) ? ", which is silent," : ""}`;
    return `${head} has ${percent(row[at])} of its weight on ${seen}.`;
  });
  return [
    foundSaid(now),
    `After letter ${now.at + 1}, ${saidOf(now.text[now.at])}, it expects ${saidOf(now.symbols[token])}, ${percent(share)}.`,
    ...looks,
  ].join(" ");
};
