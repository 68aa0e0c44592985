// A text as numbers of pieces: `attn_course.data.pieces`, with the pieces that the writer has.
const WORD = / ?[A-Za-z']+|[^A-Za-z]/g;

const piecesOf = (list) => {
  const ranks = new Map(list.map((piece, rank) => [piece, rank]));
  // neighbours are joined for as long as their joint piece has a number, the lowest first
  const join = (parts) => {
    for (;;) {
      const joint = parts.slice(1).map((part, i) => ranks.get(parts[i] + part) ?? Infinity),
        lowest = Math.min(...joint),
        at = joint.indexOf(lowest);
      if (lowest === Infinity) return parts;
      parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
  };
  return {
    encode: (text) =>
      (text.match(WORD) ?? []).flatMap((word) => join([...word]).map((piece) => ranks.get(piece))),
    strange: (text) => [...new Set(text)].filter((letter) => !ranks.has(letter)),
    marks: list.filter((piece) => /^[^A-Za-z\s]$/.test(piece)).join(" "),
  };
};

// Phones write curly quotes and long dashes; the novels have none.
const plainly = (text) =>
  text
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2013\u2014]/g, "--");
