// A decoder-only Transformer, token by token, with the names that `attn_course.transformer` gives
// its tensors. What they lack it does without: norms, maps, constants, a readout of its own.
const layerNorm = ({ weight, bias }, x) => {
  const mean = sum(x) / x.length,
    away = x.map((one) => one - mean),
    scale = 1 / Math.sqrt(dot(away, away) / x.length + 1e-5);
  return away.map((one, i) => one * scale * weight.data[i] + bias.data[i]);
};

// Turn the pairs of numbers of each head, `wide` numbers, by the position of the token.
const turn = (x, position, wide) => {
  const turned = new Float64Array(x.length);
  for (let i = 0; i < x.length; i += 2) {
    const angle = position / 10000 ** ((i % wide) / wide),
      [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    turned[i] = x[i] * cos - x[i + 1] * sin;
    turned[i + 1] = x[i] * sin + x[i + 1] * cos;
  }
  return turned;
};

// One head: `from` and `wide` say which numbers of queries, keys and values are its own.
const lookBack = (query, seen, from, wide) => {
  const scores = seen.map(({ key }) => {
    let score = 0;
    for (let k = from; k < from + wide; k++) score += query[k] * key[k];
    return score / Math.sqrt(wide);
  });
  const weights = softmax(scores);
  return {
    weights,
    found: blend(
      weights,
      seen.map(({ value }) => value.subarray(from, from + wide)),
    ),
  };
};

// `step` reads a token after those that it has read, which are its own answers, and gives logits and,
// for each block and head, the weights of the last `context` tokens. `isOff(block, part)` silences a
// head, by its number, or the "maps": they add nothing to the stream.
const transformer = ({ tensors, num_heads, context, input_scale }) => {
  const layer = layerOf(tensors),
    has = (name) => `${name}.weight` in tensors,
    norm = (name, x) => (has(name) ? layerNorm(layer(name), x) : x),
    heads = [...Array(num_heads).keys()],
    blocks = [];
  while (has(`blocks.${blocks.length}.attention.project_query`))
    blocks.push(`blocks.${blocks.length}`);

  const attend = (name, x, before, isOff) => {
    const project = (what) => linear(layer(`${name}.attention.project_${what}`), x),
      [query, key, value] = ["query", "key", "value"].map(project),
      wide = query.length / num_heads,
      mine = { key: turn(key, before.length, wide), value },
      turned = turn(query, before.length, wide);
    const seen = [...before.slice(Math.max(0, before.length + 1 - context)), mine],
      looks = heads.map((head) => lookBack(turned, seen, head * wide, wide));
    const joined = concat(...looks.map(({ found }, i) => (isOff(i) ? found.fill(0) : found)));
    const added = heads.every(isOff)
      ? null
      : linear(layer(`${name}.attention.project_output`), joined);
    return { mine, added, weights: looks.map((one) => one.weights) };
  };

  const think = (name, x) =>
    linear(layer(`${name}.narrow`), relu(linear(layer(`${name}.widen`), x)));

  const step = (token, before, isOff = () => false) => {
    let stream = Float64Array.from(embed(layer("embedding"), token), (one) => input_scale * one);
    const memory = [],
      weights = [];
    blocks.forEach((name, block) => {
      const kept = before.map((one) => one.memory[block]),
        read = norm(`${name}.norm_attention`, stream),
        looked = attend(name, read, kept, (head) => isOff(block, head));
      memory.push(looked.mine);
      weights.push(looked.weights);
      if (looked.added) stream = plus(stream, looked.added);
      if (has(`${name}.widen`) && !isOff(block, "maps"))
        stream = plus(stream, think(name, norm(`${name}.norm_maps`, stream)));
    });
    const readout = layer(has("readout") ? "readout" : "embedding");
    return { token, logits: linear(readout, norm("norm", stream)), weights, memory };
  };

  return { step };
};

// What has been read stays read: of a text that begins like the one before, the rest alone is new.
const remembered = (model) => {
  let line = [],
    silent;
  return (tokens, off, isOff) => {
    if (off !== silent) line = [];
    silent = off;
    const same = tokens.findIndex((token, i) => line[i]?.token !== token);
    const fresh = same < 0 ? [] : tokens.slice(same);
    line.length = tokens.length - fresh.length;
    for (const token of fresh) line.push(model.step(token, line, isOff));
    return { ...line.at(-1), fresh: fresh.length };
  };
};
