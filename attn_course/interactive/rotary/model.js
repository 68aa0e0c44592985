// Rotary positions: pair i turns its two numbers by position * base ** (-i / pairs) radians.
const FINE = 4; // points of a curve from one distance to the next

const turn = ([x, y], angle) => {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [x * cosine - y * sine, x * sine + y * cosine];
};
// A vector of at most this length, in digits that a link can carry.
const bounded = (vector, longest) => {
  const shrunk = Math.min(1, longest / (Math.hypot(...vector) || 1));
  return vector.map((one) => near(shrunk * one, 0.001));
};

// The vectors, their scores pair by pair, and the head's score at every distance from one end to the other.
const turnedModel = (state, { pairs, last, longest }) => {
  const [query, key] = [state.query, state.key].map((vector) => bounded(vector, longest)),
    { m, n, base } = state,
    pair = clamp(Math.round(state.pair[0]), 0, pairs - 1);
  const speeds = Array.from({ length: pairs }, (_, i) => base ** (-i / pairs)),
    turned = speeds.map((speed) => [turn(query, m * speed), turn(key, n * speed)]),
    scores = turned.map(([one, other]) => dot(one, other)),
    headAt = (distance) => total(speeds.map((speed) => dot(query, turn(key, distance * speed))));
  return {
    query,
    key,
    pair,
    speeds,
    turned,
    scores,
    head: total(scores),
    curve: Array.from({ length: 2 * FINE * last + 1 }, (_, i) => headAt(i / FINE - last)),
  };
};
