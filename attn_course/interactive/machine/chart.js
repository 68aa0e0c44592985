// The parts of charts: a scale, lines across with their numbers, and bars.
const scaleOf = (low, high, start, stop) => {
  const scale = (number) => start + ((number - low) / (high - low)) * (stop - start);
  scale.back = (place) => clamp(low + ((place - start) / (stop - start)) * (high - low), low, high);
  return scale;
};

const drawLevels = (pen, key, [left, right], up, levels) =>
  levels.forEach((level, i) => {
    const line = [
      [left, up(level)],
      [right, up(level)],
    ];
    pen.line(`${key}${level}`, line, "ink", { line: 1, opacity: i ? 0.12 : 0.5 });
    const look = { at: "end", small: true, opacity: 0.75 };
    pen.text(`${key}${level}-is`, left - 6, up(level), level, "ink", look);
  });

// Where a line is looked at: evenly, and on both sides of every edge, so that steps are upright.
const placesOn = ([low, high], edges) => {
  const even = Array.from({ length: 141 }, (_, i) => low + (i / 140) * (high - low));
  const beside = edges.flatMap((edge) => [edge - 1e-6, edge + 1e-6]);
  const seen = beside.filter((place) => place > low && place < high);
  return [...even, ...seen].sort((one, other) => one - other);
};

// Upright bars in a box, from 0 on; `low` for numbers below it.
const drawBars = (pen, key, [x, y, width, height], numbers, [low, most], role, looks = {}) => {
  const up = scaleOf(low, most, y + height, y),
    wide = width / numbers.length;
  numbers.forEach((number, j) => {
    const [top, bottom] = [up(Math.max(number, 0)), up(Math.min(number, 0))];
    const bar = [x + wide * (j + 0.14), top, wide * 0.72, bottom - top];
    pen.rect(`${key}${j}`, bar, role, { round: 1, ...looks });
  });
  const base = [
    [x, up(0)],
    [x + width, up(0)],
  ];
  pen.line(`${key}-base`, base, "ink", { line: 1, opacity: 0.45 });
};
