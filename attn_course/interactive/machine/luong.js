// What is multiplied: each shadow, and the length of the query.
const drawLengths = (pen, { query, keys, off }) => {
  const size = Math.hypot(...query),
    [left, top] = pen.narrow ? [224, 36] : [324, 222],
    formula = pen.narrow
      ? ["score = shadow", "\u00d7 length of q"]
      : ["score = shadow \u00d7 length of q"];
  formula.forEach((line, i) =>
    pen.text(`formula${i}`, left, top + 20 * i, line, "ink", { bold: true }),
  );
  const below = top + 20 * formula.length + 4;
  pen.text("length", left, below, `length of q: ${shown(size)}`, "query");
  pairsOf(keys).forEach((key, j) => {
    const text = `shadow ${j + 1}: ${shown(dot(key, query) / (size || 1))}`,
      opacity = off[j] ? 0.4 : 1;
    pen.text(`shadow${j}-is`, left, below + 20 * (j + 1), text, "key", { opacity });
  });
};

scoresInThePlane("machine-luong", "query and keys", "", drawLengths);
