// A row or column among so many, whatever a link or a key names.
const within = (at, count) => Math.min(Math.max(Math.floor(Number(at)) || 0, 0), count - 1);

const UPRIGHT = 24; // pixels of a column, in less of which its name stands upright

// A table of weights: a row for each word that is said, a column for each word that is read. `layout`
// is the places of its parts, or gives them for a number of columns.
const weightTable = (root, layout, picture = root.querySelector("svg")) => {
  let left, top, wide, tall;
  picture.classList.add("attn-table");

  // a cell that a hand presses is in sight already; keys may lead to one that is not
  let isPressed = false;
  const focus = ([i, j]) =>
    picture.querySelector(`[data-cell="${i},${j}"]`)?.focus({ preventScroll: isPressed });

  // A row that has a centre looks `window` columns to either side: a dot, and grey beyond.
  const windowOf = (centre, window, i, count) => {
    const mark = (name, place) => attnElement(name, { ...place, class: `attn-${name}` });
    const edge = (at) => left + wide * Math.min(Math.max(at, 0), count);
    const [first, last] = [Math.ceil(centre - window), Math.floor(centre + window) + 1].map(edge);
    const row = { y: top + tall * i, height: tall };
    const outside = [
      mark("rect", { ...row, x: left, width: Math.max(first - left, 0) }),
      mark("rect", { ...row, x: last, width: Math.max(edge(count) - last, 0) }),
    ];
    // a centre beyond the last word has no place in the table
    if (centre >= count) return outside;
    const place = { cx: edge(centre + 0.5), cy: top + tall * (i + 0.5), r: 3.5 };
    return [...outside, mark("circle", place)];
  };

  // rows: [{word, weights, changed, centre}], columns: words, here: [row, column] or null; the frame
  // of a cell that nobody has chosen is seen by the keyboard alone; `corner` names the columns and
  // the rows
  const draw = ({
    rows,
    columns,
    here,
    isChosen = true,
    touched = [],
    title = "",
    corner = [],
    window,
  }) => {
    const places = typeof layout === "function" ? layout(columns.length) : layout;
    ({ left, top, wide, tall } = places);
    const right = left + wide * columns.length,
      bottom = top + tall * rows.length;
    const turn = wide < UPRIGHT ? -90 : -60;
    const heads = columns.map((word, j) =>
      attnElement(
        "text",
        {
          "data-column": j,
          transform: `translate(${left + wide * j + wide / 2 + 5} ${top - 8}) rotate(${turn})`,
        },
        word,
      ),
    );
    corner.forEach((text, i) => {
      const place = { x: left - 8, y: top - 30 + 22 * i, "text-anchor": "end", class: "attn-name" };
      heads.push(attnElement("text", place, text));
    });
    if (title) heads.unshift(attnElement("text", { x: 4, y: 18, class: "attn-name" }, title));
    const lines = rows.map(({ word, weights, changed }, i) => {
      const line = attnElement("g", { "data-line": i, role: "row" }),
        y = top + tall * i;
      const place = {
        "data-row": i,
        x: left - 8,
        y: y + tall / 2 + 5,
        "text-anchor": "end",
        role: "rowheader",
      };
      line.append(attnElement("text", changed ? { ...place, class: "attn-changed" } : place, word));
      weights.forEach((weight, j) => {
        const cell = attnElement("rect", {
          "data-cell": `${i},${j}`,
          x: left + wide * j,
          y,
          width: wide,
          height: tall,
          "fill-opacity": weight.toFixed(3),
          class: "attn-weight",
        });
        cell.setAttribute("role", "gridcell");
        cell.setAttribute("aria-label", `${word}, ${columns[j]}: ${Math.round(100 * weight)}%`);
        cell.setAttribute("tabindex", here && here[0] === i && here[1] === j ? "0" : "-1");
        line.append(cell);
      });
      return line;
    });
    const frames = touched.map((i) =>
      attnElement("rect", {
        x: left,
        y: top + tall * i,
        width: right - left,
        height: tall,
        class: "attn-touched",
      }),
    );
    if (here && here[0] < rows.length)
      frames.push(
        attnElement("rect", {
          x: left + wide * here[1],
          y: top + tall * here[0],
          width: wide,
          height: tall,
          class: isChosen ? "attn-here" : "attn-here attn-unchosen",
        }),
      );
    rows.forEach(({ centre }, i) => {
      if (centre !== undefined) frames.unshift(...windowOf(centre, window, i, columns.length));
    });
    for (const node of [...heads, ...frames]) node.setAttribute("aria-hidden", "true");
    const slanted = columns.map((word, j) =>
      turn === -90 ? 0 : left + wide * (j + 0.5) + 16 + 5 * word.length,
    );
    const across = Math.ceil(Math.max(right + 8, ...slanted)); // on a phone, where letters are large
    picture.setAttribute("viewBox", `0 0 ${across} ${bottom + 6}`);
    // a finger must hit a cell; where cells are wide, the names need no more room than the screen has
    const shrunk = places.isFitted ? 1 : Math.min(0.72, 24 / wide);
    picture.style.minWidth = `${Math.ceil(shrunk * across)}px`;
    picture.setAttribute("role", "grid");
    const hadFocus = picture.contains(document.activeElement);
    picture.replaceChildren(...heads, ...lines, ...frames);
    for (const [name] of lines.map((line) => line.children))
      // large or bold ones may be too long
      if (name.getComputedTextLength() > left - 10)
        for (const [key, one] of Object.entries({
          textLength: left - 10,
          lengthAdjust: "spacingAndGlyphs",
        }))
          name.setAttribute(key, one);
    if (hadFocus && here) focus(here);
  };

  const cellOf = (event) =>
    event.target.closest?.("[data-cell]")?.dataset.cell.split(",").map(Number);
  // `look` is called for the cell that is pointed at, `act` for the one that is chosen
  const listen = ({ look, act }) => {
    for (const kind of ["pointerdown", "keydown"])
      picture.addEventListener(kind, () => (isPressed = kind === "pointerdown"));
    picture.addEventListener("click", (event) => {
      const cell = cellOf(event);
      if (cell) act(cell);
    });
    picture.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
      const way = attnArrow(event);
      if (event.key === "Enter" || event.key === " ") act(cell);
      else if (way) look([cell[0] + way[0], cell[1] + way[1]]);
      else return;
      attnTake(event);
    });
  };
  return { draw, listen, focus };
};
