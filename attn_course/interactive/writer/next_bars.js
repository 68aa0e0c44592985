// The pieces that may come next: a bar as long as the chance of each, and where parts are silent an
// outline for the chance that it has without that. A click forces one.
const ROOM = { name: 84, share: 44 }; // pixels beside a bar

// A piece as it stands in a list: a dot is a space.
const spelt = (piece) => piece.replace(" ", "\u00b7").replace("\n", "\u21b5");
const saidOf = (piece) =>
  piece === "\n" ? "a new line" : `\u201c${piece.trim() || "a space"}\u201d`;

const drawNext = (pen, now, [left, top, width, row], force) => {
  const bar = left + ROOM.name,
    room = width - ROOM.name - ROOM.share; // of 100%, always: a sure model is seen to be sure
  const outline = now.off.size ? "outline: nothing silenced" : "",
    legend = outline || "after temperature and top-p";
  pen.text("next", left, top + 8, "next piece", "ink", { bold: true });
  pen.text("legend", left + width, top + 8, legend, "ink", { at: "end", small: true });
  now.best.forEach(([token, law, own], i) => {
    const y = top + 20 + (i + 0.5) * row,
      piece = now.pieces[token],
      text = spelt(piece).slice(0, 9);
    letters(pen, `piece${i}`, [bar - 8 - text.length * 7.5, y], text, 12.5, "press");
    pen.rect(`whole${i}`, [bar, y - 7, room, 14], "ink", { round: 2, opacity: 0.1 });
    pen.rect(`law${i}`, [bar, y - 7, room * law, 14], "ink", { round: 2, opacity: 0.6 });
    if (outline)
      pen.rect(`own${i}`, [bar, y - 7, Math.max(room * own, 1), 14], "ink", {
        round: 2,
        line: 1.5,
      });
    const share = law && law < 0.005 ? "<1%" : percent(law);
    pen.text(`share${i}`, left + width, y, share, "ink", { at: "end", opacity: law ? 1 : 0.6 });
    putGrip(pen, `next${i}`, [left, y], {
      box: [left, y - row / 2, width, row],
      label: `write ${saidOf(piece)}, ${percent(law, 1)}`,
      press: () => force(token),
    });
  });
  return top + 20 + now.best.length * row;
};
