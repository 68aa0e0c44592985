// Numbers of a picture, and as the reader sees them.
const clamp = (number, low, high) => Math.min(Math.max(number, low), high);
// The nearest multiple of a unit, without the digits that binary fractions add.
const near = (number, unit = 0.1) => Number((Math.round(number / unit) * unit).toFixed(4));

const pairsOf = (flat) =>
  Array.from({ length: flat.length / 2 }, (_, i) => flat.slice(2 * i, 2 * i + 2));

// Numbers as the reader sees them: a long minus, and none before a zero.
const shown = (number, digits = 2) => {
  if (number === -Infinity) return "\u2212\u221e";
  if (Math.abs(number) >= 1e4) return number.toExponential(1).replace("e+", "e");
  const text = number.toFixed(Math.abs(number) >= 1000 ? 0 : digits);
  return text.replace(/^-(0\.?0*)$/, "$1").replace("-", "\u2212");
};
const listed = (numbers, digits) => numbers.map((one) => shown(one, digits)).join(", ");
const shownPair = (vector, digits = 1) => `(${vector.map((one) => shown(one, digits)).join(", ")})`;
