// The edges of the grid, the height of a row, and from the grid to the tallest bar and its height.
const [LEFT, RIGHT, TOP, CELL, CROWN, HIGH] = [78, 556, 84, 35, 56, 64];

// The empty picture: names, a group for each row with one for each cell, and the bars below.
const layOut = (picture, words) => {
  const size = words.length,
    width = (RIGHT - LEFT) / size,
    foot = TOP + CELL * size + CROWN + HIGH;
  const text = (said, more) => attnElement("text", more, said);
  const corner = { x: LEFT - 8, "text-anchor": "end", class: "attn-name" };
  const names = words.flatMap((word, i) => [
    text(word, { x: LEFT - 8, y: TOP + CELL * (i + 0.5) + 5, "text-anchor": "end", "data-row": i }),
    text(word, {
      transform: `translate(${(LEFT + width * (i + 0.5) + 5).toFixed(1)} ${TOP - 8}) rotate(-90)`,
      "data-column": i,
    }),
  ]);
  const cells = words.map((_, i) =>
    words.map((_, j) => {
      const box = { x: (LEFT + width * j).toFixed(1), y: TOP + CELL * i, height: CELL };
      const weight = { ...box, width: width.toFixed(1), class: "attn-weight" };
      return attnElement(
        "g",
        { "data-cell": `${i},${j}`, role: "gridcell" },
        attnElement("rect", weight),
        attnElement("path", { class: "attn-forbidden" }),
      );
    }),
  );
  const lines = cells.map((row, i) => attnElement("g", { "data-line": i, role: "row" }, ...row));
  const frames = { row: attnElement("rect", { class: "attn-here" }) };
  frames.cell = attnElement("rect", { "data-part": "cell", class: "attn-here attn-focus" });
  const says = text("", { x: 2, y: foot - HIGH - 32, class: "attn-name", "data-part": "says" });
  const bars = words.map((_, j) => ({
    bar: attnElement("rect", { "data-bar": j, class: "attn-bar" }),
    number: text("", {
      "data-number": j,
      x: (LEFT + width * (j + 0.5)).toFixed(1),
      "text-anchor": "middle",
    }),
  }));
  const unread = [
    text("query ↓", { ...corner, y: TOP - 8 }),
    text("key →", { ...corner, y: TOP - 34 }),
    ...names,
    ...Object.values(frames),
    says,
    attnElement("path", { d: `M${LEFT},${foot}H${RIGHT}`, class: "attn-axis" }),
    ...bars.flatMap(({ bar, number }) => [bar, number]),
  ];
  for (const node of unread) node.setAttribute("aria-hidden", "true");
  // a picture has no parts for a screen reader, a grid has
  picture.setAttribute("role", "grid");
  picture.setAttribute("viewBox", `0 0 560 ${foot + 8}`);
  picture.append(...lines, ...unread);
  return { width, foot, cells, frames, bars };
};
