// All heads of a model as small pictures, a row for each layer.
const headSheet = (picture, { shape: [layers, heads], colour }) => {
  const left = 28,
    top = 48,
    side = 40; // of a head's square
  const box = { x: left, y: top, width: side * heads, height: side * layers };
  const image = attnElement("image", { ...box, preserveAspectRatio: "none" });
  const names = [
    ["A row for each layer, a column for each head", left, 18],
    ...Array.from({ length: heads }, (_, j) => [j, left + side * (j + 0.5), top - 7, "middle"]),
    ...Array.from({ length: layers }, (_, i) => [i, left - 8, top + side * (i + 0.5), "end"]),
  ].map(([text, x, y, at = "start"]) => attnElement("text", { x, y, "text-anchor": at }, text));
  const frames = Array.from({ length: layers * heads }, (_, number) => {
    const [layer, head] = [Math.floor(number / heads), number % heads];
    const name = { "data-head": `${layer},${head}`, "aria-label": `layer ${layer}, head ${head}` };
    const place = { x: left + side * head, y: top + side * layer, role: "button" };
    return attnElement("rect", { ...name, ...place });
  });
  const fit = (length) => {
    for (const frame of frames)
      for (const way of ["width", "height"])
        frame.setAttribute(way, ((side * length) / (length + 1)).toFixed(2));
  };
  picture.setAttribute("viewBox", `0 0 ${left + box.width + 4} ${top + box.height + 4}`);
  picture.setAttribute("role", "group");
  picture.append(...names, image, ...frames);

  // share: the weight that piece `i` gives to piece `j` in a head of a layer
  const draw = ({ length, share }) => {
    const dots = length + 1; // a line of nothing keeps a table from its neighbours
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: heads * dots, height: layers * dots });
    const pen = canvas.getContext("2d"),
      all = pen.createImageData(canvas.width, canvas.height);
    for (let y = 0; y < canvas.height; y++)
      for (let x = 0; x < canvas.width; x++) {
        const i = y % dots,
          j = x % dots;
        const isGap = i === length || j === length;
        const weight = isGap ? 0 : share(Math.floor(y / dots), Math.floor(x / dots), i, j);
        // in even steps, which no eye tells apart, the picture is a good deal lighter
        all.data.set([...colour, 2 * Math.round(127.5 * weight)], 4 * (y * canvas.width + x));
      }
    pen.putImageData(all, 0, 0);
    image.setAttribute("href", canvas.toDataURL());
    fit(length);
  };

  const mark = (layer, head) => {
    for (const frame of frames) {
      const isHere = frame.dataset.head === `${layer},${head}`;
      frame.classList.toggle("attn-chosen", isHere);
      frame.setAttribute("tabindex", isHere ? "0" : "-1");
      frame.setAttribute("aria-pressed", isHere);
    }
  };

  const headOf = ({ target }) => target.dataset.head?.split(",").map(Number);
  const listen = (choose) => {
    picture.addEventListener("click", (event) => headOf(event) && choose(headOf(event)));
    picture.addEventListener("keydown", (event) => {
      const at = headOf(event),
        step = attnArrow(event);
      if (!at || !step) return;
      attnTake(event);
      const next = [at[0] + step[0], at[1] + step[1]];
      const frame = picture.querySelector(`[data-head="${next}"]`);
      if (frame) choose(next);
      frame?.focus();
    });
  };

  return { draw, mark, listen };
};
