// Mulberry32 with a counter for its state: every stream of every seed is at hand at once.
const noise = (seed, stream, count) =>
  Float64Array.from({ length: count }, (_, i) => {
    const one = Math.imul(i + (stream << 14) + (seed << 19) + 1, 0x6d2b79f5);
    const two = Math.imul(one ^ (one >>> 15), 1 | one);
    const three = two ^ (two + Math.imul(two ^ (two >>> 7), 61 | two));
    return (((three ^ (three >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  });

const normal = (seed, stream, count) => {
  const turn = noise(seed, stream + 1, count);
  return noise(seed, stream, count).map(
    (one, i) => Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * turn[i]),
  );
};

const dot = (x, y) => {
  let total = 0;
  for (let i = 0; i < x.length; i++) total += x[i] * y[i];
  return total;
};
const length = (x) => Math.sqrt(dot(x, x));
const rowsOf = (numbers, wide) =>
  Array.from({ length: numbers.length / wide }, (_, i) =>
    numbers.subarray(i * wide, (i + 1) * wide),
  );

// W x, and its transpose, which is the way back of a gradient.
const times = (rows, x) => Float64Array.from(rows, (row) => dot(row, x));
const back = (rows, y) => {
  const sum = new Float64Array(rows[0].length);
  rows.forEach((row, i) => {
    for (let j = 0; j < sum.length; j++) sum[j] += y[i] * row[j];
  });
  return sum;
};

// The parameters of a layer as PyTorch draws them, one after the other: rows, or one row of biases.
const parameters = (seed, stream, shapes, wide) =>
  shapes.map(([rows, columns], number) => {
    const drawn = noise(seed, stream + number, rows * columns);
    return rowsOf(
      drawn.map((one) => (2 * one - 1) / Math.sqrt(wide)),
      columns,
    );
  });

// A random orthogonal matrix: each row made orthogonal to those before it, and as long as 1.
const orthogonal = (seed, stream, wide) => {
  const rows = rowsOf(normal(seed, stream, wide * wide), wide);
  rows.forEach((row, i) => {
    for (let twice = 0; twice < 2; twice++)
      // once leaves rounding behind
      for (const other of rows.slice(0, i)) {
        const along = dot(row, other);
        for (let k = 0; k < wide; k++) row[k] -= along * other[k];
      }
    const long = length(row);
    for (let k = 0; k < wide; k++) row[k] /= long;
  });
  return rows;
};

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

// Each layer reads the tokens, and gives the length of the gradient of its last output along a
// direction, at each token: the last token first.
const reachOfRnn = ({ tokens, direction }, [W, U, [b], [c]]) => {
  const states = [new Float64Array(direction.length)];
  for (const x of tokens) {
    const fromToken = times(W, x),
      fromState = times(U, states.at(-1));
    states.push(fromToken.map((one, k) => Math.tanh(one + fromState[k] + b[k] + c[k])));
  }
  let gradient = direction;
  return tokens.map((_, past) => {
    const h = states.at(-1 - past);
    const inside = gradient.map((one, k) => one * (1 - h[k] ** 2)); // the slope of the tanh
    gradient = back(U, inside);
    return length(back(W, inside));
  });
};

const reachOfLstm = ({ tokens, direction }, [W, U, [b], [c]]) => {
  const wide = direction.length,
    steps = [];
  let h = new Float64Array(wide),
    memory = h;
  for (const x of tokens) {
    const before = memory,
      fromToken = times(W, x),
      fromState = times(U, h);
    const part = (k) =>
      fromToken
        .slice(k * wide, (k + 1) * wide)
        .map((one, i) => one + fromState[k * wide + i] + b[k * wide + i] + c[k * wide + i]);
    const [input, forget, proposal, output] = [
      part(0).map(sigmoid),
      part(1).map(sigmoid),
      part(2).map(Math.tanh),
      part(3).map(sigmoid),
    ];
    memory = before.map((one, i) => forget[i] * one + input[i] * proposal[i]);
    const bent = memory.map(Math.tanh);
    h = bent.map((one, i) => output[i] * one);
    steps.push({ before, input, forget, proposal, output, bent });
  }
  const toMemory = new Float64Array(wide);
  let toState = direction;
  return tokens.map((_, past) => {
    const { before, input, forget, proposal, output, bent } = steps.at(-1 - past);
    const inside = new Float64Array(4 * wide);
    for (let i = 0; i < wide; i++) {
      const kept = toMemory[i] + toState[i] * output[i] * (1 - bent[i] ** 2);
      inside[i] = kept * proposal[i] * input[i] * (1 - input[i]);
      inside[wide + i] = kept * before[i] * forget[i] * (1 - forget[i]);
      inside[2 * wide + i] = kept * input[i] * (1 - proposal[i] ** 2);
      inside[3 * wide + i] = toState[i] * bent[i] * output[i] * (1 - output[i]);
      toMemory[i] = kept * forget[i];
    }
    toState = back(U, inside);
    return length(back(W, inside));
  });
};

const reachOfGru = ({ tokens, direction }, [W, U, [b], [c]]) => {
  const wide = direction.length,
    steps = [];
  let h = new Float64Array(wide);
  for (const x of tokens) {
    const before = h,
      i = times(W, x).map((one, k) => one + b[k]);
    const s = times(U, h).map((one, k) => one + c[k]);
    const reset = before.map((_, k) => sigmoid(i[k] + s[k]));
    const update = before.map((_, k) => sigmoid(i[wide + k] + s[wide + k]));
    const heard = s.subarray(2 * wide);
    const fresh = before.map((_, k) => Math.tanh(i[2 * wide + k] + reset[k] * heard[k]));
    h = before.map((one, k) => (1 - update[k]) * fresh[k] + update[k] * one);
    steps.push({ before, reset, update, heard, fresh });
  }
  let gradient = direction;
  return tokens.map((_, past) => {
    const { before, reset, update, heard, fresh } = steps.at(-1 - past);
    const toToken = new Float64Array(3 * wide),
      toState = new Float64Array(3 * wide);
    for (let k = 0; k < wide; k++) {
      const inside = gradient[k] * (1 - update[k]) * (1 - fresh[k] ** 2);
      toToken[k] = toState[k] = inside * heard[k] * reset[k] * (1 - reset[k]);
      toToken[wide + k] = toState[wide + k] =
        gradient[k] * (before[k] - fresh[k]) * update[k] * (1 - update[k]);
      toToken[2 * wide + k] = inside;
      toState[2 * wide + k] = inside * reset[k];
    }
    gradient = back(U, toState).map((one, k) => one + gradient[k] * update[k]);
    return length(back(W, toToken));
  });
};

// Only the last token's query counts: its score of token x is p x, and the value of x is u x.
const reachOfAttention = ({ tokens, direction }, [Q, K, V]) => {
  const root = Math.sqrt(direction.length),
    query = times(Q, tokens.at(-1));
  const p = back(K, query).map((one) => one / root),
    u = back(V, direction);
  const scores = tokens.map((x) => dot(p, x)),
    best = Math.max(...scores);
  const raised = scores.map((score) => Math.exp(score - best));
  const total = raised.reduce((sum, one) => sum + one, 0);
  const weights = raised.map((one) => one / total),
    values = tokens.map((x) => dot(u, x));
  const output = dot(weights, values);
  const pulls = weights.map((weight, j) => weight * (values[j] - output));
  const asked = back(tokens, pulls); // the tokens, each as much as it pulls
  const toQuery = back(Q, times(K, asked)).map((one) => one / root);
  return tokens
    .map((_, j) => {
      const gradient = p.map((one, k) => pulls[j] * one + weights[j] * u[k]);
      return length(
        j === tokens.length - 1 ? gradient.map((one, k) => one + toQuery[k]) : gradient,
      );
    })
    .reverse();
};
