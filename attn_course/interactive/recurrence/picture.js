// The gradients by distance.
const [LEFT, RIGHT, TOP, BOTTOM] = [66, 540, 34, 272],
  [LOW, HIGH] = [-85, 20]; // powers of ten
// As in the other figures of the chapter: circle, square, triangle, diamond.
const MARKS = {
  rnn: "M-5.5,0a5.5,5.5 0 1 0 11,0a5.5,5.5 0 1 0 -11,0Z",
  gru: "M-5,-5H5V5H-5Z",
  lstm: "M0,-6L6,5H-6Z",
  attention: "M0,-7L7,0L0,7L-7,0Z",
};
const lookOf = (name) => `attn-${name}`;
const markOf = (name, x, y, more = {}) =>
  attnElement("path", {
    d: MARKS[name],
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    class: `attn-mark ${lookOf(name)}`,
    ...more,
  });
const textAt = (said, x, y, at = "start", more = {}) =>
  attnElement("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": at, ...more }, said);
const NAMED = { class: "attn-name" };

// The empty picture; the script fills the curves.
const layOut = (picture, layers, { across, up }) => {
  const powers = [-80, -60, -40, -20, 0, 20];
  const grid = powers.map((power) => `M${LEFT},${up(power).toFixed(1)}H${RIGHT}`).join("");
  let x = 150;
  const legend = layers.flatMap((name) => {
    const key = [markOf(name, x, TOP - 21), textAt(name, x + 13, TOP - 16)];
    x += 52 + 12 * name.length;
    return key;
  });
  const curves = layers.map((name) =>
    attnElement("path", { class: `attn-curve ${lookOf(name)}`, "data-curve": name }),
  );
  const here = layers.map((name) => markOf(name, 0, 0, { "data-here": name }));
  const line = attnElement("path", { d: `M0,${TOP}V${BOTTOM}`, class: "attn-here" });
  picture.setAttribute("viewBox", `0 0 560 ${BOTTOM + 52}`);
  picture.append(
    attnElement("path", { d: grid, class: "attn-grid" }),
    attnElement("path", { d: `M${LEFT},${up(0).toFixed(1)}H${RIGHT}`, class: "attn-axis" }),
    textAt("gradient", 0, TOP - 16, "start", NAMED),
    textAt("distance from the token to the end", RIGHT, BOTTOM + 46, "end", NAMED),
    ...powers.map((power) => {
      const name = textAt("10", LEFT - 8, up(power) + 7, "end");
      const above = { dy: -6, "font-size": "0.75em" };
      name.append(attnElement("tspan", above, String(power).replace("-", "\u2212")));
      return name;
    }),
    ...[0, 50, 100, 150, 200].map((at) => textAt(at, across(at), BOTTOM + 22, "middle")),
    ...legend,
    ...curves,
    attnElement("g", { "data-part": "here" }, line, ...here),
  );
};
