// On the left the walk, on the right the query alone: strips above, shares below.
const [LEFT, WALK, HERE, ACROSS] = [10, 294, 328, 106],
  [STRIP, ASKED, NEAREST] = [30, 24, 82],
  [TOP, BOTTOM] = [140, 402],
  HIGH = BOTTOM - TOP;
const [LETTER, LINE] = [11, 22]; // the width and height of a letter on a phone, where it is largest
const GAP = 4; // between a name and the line of the query
const LEAST = 1e-5; // a lighter key is not drawn

// A part of the picture that the figure finds by its name.
const named = (tag, name, attributes = {}, ...content) =>
  attnElement(tag, { ...attributes, "data-part": name }, ...content);

const titles = () =>
  [
    ["the walk: what you ask for", LEFT, ASKED],
    ["word of the nearest key", LEFT, NEAREST],
    ["soft answer: shares", LEFT, TOP],
    ["here", HERE, ASKED],
    ["all keys by weight", HERE, TOP],
  ].map(([text, x, top]) => attnElement("text", { x, y: top - 7, class: "attn-name" }, text));

const queryLine = () => {
  const strips = [ASKED, NEAREST].map((top) => `M0,${top}V${top + STRIP}`).join("");
  const d = `${strips}M0,${TOP}V${BOTTOM + 8}`;
  return [
    attnElement("path", { d, class: "attn-halo" }),
    attnElement("path", { d, class: "attn-query" }),
    attnElement("circle", { cx: 0, cy: BOTTOM + 13, r: 9, class: "attn-handle" }),
  ];
};

// The empty picture; an area for each word lies over those of the words after it.
const layOut = (picture, areas) => {
  const column = { x: HERE, width: ACROSS, height: STRIP },
    beside = { x: HERE + ACROSS + 6, y: NEAREST + STRIP / 2 + 5, class: "attn-name" },
    stops = [named("stop", "start", { offset: 0 }), named("stop", "end", { offset: 1 })];
  const walk = [
    attnElement("defs", {}, named("linearGradient", "gradient", {}, ...stops)),
    named("rect", "walk", { x: LEFT, y: ASKED, width: WALK, height: STRIP }),
    named("g", "runs"),
    attnElement("g", { class: "attn-areas" }, ...areas.toReversed()),
    named("g", "query-line", {}, ...queryLine()),
    named("g", "run-names"),
    named("g", "area-names"),
  ];
  picture.setAttribute("viewBox", "0 0 560 428");
  picture.append(
    ...titles(),
    named("rect", "asked", { ...column, y: ASKED }),
    named("rect", "best", { ...column, y: NEAREST }),
    named("text", "word", beside),
    named("g", "tiles"),
    named("g", "labels"),
    attnElement("g", { class: "attn-walk" }, ...walk),
  );
};
