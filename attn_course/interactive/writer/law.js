// From logits to the next token: `next_token_law` of `attn_course.transformer`. `order` has all
// tokens, the most probable first.
const nextTokenLaw = (logits, temperature, topP) => {
  const order = [...logits.keys()].sort((a, b) => logits[b] - logits[a]);
  if (!temperature) return { order, law: logits.map((_, i) => Number(i === order[0])) };
  const shares = softmax(logits.map((one) => one / temperature));
  let before = 0; // what more probable tokens have together
  const kept = new Set();
  for (const i of order) {
    if (before < topP) kept.add(i); // the one with which the sum reaches it is the last
    before += shares[i];
  }
  const together = [...kept].reduce((total, i) => total + shares[i], 0);
  return { order, law: shares.map((share, i) => (kept.has(i) ? share / together : 0)) };
};

// The number from 0 to 1 that decides draw `n` of a seed: the end of MurmurHash3.
const chance = (seed, n) => {
  let bits = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
};

// The first token, from the most probable one on, with which the sum exceeds the number.
const drawnFrom = ({ order, law }, number) => {
  let reached = 0;
  return order.find((i) => (reached += law[i]) > number) ?? order[0];
};
