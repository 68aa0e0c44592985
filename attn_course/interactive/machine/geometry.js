// A plane of vectors, the rows of the machine beside it, the lever below: where scores have a shape.
// Without values it ends at the weights.
const VALUES = [10, 20, 90];

const drawGeometry = (pen, { off }, model, set, drawPlane, values = VALUES) => {
  const side = pen.narrow ? 206 : 300,
    shownModel = { ...model, values };
  drawPlane([0, 26, side, side]);
  const [x, y] = pen.narrow ? [0, side + 42] : [side + 24, 6];
  const tall = pen.narrow ? 160 : 190;
  drawRows(pen, [x, y, pen.width - x, tall], shownModel, {
    names: ["1", "2", "3"],
    range: 4,
    off,
    mask: (j) => set({ off: off.with(j, 1 - off[j]) }),
  });
  const below = pen.narrow ? y + tall + 2 : side + 32;
  if (!values) return pen.narrow ? below : side + 34;
  drawLever(pen, [0, below, pen.width, 112], shownModel, [0, 100]);
  return below + 112;
};

const sayGeometry = ({ query, off }, how, { scores, weights, output, empty }, step) => {
  if (empty) return "Every key is masked: nothing is left to share out.";
  const parts = [
    `The query ${shownPair(query)}${how} has the scores ${listed(masked(scores, off))}`,
  ];
  if (step > 1) parts.push(`${step > 2 ? "" : "and "}the weights ${listed(weights)}`);
  if (step > 2) parts.push(`and the output ${shown(output)}`);
  return `${parts.join(", ").replace(", and", " and")}.`;
};
