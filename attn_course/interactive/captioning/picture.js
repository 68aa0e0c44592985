const [SIDE, EDGE] = [384, 6], // of the image, and around it, for its frames
  STAGE = SIDE + 2 * EDGE,
  SHADES = 16;

// The empty picture: weights at the bottom, the image over them, and on top the cells to point at.
const layOut = (picture, grid) => {
  const side = SIDE / grid;
  const boxes = Array.from({ length: grid ** 2 }, (_, cell) => ({
    x: EDGE + side * (cell % grid),
    y: EDGE + side * Math.floor(cell / grid),
    width: side,
    height: side,
  }));
  const moved = `translate(${EDGE} ${EDGE})`;
  const weights = boxes.map((box) => attnElement("rect", { class: "attn-weight", ...box }));
  const ink = Array.from({ length: SHADES }, (_, shade) =>
    attnElement("path", { "stroke-opacity": (shade + 1) / SHADES }),
  );
  const number = { "text-anchor": "end", class: "attn-number" };
  const cells = boxes.map((box, cell) =>
    attnElement(
      "g",
      { "data-cell": cell },
      attnElement("rect", { class: "attn-frame", ...box }),
      attnElement("text", { ...number, x: box.x + side - 5, y: box.y + side - 7 }),
    ),
  );
  const rows = Array.from({ length: grid }, (_, row) =>
    attnElement("g", { "data-line": row }, ...cells.slice(row * grid, (row + 1) * grid)),
  );
  const drawn = { "data-part": "ink", class: "attn-ink", "aria-hidden": "true" };
  const scale = `${moved} scale(${SIDE / (grid * CELL)})`;
  picture.setAttribute("viewBox", `0 0 ${STAGE} ${STAGE}`);
  picture.append(
    attnElement("g", { "data-part": "weights" }, ...weights),
    attnElement("g", { ...drawn, transform: scale }, ...ink),
    attnElement("path", { class: "attn-hand", "data-part": "hand", transform: moved }),
    ...rows,
  );
  return cells;
};
