// What a reader can take: by mouse, by finger and by keyboard.
//
// A grip is a button (`press`), or it moves (`move`, which gets a place in the picture). One that
// moves is a slider, and a point in the plane two, one for each direction: `across` and `up` are
// [number, least, most, what it says]. `step` is what an arrow key moves, in pixels. An upright grip
// can be taken anywhere along the line through its place. What lies below is seen in a hollow knob.
const LONG = 44; // a wider grip follows the pointer itself

const putGrip = (pen, key, [x, y], grip) => {
  const box = grip.box ?? [x - 20, y - 20, 40, 40];
  pen.grips.set(key, { ...grip, key, x, y, box });
  if (grip.move) for (const way of ["across", "up"]) putSlider(pen, key, way, box, grip);
  else {
    const pressed = grip.pressed === undefined ? false : String(grip.pressed);
    putTarget(pen, key, "press", box, {
      role: "button",
      "aria-label": grip.label,
      "aria-pressed": pressed,
    });
  }
  const { knob, square, hollow, size = square && !hollow ? 5 : 7 } = grip;
  const at = square
    ? { x: x - size, y: y - size, width: 2 * size, height: 2 * size, rx: 2 }
    : { cx: x, cy: y, r: size };
  if (!knob) return;
  pen.keepFree([x, y], size);
  pen.put(`${key}-knob`, square ? "rect" : "circle", {
    ...at,
    class: `knob ${knob}`,
    "fill-opacity": hollow && 0.2,
  });
};

const putTarget = (pen, key, name, [x, y, width, height], said) => {
  const box = { x, y, width, height, rx: 8, class: "grip", tabindex: 0, "data-grip": key };
  pen.put(`${key}-${name}`, "rect", Object.assign(box, said));
};

const putSlider = (pen, key, way, [x, y, width, height], grip) => {
  if (!grip[way]) return;
  const [now, least, most, says = shown(now, 1)] = grip[way],
    both = grip.up && grip.across,
    thin = both ? 9 : 0; // two sliders at one place: one lies, one stands
  const box =
    way === "up"
      ? [x + thin, y, width - 2 * thin, height]
      : [x, y + thin, width, height - 2 * thin];
  putTarget(pen, key, way, box, {
    role: "slider",
    "aria-label": both ? `${grip.label}, ${way}` : grip.label,
    "aria-orientation": way === "up" ? "vertical" : "horizontal",
    "aria-valuemin": least,
    "aria-valuemax": most,
    "aria-valuenow": now,
    "aria-valuetext": says,
  });
};

const BESIDE = 10; // as near to a point, and it is the point that is meant, not the line through it

// The grip at a place: of several the nearest, and a long one before all others.
const gripAt = (pen, [x, y]) => {
  const distance = ({ box, ...grip }) => {
    const inside = x >= box[0] && x <= box[0] + box[2] && y >= box[1] && y <= box[1] + box[3];
    const away = Math.hypot(x - grip.x, y - grip.y),
      far = grip.upright ? Math.min(away, Math.abs(x - grip.x) + BESIDE) : away;
    return inside ? (box[2] > LONG ? 0 : far) : Infinity;
  };
  const [first] = [...pen.grips.values()].sort((a, b) => distance(a) - distance(b));
  return first && distance(first) < Infinity ? first : undefined;
};

// Mouse and finger: a press without a move is a click.
const listenToHands = (svg, pen) => {
  let held;
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  svg.addEventListener("pointerdown", (event) => {
    const from = place(event),
      grip = event.button === 0 && gripAt(pen, from);
    if (!grip) return;
    held = { grip, from, moved: false };
    svg.setPointerCapture(event.pointerId);
    const node = svg.querySelector(`[data-grip="${grip.key}"]`);
    node.focus({ preventScroll: true, focusVisible: false });
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const { grip, from } = held,
      [x, y] = place(event);
    held.moved ||= Math.hypot(x - from[0], y - from[1]) > 3;
    if (!held.moved || !grip.move) return;
    if (grip.box[2] > LONG) grip.move(x, y);
    else grip.move(x - from[0] + grip.x, y - from[1] + grip.y);
  });
  for (const type of ["pointerup", "pointercancel"])
    svg.addEventListener(type, (event) => {
      if (held && !held.moved && type === "pointerup") {
        if (held.grip.press) held.grip.press();
        else if (held.grip.box[2] > LONG) held.grip.move(...place(event));
      }
      held = undefined;
    });
};

// Keys: arrows move by a step, with Shift by five; Enter and the space bar press. On a line, up is
// more, and so is right.
const listenToKeys = (svg, pen) =>
  svg.addEventListener("keydown", (event) => {
    const grip = pen.grips.get(event.target.dataset.grip),
      way = attnArrow(event);
    if (!grip) return;
    if (grip.press && ["Enter", " "].includes(event.key)) grip.press();
    else if (grip.move && way) {
      const [down, right] = way,
        many = event.shiftKey ? 5 : 1,
        [stepX, stepY = stepX] = [grip.step].flat();
      const along = grip.up ? right : right - down,
        below = grip.across ? down : down - right;
      grip.move(
        grip.x + (grip.across ? along * many * stepX : 0),
        grip.y + (grip.up ? below * many * stepY : 0),
      );
    } else return;
    attnTake(event);
  });
