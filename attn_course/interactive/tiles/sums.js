// A softmax that meets its keys in tiles, and what crosses between the two memories meanwhile.

// What a query keeps after one more tile of keys. What it had before is multiplied by `factor`.
const meet = (before, scores, values) => {
  const best = Math.max(before.best, ...scores),
    factor = Math.exp(before.best - best),
    powers = scores.map((score) => Math.exp(score - best)),
    more = { total: total(powers), blend: dot(powers, values) };
  return {
    best,
    factor,
    more,
    total: before.total * factor + more.total,
    blend: before.blend * factor + more.blend,
  };
};
const NO_KEY = { best: -Infinity, total: 0, blend: 0 };

// Numbers that have crossed when so many tiles are done: a block of queries comes in before its
// first tile, keys and values before each, and a block of the output goes out after the last.
const crossedBy = (tiles, B, side, wide) =>
  B * wide * (Math.ceil(tiles / side) + 2 * tiles + Math.floor(tiles / side));

// `at` counts the keys that have passed, block of queries after block of queries.
const tilesModel = ({ scores, at, B }, { values, wide, reach }) => {
  const n = values.length,
    side = n / B, // tiles in a row
    count = side ** 2,
    tile = clamp(Math.ceil(at[0] / B), 0, count),
    row = Math.max(0, Math.ceil(tile / side) - 1),
    heard = scores.map((score) => near(clamp(score, ...reach)));
  const history = [];
  for (let j = 0; j < n; j += B)
    history.push(meet(history.at(-1) ?? NO_KEY, heard.slice(j, j + B), values.slice(j, j + B)));
  const met = Math.min(tile, side), // tiles that the first query has met
    sums = history[met - 1] ?? NO_KEY;
  return {
    n,
    side,
    count,
    tile,
    row,
    column: tile - row * side - 1,
    heard,
    history,
    met,
    sums,
    before: history[met - 2] ?? NO_KEY,
    seen: met * B,
    whole: attend(heard, values).output,
    crossed: crossedBy(tile, B, side, wide),
    all: crossedBy(count, B, side, wide),
    byTable: 4 * n * (n + wide),
    room: B * (3 * wide + B + 2 + wide), // queries, keys and values, a tile, and the sums
  };
};
