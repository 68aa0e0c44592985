// The pen draws every frame anew, in the pixels of the page. An element that keeps its key stays in
// the page from frame to frame, and with it the focus; what a frame does not draw goes.
const LETTER = { bold: 10.2, plain: 8.3, small: 7.2 }; // pixels that a letter takes, rather too many

const boxOf = (x, y, text, at = "start", { bold, small }) => {
  const wide = String(text).length * LETTER[small ? "small" : bold ? "bold" : "plain"],
    left = x - { start: 0, middle: wide / 2, end: wide }[at];
  return [left, y - 8, left + wide, y + 8];
};
const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

const makePen = (svg) => {
  let before = new Map(),
    now = new Map(),
    parent = svg,
    last = null;
  const pen = { width: 0, narrow: false, grips: new Map() };
  let written = []; // the boxes of the letters of this frame

  pen.frame = (draw) => {
    [now, parent, last] = [new Map(), svg, null];
    [pen.grips, written] = [new Map(), []];
    const height = draw(pen);
    for (const [key, node] of before) if (!now.has(key)) node.remove();
    before = now;
    svg.setAttribute("viewBox", `0 0 ${pen.width} ${height}`);
    svg.style.height = `${height}px`;
  };

  pen.put = (key, tag, attributes) => {
    const node = before.get(key) ?? document.createElementNS(svg.namespaceURI, tag);
    if (!node.isConnected) parent.insertBefore(node, last ? last.nextSibling : parent.firstChild);
    for (const name in attributes) {
      const value = attributes[name];
      const text = typeof value === "number" ? String(Number(value.toFixed(2))) : value;
      if (text === undefined || text === false) node.removeAttribute(name);
      else if (node.getAttribute(name) !== String(text)) node.setAttribute(name, text);
    }
    now.set(key, node);
    return (last = node);
  };

  // What `draw` draws is cut off at the edge of a box.
  pen.inside = (key, [x, y, width, height], draw) => {
    const box = { x, y, width, height, viewBox: [x, y, width, height].map(Math.round).join(" ") };
    const frame = pen.put(key, "svg", { ...box, preserveAspectRatio: "none" });
    const outer = parent;
    [parent, last] = [frame, null];
    draw();
    [parent, last] = [outer, frame];
  };

  // `W_Q` is written with a letter below the line. A fill goes before the colour of the role.
  pen.text = (
    key,
    x,
    y,
    text,
    role = "ink",
    { at = "start", opacity = 1, fill, ...looks } = {},
  ) => {
    if (text !== "") written.push(boxOf(x, y, text, at, looks));
    const classes = ["t", role, ...Object.keys(looks).filter((look) => looks[look])].join(" ");
    const node = pen.put(key, "text", {
      x,
      y: y + 4.5,
      opacity: opacity < 1 && opacity,
      "text-anchor": at !== "start" && at,
      class: classes,
      style: fill && `fill: ${fill}`,
    });
    if (node.said === String(text)) return;
    const [, line, below, rest] = (node.said = String(text)).match(/^(.*?)(?:_(\w)(.*))?$/);
    node.replaceChildren(line);
    for (const [part, dy, size] of below
      ? [
          [below, 4, "0.85em"],
          [rest, -4],
        ]
      : []) {
      const span = document.createElementNS(svg.namespaceURI, "tspan");
      span.setAttribute("dy", dy);
      if (size) span.setAttribute("font-size", size);
      span.append(part);
      node.append(span);
    }
  };

  // No name is written over a knob or a dot.
  pen.keepFree = ([x, y], r) => written.push([x - r, y - r, x + r, y + r]);

  // A name has several places; it takes the first that is free, or it is not written. Returns whether
  // it is.
  pen.name = (key, places, text, role, looks = {}) => {
    const free = ([x, y, at]) => {
      const box = boxOf(x, y, text, at, looks),
        [left, right] = looks.within ?? [0, pen.width];
      return box[0] >= left && box[2] <= right && !written.some((other) => overlap(box, other));
    };
    const [x, y, at] = places.find(free) ?? [];
    const { within: _, ...others } = looks;
    if (at) pen.text(key, x, y, text, role, { ...others, at });
    return Boolean(at);
  };

  const looksOf = (role, { line, opacity = 1, dash }) => ({
    class: `${line ? "s" : "f"} ${role}`,
    "stroke-width": line ?? false,
    "stroke-dasharray": dash ?? false,
    opacity: opacity < 1 && opacity,
  });
  pen.path = (key, d, role, looks = {}) => pen.put(key, "path", { d, ...looksOf(role, looks) });
  pen.line = (key, points, role, looks = {}) => {
    const steps = points.map((point) => point.map((one) => Number(one.toFixed(1))).join());
    pen.path(key, steps.length ? `M${steps.join("L")}` : "M0,0", role, { line: 2, ...looks });
  };
  pen.rect = (key, [x, y, width, height], role, { round = 3, ...looks } = {}) => {
    const box = { x, y, width: Math.max(width, 0), height: Math.max(height, 0), rx: round };
    pen.put(key, "rect", { ...box, ...looksOf(role, looks) });
  };
  pen.disc = (key, [cx, cy], r, role, looks = {}) =>
    pen.put(key, "circle", { cx, cy, r, ...looksOf(role, looks) });
  pen.arrow = (key, from, to, role, { head = 9, ...looks } = {}) => {
    const way = to.map((one, c) => one - from[c]),
      length = Math.hypot(...way) || 1,
      back = Math.min(head, length) / length;
    const neck = to.map((one, c) => one - way[c] * back),
      wide = [-way[1] * back * 0.45, way[0] * back * 0.45];
    const corners = [to, ...[1, -1].map((side) => neck.map((one, c) => one + side * wide[c]))];
    pen.line(`${key}-shaft`, [from, neck], role, looks);
    const { opacity } = looks;
    const points = corners.map((corner) => corner.map((one) => one.toFixed(1)).join());
    pen.path(`${key}-head`, `M${points.join("L")}Z`, role, { opacity });
  };
  return pen;
};
