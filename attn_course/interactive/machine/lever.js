// The blend of numbers is where a lever balances that carries the weight of each key at its value.
const drawLever = (pen, [x, y, width, height], { weights, values, output, empty }, [low, high]) => {
  const place = (value) => x + 26 + ((value - low) / (high - low)) * (width - 52);
  const beam = y + height - 36,
    opacity = pen.seen(3),
    at = place(output);
  const ends = [
    [place(low), beam],
    [place(high), beam],
  ];
  pen.line("beam", ends, "ink", { line: 3, opacity: 0.25 + 0.3 * opacity });
  const most = pen.narrow ? 20 : 26; // a ball leaves the name of its neighbour free
  const radius = (j) => Math.sqrt(weights[j]) * most * opacity;
  values.forEach((value, j) => {
    pen.disc(`load${j}`, [place(value), beam - radius(j) - 1], radius(j), "weight");
    pen.disc(`place${j}`, [place(value), beam], 4, "value");
  });
  values.forEach((value, j) => {
    const look = { at: "middle", bold: true, halo: true };
    pen.text(
      `place${j}-is`,
      place(value),
      beam - 2 * radius(j) - 13,
      shown(value, 0),
      "value",
      look,
    );
  });
  const seen = empty ? 0 : opacity;
  const foot = [
    [at, beam + 3],
    [at - 10, beam + 19],
    [at + 10, beam + 19],
  ];
  pen.path(
    "pivot",
    `M${foot.map((point) => point.map((one) => one.toFixed(1))).join("L")}Z`,
    "output",
    { opacity: seen },
  );
  const side = at > x + width - 120 ? "end" : "start",
    text = `output ${shown(output)}`;
  pen.text("pivot-is", at + (side === "end" ? -15 : 15), beam + 17, text, "output", {
    at: side,
    bold: true,
    opacity: seen,
  });
};
