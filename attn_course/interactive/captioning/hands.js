// The reader's hands on the picture: pen and finger, and the keys.
const captionPen = (picture, { edge, side }, { isOn, began, moved, ended }) => {
  const stage = picture.querySelector("[data-part=weights]");
  let stroke = null;
  const pointOf = ({ clientX, clientY }) => {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(stage.getScreenCTM().inverse());
    return [x, y].map((at) => Math.round(at - edge));
  };
  picture.addEventListener("pointerdown", (event) => {
    const point = pointOf(event);
    const isInside = point.every((at) => at >= 0 && at < side);
    if (!isOn() || !event.isPrimary || event.button || !isInside) return;
    picture.setPointerCapture(event.pointerId);
    stroke = [point];
    began();
    moved(stroke);
  });
  picture.addEventListener("pointermove", (event) => {
    if (!stroke || !event.isPrimary) return;
    const before = stroke.length;
    for (const one of [...(event.getCoalescedEvents?.() ?? []), event]) {
      const [x, y] = pointOf(one),
        [a, b] = stroke.at(-1);
      if (Math.hypot(x - a, y - b) >= 3) stroke.push([x, y]);
    }
    if (stroke.length > before) moved(stroke);
  });
  for (const name of ["pointerup", "pointercancel"])
    picture.addEventListener(name, (event) => {
      if (!stroke || !event.isPrimary) return;
      stroke = null;
      ended();
    });
};

const captionKeys = ({ picture, cells, chips, grid }, hands) => {
  const cellOf = (event) => cells.indexOf(event.target.closest?.("[data-cell]"));
  picture.addEventListener("pointerdown", (event) => {
    if (cellOf(event) >= 0) hands.walk(cellOf(event));
  });
  picture.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays there
  picture.addEventListener("click", (event) => {
    if (cellOf(event) >= 0) hands.click(cellOf(event));
  });
  const ends = { Home: [0, -grid], End: [0, grid] };
  picture.addEventListener("keydown", (event) => {
    const cell = cellOf(event),
      { key } = event,
      way = attnArrow(event) ?? ends[key];
    if (key === "z" && (event.ctrlKey || event.metaKey)) hands.undo();
    else if (event.ctrlKey || event.altKey || event.metaKey) return;
    else if (/^\d$/.test(key)) hands.type(Number(key), cell);
    else if (key === "Delete" || key === "Backspace") hands.empty(cell);
    else if (key === "Enter" || key === " ") hands.move(cell);
    else if (way) {
      const [row, column] = [Math.floor(cell / grid) + way[0], (cell % grid) + way[1]].map((at) =>
        Math.min(Math.max(at, 0), grid - 1),
      );
      hands.walk(row * grid + column);
    } else return;
    attnTake(event);
  });
  chips.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-word]");
    if (!chip) return;
    hands.go(Number(chip.dataset.word));
  });
  chips.addEventListener("keydown", (event) => {
    const at = hands.word();
    const to = {
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      Home: 0,
      End: hands.last(),
    }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    hands.go(to);
    attnTake(event);
  });
  // a picture has no parts for a screen reader, a grid has
  picture.setAttribute("role", "grid");
  for (const row of picture.querySelectorAll("[data-line]")) row.setAttribute("role", "row");
  for (const cell of cells) cell.setAttribute("role", "gridcell");
};
