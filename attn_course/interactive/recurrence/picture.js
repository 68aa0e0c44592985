// The gradients by distance, so far as they are seen: a line that leaves the picture is named there.
const [LEFT, RIGHT, TOP, BOTTOM] = [66, 450, 32, 268],
  [LOW, HIGH] = [-20, 10]; // powers of ten
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

// A curve as far as the picture goes, and its end: at the right, or where it leaves, `-1` above and
// `1` below.
const seen = (norms, { across, up }) => {
  const powers = norms.map(Math.log10),
    leaves = powers.findIndex((power) => power < LOW || power > HIGH),
    kept = leaves < 0 ? powers.length : leaves;
  const points = powers.slice(0, kept).map((power, at) => [across(at), up(power)]);
  const side = leaves < 0 ? 0 : powers[leaves] < LOW ? 1 : -1;
  if (side) {
    const [before, after] = [powers[leaves - 1], powers[leaves]],
      edge = side > 0 ? LOW : HIGH;
    points.push([across(leaves - 1 + (edge - before) / (after - before)), up(edge)]);
  }
  return { points, side, end: points.at(-1) };
};

// Where the names of curves stand that end at one side, in their order, so far apart that all can
// be read.
const apart = (places, room) => {
  const order = Object.keys(places).sort((a, b) => places[a] - places[b]);
  let free = -Infinity;
  for (const name of order) {
    places[name] = Math.max(places[name], free);
    free = places[name] + room(name);
  }
  return places;
};
const ROOM = { 0: () => 20, 1: (name) => 26 + 10 * name.length };
const placeNames = (ends) => {
  const placed = {};
  for (const side of [-1, 0, 1]) {
    const here = Object.keys(ends).filter((name) => ends[name].side === side),
      axis = side ? 0 : 1;
    const at = apart(
      Object.fromEntries(here.map((name) => [name, ends[name].end[axis]])),
      ROOM[Math.abs(side)],
    );
    for (const name of here)
      placed[name] = side ? [at[name], side > 0 ? BOTTOM + 15 : TOP - 13] : [RIGHT + 22, at[name]];
  }
  return placed;
};

// The empty picture; the script fills the curves.
const layOut = (picture, layers, { across, up }) => {
  const powers = [-20, -15, -10, -5, 0, 5, 10];
  const grid = powers.map((power) => `M${LEFT},${up(power).toFixed(1)}H${RIGHT}`).join("");
  const names = layers.map((name) =>
    attnElement(
      "g",
      { "data-name": name, class: lookOf(name) },
      markOf(name, 0, 0),
      textAt(name, 11, 6),
    ),
  );
  const curves = layers.map((name) =>
    attnElement("path", { class: `attn-curve ${lookOf(name)}`, "data-curve": name }),
  );
  const here = layers.map((name) => markOf(name, 0, 0, { "data-here": name }));
  const line = attnElement("path", { d: `M0,${TOP}V${BOTTOM}`, class: "attn-here" });
  picture.setAttribute("viewBox", `0 0 560 ${BOTTOM + 68}`);
  picture.append(
    attnElement("path", { d: grid, class: "attn-grid" }),
    attnElement("path", { d: `M${LEFT},${up(0).toFixed(1)}H${RIGHT}`, class: "attn-axis" }),
    textAt("gradient", 0, TOP - 14, "start", NAMED),
    textAt("distance from the token to the end", RIGHT, BOTTOM + 63, "end", NAMED),
    ...powers.map((power) => {
      const name = textAt("10", LEFT - 8, up(power) + 7, "end");
      const above = { dy: -6, "font-size": "0.9em" };
      name.append(attnElement("tspan", above, String(power).replace("-", "\u2212")));
      return name;
    }),
    ...[0, 50, 100, 150, 200].map((at) => textAt(at, across(at), BOTTOM + 40, "middle")),
    ...curves,
    ...names,
    attnElement("g", { "data-part": "here" }, line, ...here),
  );
};
