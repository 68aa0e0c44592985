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
    powers = logits.map(Math.exp),
    output = values && blend(weights, values); // some figures end at the weights
  return { scores, powers, sum: total(powers), weights, output, empty };
};

// A blend as a sum, with as many digits of the weights as it needs to come out on paper.
const blendInWords = (weights, values, output, places = 2) => {
  const written = (digits) => weights.map((weight) => Number(weight.toFixed(digits)));
  const comesOut = (digits) =>
    shown(dot(written(digits), values), places) === shown(output, places);
  const digits = [2, 3, 4].find(comesOut) ?? 5;
  const parts = weights.map((weight, j) => `${shown(weight, digits)} \u00b7 ${values[j]}`);
  return `${parts.join(" + ")} = ${shown(output, places)}`;
};
