// The one mechanism: scores, softmax, weights, values, output. Every state of the machine ends here.
const total = (list) => list.reduce((sum, one) => sum + one, 0);
const dot = (a, b) => total(a.map((one, i) => one * b[i]));
const times = (matrix, vector) => matrix.map((row) => dot(row, vector));
const blend = (weights, values) =>
  Array.isArray(values[0])
    ? values[0].map((_, c) =>
        dot(
          weights,
          values.map((value) => value[c]),
        ),
      )
    : dot(weights, values);

// `off` masks keys: their powers are 0. If nothing is left, all weights are 0, and it says `empty`.
const attend = (scores, values, { off = [], temperature = 1 } = {}) => {
  const logits = scores.map((score, j) => (off[j] ? -Infinity : score / temperature));
  const best = Math.max(...logits),
    empty = best === -Infinity;
  // the best one is subtracted, so that cold scores do not overflow
  const safe = logits.map((logit) => (empty ? 0 : Math.exp(logit - best)));
  const sum = total(safe),
    weights = safe.map((one) => (empty ? 0 : one / sum)),
    powers = logits.map(Math.exp);
  return { scores, powers, sum: total(powers), weights, output: blend(weights, values), empty };
};

const clamp = (number, low, high) => Math.min(Math.max(number, low), high);
// The nearest multiple of a unit, without the digits that binary fractions add.
const near = (number, unit = 0.1) => Number((Math.round(number / unit) * unit).toFixed(4));

const pairsOf = (flat) =>
  Array.from({ length: flat.length / 2 }, (_, i) => flat.slice(2 * i, 2 * i + 2));

// Numbers as the reader sees them: a long minus, and none before a zero.
const shown = (number, digits = 2) => {
  if (Math.abs(number) >= 1e4) return number.toExponential(1).replace("e+", "e");
  const text = number.toFixed(Math.abs(number) >= 1000 ? 0 : digits);
  return text.replace(/^-(0\.?0*)$/, "$1").replace("-", "\u2212");
};
const listed = (numbers, digits) => numbers.map((one) => shown(one, digits)).join(", ");
const shownPair = (vector, digits = 1) => `(${vector.map((one) => shown(one, digits)).join(", ")})`;
