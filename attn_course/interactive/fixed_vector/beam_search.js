const logSoftmax = (logits) => {
  const best = logits.reduce((one, other) => Math.max(one, other));
  const total = Math.log(sum(logits.map((one) => Math.exp(one - best))));
  return logits.map((one) => one - best - total);
};

// Keep the `width` most probable beginnings at each step, until none can overtake the best sentence
// that has ended. Sentences are ranked by log-probability divided by a power of their length.
const beamSearch = (model, source, width, power = 0, shown = 4) => {
  const most = Math.floor(1.5 * source.length) + 5,
    steps = [],
    count = Math.max(width, shown);
  const hasEnded = ({ words }) => words.at(-1) === EOS;
  const best = (scores) => scores.reduce((one, other) => Math.max(one, other), -Infinity);
  let beam = [{ words: [], total: 0, memory: model.start(source) }],
    isDecided = false;
  while (steps.length < most && !isDecided) {
    const longer = beam.flatMap((begun, parent) => {
      if (hasEnded(begun)) return [{ begun, parent, total: begun.total }];
      const { logits, memory } = model.step(begun.words.at(-1) ?? BOS, begun.memory);
      const sure = logSoftmax(logits);
      const words = [...sure.keys()].slice(EOS); // PAD and BOS are no words
      words.sort((one, other) => sure[other] - sure[one]);
      return words
        .slice(0, count)
        .map((word) => ({ begun, parent, word, memory, total: begun.total + sure[word] }));
    });
    longer.sort((one, other) => other.total - one.total);
    const tried = longer.slice(0, count).map(({ begun, word, ...rest }) => ({
      memory: begun.memory,
      ...rest,
      words: word === undefined ? begun.words : [...begun.words, word],
    }));
    steps.push(tried);
    const scored = (one) => ({ ...one, score: one.total / one.words.length ** power });
    beam = tried.slice(0, width).map(scored);
    const ended = beam.filter(hasEnded).map(({ score }) => score);
    const open = beam.filter((one) => !hasEnded(one)).map(({ total }) => total / most ** power);
    isDecided = best(ended) >= best(open);
  }
  const found = beam.map((one, place) => ({ ...one, place }));
  return { steps, found: found.sort((one, other) => other.score - one.score) };
};
