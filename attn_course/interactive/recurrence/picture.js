// Above, the gradients by distance; below, a lane for each recorded learner.
const [LEFT, RIGHT, TOP, BOTTOM] = [66, 540, 34, 272],
  [LOW, HIGH] = [-85, 20]; // powers of ten
const [TITLE, FIRST, LANE] = [348, 374, 30],
  [START, NEVER] = [150, 498]; // of a lane: 10 steps, and the runs that did not learn
// As in the other figures of the chapter: circle, square, triangle, diamond, triangle on its tip.
const MARKS = {
  rnn: "M-5.5,0a5.5,5.5 0 1 0 11,0a5.5,5.5 0 1 0 -11,0Z",
  gru: "M-5,-5H5V5H-5Z",
  lstm: "M0,-6L6,5H-6Z",
  "lstm, forget bias 3": "M0,6L6,-5H-6Z",
  attention: "M0,-7L7,0L0,7L-7,0Z",
};
const lookOf = (name) => `attn-${name.split(",")[0]}`;
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

// The empty picture; the script fills curves and lanes.
const layOut = (picture, { race, layers }, { across, up, along, late }) => {
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
  const lanes = Object.keys(Object.values(race)[0]),
    below = FIRST + LANE * lanes.length + 4;
  const ticks = [10, 100, 1000].map((steps) => [steps, along(Math.log10(steps))]);
  picture.setAttribute("viewBox", `0 0 560 ${below + 20}`);
  picture.append(
    attnElement("path", { d: grid, class: "attn-grid" }),
    attnElement("path", { d: `M${LEFT},${up(0).toFixed(1)}H${RIGHT}`, class: "attn-axis" }),
    textAt("gradient", 0, TOP - 16, "start", NAMED),
    textAt("distance from the token to the end", RIGHT, BOTTOM + 46, "end", NAMED),
    ...powers.map((power) => textAt(`10${raised(power)}`, LEFT - 8, up(power) + 5, "end")),
    ...[0, 50, 100, 150, 200].map((at) => textAt(at, across(at), BOTTOM + 22, "middle")),
    ...legend,
    ...curves,
    attnElement("g", { "data-part": "here" }, line, ...here),
    textAt("", 0, TITLE, "start", { ...NAMED, "data-part": "raced" }),
    ...lanes.flatMap((name, lane) => {
      const y = FIRST + LANE * lane;
      return [
        markOf(name, 8, y),
        textAt(name.replace("forget ", ""), 20, y + 5),
        attnElement("path", { d: `M${START - 10},${y}H${NEVER + 26}`, class: "attn-grid" }),
      ];
    }),
    attnElement("g", { "data-part": "runs" }),
    ...[...ticks, [late, NEVER]].map(([text, x]) => textAt(text, x, below, "middle")),
  );
};
