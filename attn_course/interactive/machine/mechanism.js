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

const masked = (scores, off) => scores.map((score, j) => (off[j] ? -Infinity : score));

// `off` masks keys: their powers are 0. If nothing is left, all weights are 0, and it says `empty`.
const attend = (scores, values, { off = [], temperature = 1 } = {}) => {
  const logits = masked(scores, off).map((score) => score / temperature);
  const best = Math.max(...logits),
    empty = best === -Infinity;
  // the best one is subtracted, so that cold scores do not overflow
  const safe = logits.map((logit) => (empty ? 0 : Math.exp(logit - best)));
  const sum = total(safe),
    weights = safe.map((one) => (empty ? 0 : one / sum)),
    powers = logits.map(Math.exp);
  return { scores, powers, sum: total(powers), weights, output: blend(weights, values), empty };
};
