// The layers of the course in the language of the page: functions of their weights and their input.
const sum = (x) => x.reduce((total, one) => total + one, 0);
const dot = (x, y) => x.reduce((total, one, i) => total + one * y[i], 0);
const plus = (x, y) => x.map((one, i) => one + y[i]);
const concat = (...parts) => Float64Array.from(parts.flatMap((part) => [...part]));
const tanh = (x) => x.map(Math.tanh);
const sigmoid = (x) => x.map((one) => 1 / (1 + Math.exp(-one)));
const largest = (x) => x.indexOf(x.reduce((one, other) => Math.max(one, other)));

// The vector of a position: sines and cosines of ever slower turns.
const sinusoid = (t, wide) =>
  Float64Array.from({ length: wide }, (_, i) => {
    const angle = t / 10000 ** ((i - (i % 2)) / wide);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });

// Row `i` of a table of vectors.
const embed = ({ weight }, i) => {
  const wide = weight.shape[1];
  return weight.data.subarray(i * wide, (i + 1) * wide);
};

// W x + b
const linear = ({ weight, bias }, x) => {
  const {
      shape: [rows, wide],
      data,
    } = weight,
    y = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    let total = bias ? bias.data[i] : 0;
    for (let j = 0; j < wide; j++) total += data[i * wide + j] * x[j];
    y[i] = total;
  }
  return y;
};

// Softmax over the scores that are not -Infinity; all zeros if none is left.
const softmax = (scores) => {
  const best = scores.reduce((one, other) => Math.max(one, other), -Infinity);
  const raised = scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - best)));
  const total = sum(raised);
  return raised.map((one) => (total ? one / total : 0));
};

// The mean of the values under the weights.
const blend = (weights, values) => {
  const mean = new Float64Array(values[0].length);
  weights.forEach((weight, i) => values[i].forEach((one, k) => (mean[k] += weight * one)));
  return mean;
};

// One step of a gated recurrent unit, with PyTorch's weights: reset, update, candidate.
const gru = ({ input, hidden }, x, h) => {
  const fromInput = linear(input, x),
    fromState = linear(hidden, h),
    wide = h.length;
  return h.map((old, i) => {
    const gate = (k) => 1 / (1 + Math.exp(-(fromInput[k * wide + i] + fromState[k * wide + i])));
    const reset = gate(0),
      update = gate(1);
    const candidate = Math.tanh(fromInput[2 * wide + i] + reset * fromState[2 * wide + i]);
    return (1 - update) * candidate + update * old;
  });
};

// A picture is rows of places, and each place a vector with a number for every channel.
const each = (picture, layer) => picture.map((row) => row.map(layer));
const relu = (x) => x.map((one) => Math.max(one, 0));

// The square at a place, channel by channel in one line; beyond the rim all is 0.
const patch = (picture, row, column, side, channels) => {
  const line = new Float64Array(channels * side * side);
  for (let i = 0; i < side; i++)
    for (let j = 0; j < side; j++) {
      const place = picture[row + i]?.[column + j];
      for (let k = 0; place && k < channels; k++) line[(k * side + i) * side + j] = place[k];
    }
  return line;
};

// A convolution: one and the same linear layer reads the square at every place.
const conv = ({ weight, bias }, picture, { stride = 1, padding = 0 } = {}) => {
  const [wide, channels, side] = weight.shape;
  const layer = { weight: { data: weight.data, shape: [wide, channels * side * side] }, bias };
  const steps = (length) => [
    ...Array(Math.floor((length + 2 * padding - side) / stride) + 1).keys(),
  ];
  return steps(picture.length).map((i) =>
    steps(picture[0].length).map((j) =>
      linear(layer, patch(picture, i * stride - padding, j * stride - padding, side, channels)),
    ),
  );
};

// The greatest number of each channel in every square of 2 by 2 places.
const pool = (picture) => {
  const most = (one, other) => one.map((number, k) => Math.max(number, other[k]));
  const pairs = (line, join) =>
    line.filter((_, i) => i % 2).map((odd, i) => join(line[2 * i], odd));
  return pairs(
    picture.map((row) => pairs(row, most)),
    (upper, lower) => upper.map((place, j) => most(place, lower[j])),
  );
};
