// Kernel regression with pictures for keys: the score is the logarithm of a Gaussian kernel.
const inkIn = (letters) => Array.from(letters, (one) => (one.charCodeAt(0) - 97) / 16);

const squaredDistance = (query, key) =>
  query.reduce((sum, ink, pixel) => sum + (ink - key[pixel]) ** 2, 0);

// The weight of each key, and the share of each digit among what the keys say.
const readDigit = (query, keys, labels, width) => {
  const squared = keys.map((key) => squaredDistance(query, key)),
    scores = squared.map((one) => -one / (2 * width ** 2)),
    best = Math.max(...scores),
    counts = scores.map((score) => Math.exp(score - best)),
    sum = counts.reduce((so, count) => so + count, 0),
    weights = counts.map((count) => count / sum),
    shares = Array.from({ length: 10 }, () => 0);
  weights.forEach((weight, j) => (shares[labels[j]] += weight));
  return { squared, weights, shares };
};
