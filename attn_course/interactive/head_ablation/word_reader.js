// The readers of chapter 09: one word asks in every head, and a linear layer reads their outputs.
const wordReader = (tensors, numHeads) => {
  const layer = layerOf(tensors),
    vectors = { weight: tensors["positions.vectors"] };
  const wide = vectors.weight.shape[1],
    narrow = wide / numHeads;
  const heads = Array.from({ length: numHeads }, (_, head) => head);
  const part = (x, head) => x.slice(head * narrow, (head + 1) * narrow);
  const project = (role, x) => linear(layer(`attention.project_${role}`), x);

  const read = (words, asking, off) => {
    const vectorOf = (word) => Float64Array.from(embed(layer("embedding"), word));
    const tokens = words.map((word, t) => plus(vectorOf(word), embed(vectors, t)));
    const query = project("query", tokens[asking]);
    const keys = tokens.map((token) => project("key", token));
    const values = tokens.map((token) => project("value", token));
    const score = (key, head) => dot(part(query, head), part(key, head)) / Math.sqrt(narrow);
    const weights = heads.map((head) => softmax(keys.map((key) => score(key, head))));
    const outputs = weights.map((row, head) =>
      off.includes(head)
        ? new Float64Array(narrow) // a silent head says nothing, wherever it looks
        : blend(
            row,
            values.map((value) => part(value, head)),
          ),
    );
    const logits = linear(layer("read_out"), project("output", concat(...outputs)));
    const half = logits.length / 2; // one answer for each place of the comma
    const shares = [softmax(logits.slice(0, half)), softmax(logits.slice(half))];
    return { weights, answers: shares.map(largest), sure: shares.map((one) => Math.max(...one)) };
  };
  return { read };
};
