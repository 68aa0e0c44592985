// The captioners of the course, as `attn_course.captioning` has them: `start` looks at an image,
// `step` reads a word and says which comes next. `change` may lay hands on the weights of a step.
const PAD = 0,
  BOS = 1,
  EOS = 2;

// How scores become weights, and weights the ones that make the context.
const ATTENTION = {
  soft: { weigh: softmax, use: (weights) => weights },
  hard: { weigh: softmax, use: (weights) => weights.map((_, i) => Number(i === largest(weights))) },
  uniform: { weigh: (scores) => scores.map(() => 1 / scores.length), use: (weights) => weights },
};

const captioner = (tensors, { weigh, use }) => {
  const layer = layerOf(tensors),
    cell = cellOf(tensors)("cell");
  const v = tensors["score.score_weight"].data;

  // the eye: from 24 x 24 pixels to 3 x 3 cells, each a vector
  const look = (image) => {
    const fine = pool(each(conv(layer("vision.0"), image, { padding: 1 }), relu));
    const coarse = pool(each(conv(layer("vision.3"), fine, { padding: 1 }), relu));
    return each(conv(layer("vision.6"), coarse, { stride: 2 }), relu).flat();
  };

  const start = (image) => {
    const features = look(image).map((one, i) => plus(one, embed({ weight: tensors.places }, i)));
    const keys = features.map((one) => linear(layer("score.project_key"), one));
    const mean = blend(
      features.map(() => 1 / features.length),
      features,
    );
    return { features, keys, state: tanh(linear(layer("bridge"), mean)) };
  };

  const step = (before, { features, keys, state }, change = use) => {
    const query = linear(layer("score.project_query"), state);
    const weights = weigh(keys.map((key) => dot(v, tanh(plus(query, key)))));
    const used = change(weights);
    const [gate] = sigmoid(linear(layer("gate"), state));
    const context = blend(used, features).map((one) => gate * one);
    const word = embed(layer("embedding"), before);
    const next = gru(cell, concat(word, context), state);
    const known = concat(next, word, context);
    const logits = linear(layer("readout.2"), tanh(linear(layer("readout.0"), known)));
    return { logits, weights, used, memory: { features, keys, state: next } };
  };

  return { start, step };
};

// Take the most probable word at each step. `change(t)` lays hands on the weights of word `t`.
const describe = (model, image, most, change = () => undefined) => {
  const said = [];
  let memory = model.start(image),
    word = BOS;
  while (word !== EOS && said.length < most) {
    const { logits, weights, used, memory: next } = model.step(word, memory, change(said.length));
    logits[PAD] = logits[BOS] = -Infinity; // no word at all
    const shares = softmax(logits);
    word = largest(logits);
    said.push({ word, shares: [...shares], weights: [...weights], used: [...used] });
    memory = next;
  }
  return said;
};
