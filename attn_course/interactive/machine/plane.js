// Vectors of two numbers: arrows in a plane, and a matrix, which is where it sends two of them.
const planeOf = (pen, key, [x, y, width, height], [left, right, down, up], title, role = "ink") => {
  const unit = Math.min(width / (right - left), height / (up - down)),
    zero = [x + width / 2 - ((left + right) / 2) * unit, y + height / 2 + ((down + up) / 2) * unit];
  const to = ([a, b]) => [zero[0] + a * unit, zero[1] - b * unit];
  const back = (px, py) => [
    near((clamp(px, x + 6, x + width - 6) - zero[0]) / unit),
    near((zero[1] - clamp(py, y + 6, y + height - 6)) / unit),
  ];
  const plane = { pen, key, box: [x, y, width, height], unit, zero, to, names: [] };
  pen.rect(`${key}-paper`, plane.box, role, { opacity: 0.06, round: 8 });
  pen.inside(`${key}-lines`, plane.box, () => drawLines(plane));
  if (title) pen.text(`${key}-title`, x + 2, y - 11, title, role, { bold: true });

  // what points out of the plane ends at its edge
  plane.inside = (id, draw) => pen.inside(`${key}-${id}-inside`, plane.box, draw);
  plane.arrow = (id, vector, tone, { from = [0, 0], name, written, ...looks } = {}) => {
    plane.inside(id, () => pen.arrow(`${key}-${id}-arrow`, to(from), to(vector), tone, looks));
    if (name) plane.names.push([id, vector, name, tone, written ?? looks.opacity]);
  };
  // names come last: they take the first free place around the tip, a few pixels outside at most
  plane.write = (outside = 0) => {
    for (const [id, vector, name, tone, opacity] of plane.names)
      pen.name(`${key}-${id}-name`, placesAt(plane, vector, name), name, tone, {
        bold: true,
        halo: true,
        opacity,
        within: [x - outside, x + width + outside],
      });
  };
  plane.grip = (id, vector, label, tone, set, looks = {}) => {
    const [low, high] = [back(x, y + height), back(x + width, y)];
    putGrip(pen, `${key}-${id}`, to(vector), {
      label,
      knob: tone,
      across: [vector[0], low[0], high[0]],
      up: [vector[1], low[1], high[1]],
      step: unit * 0.1,
      move: (px, py) => set(back(px, py)),
      ...looks,
    });
  };
  return plane;
};

const drawLines = ({ pen, key, box: [x, y, width, height], unit, zero }) => {
  for (let i = -8; i <= 8; i++) {
    const looks = { line: 1, opacity: i ? 0.09 : 0.32 },
      [across, down] = [zero[0] + i * unit, zero[1] + i * unit];
    if (across > x && across < x + width)
      pen.line(
        `${key}-v${i}`,
        [
          [across, y],
          [across, y + height],
        ],
        "ink",
        looks,
      );
    if (down > y && down < y + height)
      pen.line(
        `${key}-h${i}`,
        [
          [x, down],
          [x + width, down],
        ],
        "ink",
        looks,
      );
  }
};

const placesAt = ({ to, box: [x, y, width, height] }, vector, name) => {
  const [px, py] = to(vector),
    out = vector[0] < 0 ? -1 : 1;
  const flat = Math.abs(vector[1]) < 0.4 * Math.abs(vector[0]),
    beside = [13 * out, 0],
    upright = vector[1] < 0 ? 19 : -19;
  const around = [
    ...(flat ? [[0, 19], [0, -19], beside] : [beside, [0, upright]]),
    [-13 * out, 0],
    [0, -upright],
    ...[-1, 1].flatMap((side) => [
      [15 * side, -17],
      [15 * side, 17],
      [10 * side, 32],
      [10 * side, -32],
    ]),
    [0, 37],
    [0, -37],
  ];
  const half = (name.length * LETTER.bold) / 2 + 1;
  return around.map(([right, down]) => {
    const edge = right ? 3 : half;
    return [
      clamp(px + right, x + edge, x + width - edge),
      clamp(py + down, y + 9, y + height - 9),
      right ? (right > 0 ? "start" : "end") : "middle",
    ];
  });
};

// What a matrix makes of a vector; `images` are those of (1, 0) and (0, 1).
const bend = (images, vector) => blend(vector, images);

// A matrix is dragged by its rows, the images of the two base vectors; they can have names, and be hollow.
const drawMatrix = (plane, id, images, set, { names, hollow } = {}) => {
  const [a, b] = images.map(plane.to),
    far = plane.to(bend(images, [1, 1]));
  const corners = [plane.zero, a, far, b].map((one) => one.map((c) => c.toFixed(1)).join());
  plane.inside(`${id}-cell`, () =>
    plane.pen.path(`${plane.key}-${id}-box`, `M${corners.join("L")}Z`, "ink", { opacity: 0.1 }),
  );
  images.forEach((image, c) => {
    const name = names?.[c] ?? `row ${c + 1}`;
    plane.grip(`${id}${c}`, image, `${id}, ${name}`, "ink", (to) => set(images.with(c, to)), {
      square: true,
      hollow,
    });
    if (names) plane.names.push([`${id}${c}`, image, name, "ink"]);
  });
};
