// Red, green and blue from 0 to 255, from `#0f967d` or `0f967d`.
const partsOf = (hex) => hex.match(/[0-9a-f]{2}/g).map((two) => parseInt(two, 16));

const css = (parts) => `rgb(${parts.map(Math.round).join(", ")})`;

// How far each key is from a query, squared; colours from 0 to 1.
const squaredDistances = ([r, g, b], keys) =>
  keys.map((key) => (r - key[0]) ** 2 + (g - key[1]) ** 2 + (b - key[2]) ** 2);

// Softmax of minus the squared distances over the temperature.
const weigh = (distances, temperature) => {
  const best = Math.min(...distances); // subtracted, so that a tiny temperature does not give 0/0
  const raised = distances.map((distance) => Math.exp((best - distance) / temperature));
  const total = raised.reduce((sum, one) => sum + one, 0);
  return raised.map((one) => one / total);
};

// The mean of the values: the value of a key is one-hot, with its 1 at the word of the key.
const sharesOf = (weights, word, words) => {
  const shares = words.map(() => 0);
  weights.forEach((weight, key) => (shares[word[key]] += weight));
  return shares;
};

// Stretches of equal numbers: [number, first place, place after the last].
const runsOf = (numbers) => {
  const runs = [];
  numbers.forEach((number, at) => {
    if (runs.at(-1)?.[0] !== number) runs.push([number, at, at]);
    runs.at(-1)[2] = at + 1;
  });
  return runs;
};

// Where a name has the most room between two curves, away from a line at a step: [step, height, room].
const roomiest = (low, high, reach, line) => {
  let best = [0, 0, -Infinity];
  for (let at = reach; at < high.length - reach; at++) {
    if (Math.abs(at - line) < reach + 3) continue;
    const ceiling = Math.min(...high.slice(at - reach, at + reach + 1));
    const floor = Math.max(...low.slice(at - reach, at + reach + 1));
    if (ceiling - floor > best[2]) best = [at, (ceiling + floor) / 2, ceiling - floor];
  }
  return best;
};
