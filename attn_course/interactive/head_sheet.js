// All heads of a model as small pictures, a row for each layer.
const headSheet = (picture, { side }, colour) => {
  const frames = [...picture.querySelectorAll("[data-head]")];
  const image = picture.querySelector("image");

  // share: the weight that piece `i` gives to piece `j` in a head of a layer
  const draw = ({ shape: [layers, heads], length, share }) => {
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
        all.data.set([...colour, Math.round(255 * weight)], 4 * (y * canvas.width + x));
      }
    pen.putImageData(all, 0, 0);
    image.setAttribute("href", canvas.toDataURL());
    for (const frame of frames)
      for (const way of ["width", "height"]) frame.setAttribute(way, (side * length) / dots);
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

  picture.setAttribute("role", "group");
  for (const frame of frames) {
    const [layer, head] = frame.dataset.head.split(",");
    frame.setAttribute("role", "button");
    frame.setAttribute("aria-label", `layer ${layer}, head ${head}`);
  }
  return { draw, mark, listen };
};
