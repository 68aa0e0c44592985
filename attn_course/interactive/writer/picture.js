// The picture of the writer, as wide as the page lets it be, and the same in words.
const drawWriter = (pen, now, { force, silence }) => {
  const row = pen.narrow ? 25 : 24,
    top = drawText(pen, now) + 8,
    [left, width] = pen.narrow ? [0, pen.width] : [308, 284],
    below = drawNext(pen, now, [0, top, width, row], force),
    start = pen.narrow ? below + 4 : top,
    wide = (pen.width - left) / now.weights.length;
  pen.text("looks", left, start + 8, "where the last piece looks", "ink", { bold: true });
  const ends = now.weights.map((_, block) =>
    drawBlock(pen, now, block, [left + block * wide, start, wide, row], silence),
  );
  return Math.max(below, ...ends) + 4;
};

// The head with the greatest weight, and on what.
const looksSaid = ({ weights, words }) => {
  const heads = weights.flatMap((block, i) =>
    block.map((head, h) => {
      const at = largest(head);
      return { name: `Head ${h} of block ${i}`, share: head[at], back: at - head.length };
    }),
  );
  const { name, share, back } = heads.reduce((a, b) => (b.share > a.share ? b : a));
  return `${name} has ${percent(share)} of its weight on ${saidOf(words.at(back))}.`;
};

const silentSaid = ({ weights, off }) => {
  const silent = weights.flatMap((_, block) => {
    const parts = partsOf(weights, block),
      title = `block ${block}`;
    if (parts.every((name) => off.has(name))) return [title];
    const some = parts.map(
      (name, i) => off.has(name) && (name.endsWith("maps") ? "the maps" : `head ${i}`),
    );
    return some.filter(Boolean).map((part) => `${part} of ${title}`);
  });
  return silent.length ? `Silent: ${silent.join(", ")}.` : "";
};

const writerSentence = (now) => {
  const tail = now.words.join("").trim().split(/\s+/).slice(-6).join(" "),
    best = now.best.filter(([, law]) => law).slice(0, 3),
    next = best.map(([token, law]) => `${saidOf(now.pieces[token])} ${percent(law)}`);
  return [
    `The text ends with \u201c${tail}\u201d.`,
    `Next may come ${next.join(", ")}.`,
    looksSaid(now),
    silentSaid(now),
  ]
    .join(" ")
    .trim();
};
