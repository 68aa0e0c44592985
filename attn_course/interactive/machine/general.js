// The general score: beside the plane a matrix, whose rows can be dragged.
const drawBending = (pen, state, set) => {
  const rows = pairsOf(state.W),
    names = ["row 1", "row 2"];
  const [x, y, side] = pen.narrow ? [224, 26, Math.min(116, pen.width - 226)] : [324, 214, 102];
  const plane = planeOf(pen, "W", [x, y, side, side], [-1.5, 1.5, -1.5, 1.5], "W");
  rows.forEach((row, i) =>
    plane.arrow(`row${i}`, row, "ink", { line: 1.5, head: 7, name: names[i] }),
  );
  drawMatrix(plane, "W", rows, (to) => set({ W: to.flat() }));
  const [left, top] = pen.narrow ? [x - 10, y + side + 16] : [x + side + 20, y + 8];
  rows.forEach((row, i) => {
    const line = top + 20 * i;
    pen.text(`row${i}`, left, line, names[i], "ink", { small: true });
    row.forEach((one, c) =>
      pen.text(`W${i}${c}`, left + 80 + 38 * c, line, shown(one, 1), "ink", { at: "end" }),
    );
  });
  [
    [42, 46],
    [124, 120],
  ].forEach(([far, in_], i) =>
    pen.line(
      `bracket${i}`,
      [
        [left + in_, top - 10],
        [left + far, top - 10],
        [left + far, top + 30],
        [left + in_, top + 30],
      ],
      "ink",
      { line: 1.2 },
    ),
  );
  const says = `q W = ${shownPair(asking(state), 2)}`;
  pen.text("bent-is", left, top + 46, says, "query", { bold: !pen.narrow });
  pen.text("formula", left, top + 66, "score = q W \u00b7 key", "ink", { bold: true });
  plane.write(14); // where its squares leave little room
};

scoresInThePlane("machine-general", "query bent by W, and keys", ", bent by W,", drawBending);
