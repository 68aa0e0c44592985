// Two memories for the same pairs: a state of d by d numbers, and the rows that softmax attends to.
const unit = (vector) => {
  const long = Math.hypot(...vector);
  return vector.map((one) => one / long);
};

// The state after one more pair; `decay` weakens it first, `delta` writes what is missing alone.
const writePair = (state, key, value, rule, { decay }) => {
  const told = rule === "delta" ? blend(key, state) : value.map(() => 0),
    kept = rule === "decay" ? decay : 1;
  return state.map((row, i) => row.map((one, j) => kept * one + key[i] * (value[j] - told[j])));
};
const lookUp = (query, keys, values, { sharp }) =>
  attend(
    keys.map((key) => sharp * dot(query, key)),
    values,
  );

// The shares of the colours in a vector that was read.
const sharesOf = (read, codes, { sure }) =>
  attend(
    codes.map((code) => sure * dot(code, read)),
    codes.map(() => 0),
  ).weights;
// It is recalled if no other colour has as much.
const isRecalled = (shares, colour) =>
  shares.every((one, i) => i === colour || one < shares[colour] - 1e-6);

// A link may hold anything: rows of names and colours that there are, as many as have room.
const rowsOf = ({ rows, asked: [asked] }, { names, colours, most, favourites }) => {
  const isRow = ([name, colour]) => names[name] !== undefined && colours[colour] !== undefined,
    written = pairsOf(rows).filter(isRow).slice(0, most);
  if (!written.length) written.push([0, favourites[0]]);
  return { written, asked: clamp(Math.round(asked), 0, written.length - 1) };
};

// What both memories give for each name, by the colour that was written last.
const recall = (state, written, { keys, codes }, data) => {
  const last = new Map(written),
    [rowKeys, rowValues] = [written.map(([name]) => keys[name]), written.map(([, c]) => codes[c])];
  return [...last].map(([name, colour]) => {
    const found = lookUp(keys[name], rowKeys, rowValues, data),
      reads = [blend(keys[name], state), found.output],
      shares = reads.map((read) => sharesOf(read, codes, data)),
      right = shares.map((one) => isRecalled(one, colour));
    return { name, colour, read: reads[0], weights: found.weights, shares, right };
  });
};

const memoryModel = (form, data) => {
  const d = form.d,
    { written, asked } = rowsOf(form, data),
    vectors = {
      keys: data.keys.map((one) => unit(one.slice(0, d))),
      codes: data.codes.map((one) => unit(one.slice(0, d))),
    };
  let state = Array.from({ length: d }, () => Array(d).fill(0)),
    answers;
  const answerOf = (found) => found.find(({ name }) => name === written[asked][0]);
  const history = written.map(([name, colour], i) => {
    state = writePair(state, vectors.keys[name], vectors.codes[colour], form.rule, data);
    answers = recall(state, written.slice(0, i + 1), vectors, data);
    const recalled = [0, 1].map((memory) => answers.filter(({ right }) => right[memory]).length),
      shares = answerOf(answers)?.shares[0] ?? [];
    return { names: answers.length, state: recalled[0], softmax: recalled[1], shares };
  });
  const answer = answerOf(answers),
    key = vectors.keys[answer.name];
  return {
    d,
    written,
    asked,
    state,
    answers,
    answer,
    history,
    key,
    dots: written.map(([name]) => dot(vectors.keys[name], key)),
    value: vectors.codes[answer.colour],
  };
};
