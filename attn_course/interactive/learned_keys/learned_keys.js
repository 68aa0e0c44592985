// Keys that are colours, seen along the greys: they go apart among the colours that they learn from.
// To the right red against green, to the top yellow against blue.
const seenAlongGrey = ([r, g, b]) => [r - g, (r + g) / 2 - b];
const LETTERS = 54, // pixels for the name of a word
  PATCHES = { key: [LETTERS, 40], mean: [LETTERS + 46, 30] }; // where each column begins, and its width

const painted = ([r, g, b]) =>
  `fill: rgb(${[r, g, b].map((part) => Math.round(255 * clamp(part, 0, 1))).join()})`;

// The colours that were asked, as dots, and the keys, as discs with a rim; all keys may be one.
const drawAmong = (pen, side, { keys, after }, { asked, words }) => {
  const plane = planeOf(pen, "plane", [0, 26, side, side], [-1.1, 1.1, -1.1, 1.1]),
    [dot, disc] = pen.narrow ? [2.2, 7] : [3.2, 10];
  const put = (id, colour, r) => {
    const [cx, cy] = plane.to(seenAlongGrey(colour));
    pen.put(id, "circle", { cx, cy, r, style: painted(colour) });
    return [cx, cy];
  };
  asked.forEach((colour, i) => put(`asked${i}`, colour, dot));
  const places = keys.map((colour, j) => {
    const place = put(`key${j}`, colour, disc);
    pen.disc(`rim${j}`, place, disc + 1, "key", { line: 2.5 });
    pen.keepFree(place, disc);
    return place;
  });
  const looks = { bold: true, halo: true, within: [0, side] };
  const around = ([x, y], far) =>
    [0, -14, 14].flatMap((up) => [
      [x + far, y + up, "start"],
      [x - far, y + up, "end"],
    ]);
  if (!after) pen.name("all", around(places[0], disc + 6), "all eight keys", "key", looks);
  else
    words.forEach((word, j) =>
      pen.name(`name${j}`, around(places[j], disc + 6), word, "key", looks),
    );
  pen.text(
    "title",
    0,
    8,
    pen.narrow ? "keys, queries" : "keys (rings) among their queries",
    "key",
    {
      bold: true,
    },
  );
};

// A row for each word: the colour of its key, and its mean colour.
const drawPatches = (pen, [x, y, height], { keys }, { words, means }) => {
  const tall = height / words.length;
  const columns = Object.entries({ key: keys, mean: means });
  for (const [name] of columns) {
    const [left, wide] = PATCHES[name];
    pen.text(`head-${name}`, x + left + wide / 2, y - 18, name, "ink", { at: "middle" });
  }
  words.forEach((word, j) => {
    const middle = y + tall * (j + 0.5);
    pen.text(`word${j}`, x, middle, word, "ink");
    for (const [name, colours] of columns) {
      const [left, width] = PATCHES[name];
      const box = { x: x + left, y: middle - tall / 2 + 2, width, height: tall - 4, rx: 3 };
      pen.put(`${name}-patch${j}`, "rect", { ...box, style: painted(colours[j]) });
    }
  });
};

attnMachine("learned-keys", {
  model: ({ after }, { stops, keys, right }) => {
    const at = stops.after.indexOf(after);
    return { after, keys: keys[at], right: right[at] };
  },
  acts: {
    *learn(state, { stops }) {
      for (const after of stops.after.keys()) yield { after };
    },
  },
  draw(pen, state, model, set, data) {
    const list = PATCHES.mean[0] + PATCHES.mean[1],
      side = Math.min(pen.width - list - (pen.narrow ? 12 : 60), 400);
    drawAmong(pen, side, model, data);
    drawPatches(pen, [pen.width - list, 26, side], model, data);
    return side + 30;
  },
  say: (state, { after, right }, step, { words }) =>
    `After ${after} ${after === 1 ? "step" : "steps"} the eight keys name ${percent(right)} of new colours` +
    (after ? "." : `: all tie, so ${words[0]} wins.`),
});
