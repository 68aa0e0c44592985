// Strokes are what SVG draws: `M3 4L5 6`, in points of which a cell has 128. A cell turns them into
// 8 x 8 pixels as the digits were made that the captioner learned from: fitted to the cell, drawn
// on 32 x 32 points, and counted in squares of 4 x 4.
const CELL = 8,
  POINTS = 128,
  FINE = 32,
  PEN = 2.5;

const strokesOf = (drawn) =>
  drawn
    .split("M")
    .slice(1)
    .map((stroke) => stroke.split("L").map((point) => point.split(" ").map(Number)));

const written = (strokes) =>
  strokes.map((stroke) => `M${stroke.map((point) => point.join(" ")).join("L")}`).join("");

const box = (points) =>
  [0, 1].map((axis) => {
    const found = points.map((point) => point[axis]);
    return [Math.min(...found), Math.max(...found)];
  });

// The cell that holds the middle of a stroke; a stroke may leave it.
const cellOfStroke = (stroke, grid) => {
  const [column, row] = box(stroke).map(([low, high]) =>
    Math.min(Math.max(Math.floor((low + high) / 2 / POINTS), 0), grid - 1),
  );
  return row * grid + column;
};

// From points of the picture to points of the cell.
const within = (strokes, cell, grid) => {
  const corner = [cell % grid, Math.floor(cell / grid)];
  return strokes.map((stroke) =>
    stroke.map((point) => point.map((at, axis) => (at - POINTS * corner[axis]) * (FINE / POINTS))),
  );
};

// Moved to the middle, and enlarged up to threefold until the ink reaches the rim.
const fit = (strokes) => {
  const [across, down] = box(strokes.flat()),
    most = FINE - 2 * PEN;
  const scale = Math.min(3, most / (across[1] - across[0]), most / (down[1] - down[0]));
  const middle = [across, down].map(([low, high]) => (low + high) / 2);
  return strokes.map((stroke) =>
    stroke.map((point) => point.map((at, axis) => (at - middle[axis]) * scale + FINE / 2)),
  );
};

// The pixels of a cell, each with the number of its 16 points that the pen has covered.
const covered = (strokes) => {
  const pixels = Array.from({ length: CELL * CELL }, () => 0),
    square = FINE / CELL;
  const lines = strokes.flatMap((stroke) =>
    stroke.map((to, i) => [stroke[Math.max(i - 1, 0)], to]),
  );
  for (let y = 0; y < FINE; y++)
    for (let x = 0; x < FINE; x++) {
      const isCovered = lines.some(([[a, b], [c, d]]) => {
        const long = (c - a) ** 2 + (d - b) ** 2,
          [u, v] = [x + 0.5 - a, y + 0.5 - b];
        const along = long ? Math.min(Math.max((u * (c - a) + v * (d - b)) / long, 0), 1) : 0;
        return (u - along * (c - a)) ** 2 + (v - along * (d - b)) ** 2 <= PEN * PEN;
      });
      if (isCovered) pixels[Math.floor(y / square) * CELL + Math.floor(x / square)]++;
    }
  return pixels;
};

// The ink of each cell, in sixteenths: a sample, strokes, or strokes as they are upon a sample.
const inkOf = (strokes, samples, grid) =>
  samples.map((sample, cell) => {
    const own = strokes.filter((stroke) => cellOfStroke(stroke, grid) === cell);
    const under = sample ?? Array.from({ length: CELL * CELL }, () => 0);
    if (!own.length) return under;
    const placed = within(own, cell, grid),
      over = covered(sample ? placed : fit(placed));
    return under.map((ink, pixel) => Math.max(ink, over[pixel]));
  });

// All cells as one image: rows of pixels from 0 to 1, each a vector of one number.
const imageOf = (ink, grid) =>
  Array.from({ length: CELL * grid }, (_, y) =>
    Array.from({ length: CELL * grid }, (_, x) => {
      const cell = Math.floor(y / CELL) * grid + Math.floor(x / CELL);
      return [ink[cell][(y % CELL) * CELL + (x % CELL)] / 16];
    }),
  );
