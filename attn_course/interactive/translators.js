// The translators of the course, as `attn_course` has them: `start` reads a sentence, `step` reads a
// word and says which comes next. `change` may lay hands on the weights of a step.
const BOS = 1,
  EOS = 2,
  FIRST_WORD = 4;

// A state at every word from either end, side by side, and the two last states.
const annotate = (tensors, source) => {
  const table = layerOf(tensors)("encoder.embedding"),
    cell = cellOf(tensors);
  const words = source.map((word) => embed(table, word));
  const read = (inOrder, suffix) => {
    const gates = cell("encoder.recurrent", suffix);
    let state = new Float64Array(gates.hidden.weight.shape[1]);
    return inOrder.map((word) => (state = gru(gates, word, state)));
  };
  const forward = read(words, "_l0"),
    backward = read(words.toReversed(), "_l0_reverse").reverse();
  return {
    annotations: forward.map((state, i) => concat(state, backward[i])),
    final: concat(forward.at(-1), backward[0]),
  };
};

const additiveTranslator = (tensors) => {
  const layer = layerOf(tensors),
    cell = cellOf(tensors)("cell");
  const v = tensors["score.score_weight"].data;

  const start = (source) => {
    const { annotations, final } = annotate(tensors, source);
    const keys = annotations.map((one) => linear(layer("score.project_key"), one));
    return { annotations, keys, state: tanh(linear(layer("bridge"), final)) };
  };

  const step = (before, { annotations, keys, state }, change = (weights) => weights) => {
    const query = linear(layer("score.project_query"), state);
    const scores = keys.map((key) => dot(v, tanh(plus(query, key))));
    const weights = change(softmax(scores));
    const context = blend(weights, annotations);
    const word = embed(layer("embedding"), before);
    const next = gru(cell, concat(word, context), state);
    const known = concat(next, word, context);
    const logits = linear(layer("readout.2"), tanh(linear(layer("readout.0"), known)));
    return { logits, weights, memory: { annotations, keys, state: next } };
  };

  return { start, step };
};

// All that it knows of the source is one vector, shown to every step.
const fixedTranslator = (tensors) => {
  const layer = layerOf(tensors),
    cell = cellOf(tensors)("recurrent.network", "_l0");

  const start = (source) => {
    const vector = annotate(tensors, source).final;
    return { vector, state: tanh(linear(layer("bridge"), vector)) };
  };

  const step = (before, { vector, state }) => {
    const word = embed(layer("embedding"), before);
    const next = gru(cell, concat(word, vector), state);
    const known = concat(next, word, vector);
    const logits = linear(layer("readout.2"), tanh(linear(layer("readout.0"), known)));
    return { logits, memory: { vector, state: next } };
  };

  return { start, step };
};

// Steps first, then looks back from its new state. `attention` is "global", "local-m" or "local-p";
// the two local ones look `window` words to either side of a place.
const luongTranslator = (tensors, attention = "global", window = 10) => {
  const layer = layerOf(tensors),
    cell = cellOf(tensors)("recurrent.network", "_l0");
  const project = layer("score.project_key"); // general has this matrix, dot has none

  const start = (source) => {
    const { annotations, final } = annotate(tensors, source);
    const keys = project.weight ? annotations.map((one) => linear(project, one)) : annotations;
    return { annotations, keys, state: tanh(linear(layer("bridge"), final)), place: 0 };
  };

  const centre = (state, { keys, place }) => {
    if (attention === "local-m") return place;
    const hidden = tanh(linear(layer("centre.0"), state));
    return keys.length * sigmoid(linear(layer("centre.2"), hidden))[0];
  };

  const step = (before, memory, change = (weights) => weights) => {
    const state = gru(cell, embed(layer("embedding"), before), memory.state);
    const scores = memory.keys.map((key) => dot(state, key));
    let weights = softmax(scores),
      middle; // p_t
    if (attention !== "global") {
      middle = centre(state, memory);
      const away = scores.map((_, i) => i - middle);
      const isSeen = (i) => Math.abs(away[i]) <= window;
      weights = softmax(scores.map((score, i) => (isSeen(i) ? score : -Infinity)));
      if (attention === "local-p")
        weights = weights.map((weight, i) => weight * Math.exp(-2 * (away[i] / window) ** 2));
    }
    weights = change(weights);
    const context = blend(weights, memory.annotations);
    const attentional = tanh(linear(layer("combine"), concat(context, state)));
    const logits = linear(layer("readout"), attentional);
    const next = { ...memory, state, place: memory.place + 1 };
    return { logits, weights, centre: middle, memory: next };
  };

  return { start, step };
};

// Take the most probable word at each step. `change(t)` lays hands on the weights of word `t`.
const greedy = (model, source, change = () => undefined) => {
  const most = Math.floor(1.5 * source.length) + 5,
    said = [];
  let memory = model.start(source),
    word = BOS;
  while (word !== EOS && said.length < most) {
    const { logits, weights, centre, memory: next } = model.step(word, memory, change(said.length));
    word = largest(logits);
    said.push({ word, weights: [...weights], centre, probability: softmax(logits)[word] });
    memory = next;
  }
  return said;
};

// The words of a translator: the numbers of those that it reads, the names of those that it says.
const vocabularyOf = ({ source_words, target_words }) => {
  const known = new Map(JSON.parse(source_words).map((word, i) => [word, FIRST_WORD + i]));
  const names = ["<pad>", "<bos>", "EOS", "<unk>", ...JSON.parse(target_words)];
  return { known, names, ids: (words) => [...words.map((word) => known.get(word)), EOS] };
};

const translate = (model, { ids, names }, words, change) =>
  greedy(model, ids(words), change).map((one) => ({ ...one, word: names[one.word] }));

const spoken = (said) => said.map(({ word }) => word).filter((word) => word !== "EOS");
