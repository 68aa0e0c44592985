// A link carries the state of a figure: `#lab=alignment&word=4`, and so on for all named controls.
const attnControls = (form) => [...form.elements].filter((one) => one.name);
const attnAnnounce = (form) => form.dispatchEvent(new Event("input", { bubbles: true }));
const attnStateOf = (name, form) => {
  const state = new URLSearchParams({ lab: name });
  for (const one of attnControls(form))
    if (!["checkbox", "radio"].includes(one.type) || one.checked) state.set(one.name, one.value);
  return `#${state}`;
};
const attnRestore = (name, root, form) => {
  const state = new URLSearchParams(location.hash.slice(1));
  if (state.get("lab") !== name) return;
  root.scrollIntoView();
  if ([...state].length === 1) return; // the figure as it stands, with the boxes that are checked
  for (const one of attnControls(form)) {
    const wanted = state.get(one.name);
    if (one.type === "checkbox") one.checked = one.value === wanted;
    else if (wanted === null) continue;
    else if (one.type === "radio") one.checked = one.value === wanted;
    else {
      if (one.value !== wanted) one.closest("details")?.setAttribute("open", ""); // it is seen
      one.value = wanted;
    }
  }
  attnAnnounce(form);
  root.scrollIntoView(); // what has opened has moved it
};

// What figures do with their form, their readings and their parts; `part` finds one by its name.
const attnParts = (root) => {
  const form = root.querySelector("form"),
    picture = root.querySelector(".attn-picture > svg");
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const value = (name) => form.elements[name].value;
  const keep = (values) => {
    for (const name in values) form.elements[name].value = values[name];
  };
  const change = (values = {}) => {
    keep(values);
    attnAnnounce(form);
  };
  const write = (name, text) => (part(name).textContent = text);
  const put = (name, attributes) => {
    for (const key in attributes) part(name).setAttribute(key, attributes[key]);
  };
  // a reading that says nothing is hidden
  const show = (name, ...said) => {
    const reading = part(`${name}-reading`);
    reading.replaceChildren(...said);
    reading.parentElement.hidden = !reading.textContent;
  };
  // what is wrong is said beside the box that holds it, or the fold in which that is; and the answer
  // to another is greyed
  const trouble = (text = "", isStale = Boolean(text)) => {
    const typed = form.querySelector(".attn-typed");
    (typed?.closest("details:not([open])") ?? typed)?.after(part("trouble"));
    root.toggleAttribute("data-stale", isStale);
    write("trouble", text);
    part("trouble").hidden = !text;
  };
  // the code that has just run
  const ran = (...code) => write("code", code.map((one) => `${one.name} = ${one}`).join("\n\n"));
  return { form, picture, part, value, keep, change, write, put, show, trouble, ran };
};

const attnElement = (name, attributes, ...content) => {
  const { namespaceURI } = document.querySelector(".attn-picture > svg");
  const node = document.createElementNS(namespaceURI, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.append(...content);
  return node;
};

// A share of one in percents; halves go up.
const percent = (share, digits = 0) => `${Number((100 * share).toFixed(digits))}%`;

// Where an arrow key goes in a table, [down, right]; undefined for another key, and for one that is
// held with another.
const attnArrow = ({ key, ctrlKey, altKey, metaKey }) =>
  ctrlKey || altKey || metaKey
    ? undefined
    : { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
const attnTake = (event) => {
  event.preventDefault(); // the page does not scroll
  event.stopPropagation(); // and JupyterLab does not take the key as its own
};

// From numbers to places in the picture; a number outside the range goes to its end.
const attnScale =
  ([low, high, start, stop]) =>
  (number) =>
    start + ((Math.min(Math.max(number, low), high) - low) / (high - low)) * (stop - start);

// `follow` gets the place across the picture, from the press of a button or finger to its end, if
// `isGrip` holds of the event of the press.
const attnDrag = (picture, follow, isGrip = () => true) => {
  const across = ({ clientX }) => {
    const { left, width } = picture.getBoundingClientRect();
    return ((clientX - left) / width) * picture.viewBox.baseVal.width;
  };
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !isGrip(event)) return;
    picture.setPointerCapture(event.pointerId);
    follow(across(event));
  });
  picture.addEventListener("pointermove", (event) => {
    if (picture.hasPointerCapture(event.pointerId)) follow(across(event));
  });
};

// Control and effect are seen together. If they need more than a screen, the picture stays in sight
// while its controls are used; a picture too tall for that leaves them in sight. If they need little
// more, both move on with the page: what stays would lie over the other.
const TALL = 0.62, // of a screen
  LITTLE = 0.18, // of the picture
  BAR = 80; // pixels that a page may have above it
const attnPin = (root, form, box) => {
  const pin = () => {
    root.dataset.pinned = ""; // what stays in sight lies elsewhere than it would
    const [picture, controls] = [box, form].map((one) => one.getBoundingClientRect()),
      high = picture.height,
      span = Math.max(picture.bottom, controls.bottom) - Math.min(picture.top, controls.top);
    const fits = span < innerHeight - BAR + LITTLE * high;
    root.dataset.pinned = fits ? "" : high < TALL * innerHeight ? "picture" : "form";
    root.style.setProperty("--attn-pinned", `${Math.round(high)}px`);
  };
  const sizes = new ResizeObserver(pin);
  for (const one of [box, form]) sizes.observe(one); // a fold of the controls may open
  addEventListener("resize", pin);
  pin();
};

// Start every figure of this name that is on the page and not alive yet. In place of its first
// picture it gets an empty one, in which its script draws. `start` gets the figure, its numbers, `say`, which shows a sentence to screen readers once the reader has paused, and its
// `attnParts`.
const attnFigure = (name, start) => {
  for (const root of document.querySelectorAll(`.attn-figure[data-figure="${name}"]`)) {
    if ("live" in root.dataset) continue;
    root.dataset.live = "";
    let pause;
    let started = false; // nobody has asked for anything yet: a page that opens stays silent
    const say = (sentence) => {
      root.querySelector(".attn-sentence").textContent = sentence;
      root.querySelector(".attn-picture > svg").setAttribute("aria-label", sentence);
      if (!started) return;
      clearTimeout(pause);
      pause = setTimeout(() => {
        root.querySelector("[role=status]").textContent = sentence;
      }, 700);
    };
    const box = root.querySelector(".attn-picture"),
      form = root.querySelector("form");
    box.replaceChildren(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    form.addEventListener("submit", (event) => event.preventDefault());
    // JupyterLab takes the arrow keys of the whole page as its own
    form.addEventListener("keydown", (event) => {
      if (event.key.startsWith("Arrow")) event.stopPropagation();
    });
    const data = root.querySelector("script[type='application/json']").textContent;
    start(root, JSON.parse(data), say, attnParts(root));
    started = true;
    form.hidden = false;
    const link = document.createElement("a");
    Object.assign(link, { className: "attn-link", textContent: "link to this state", href: "" });
    const renew = () => (link.href = attnStateOf(name, form));
    for (const event of ["pointerenter", "focus"]) link.addEventListener(event, renew);
    for (const event of ["input", "click", "keyup", "pointerup"])
      root.addEventListener(event, renew); // it may be copied at any time
    form.append(link);
    renew();
    attnPin(root, form, box);
    attnRestore(name, root, form);
    addEventListener("hashchange", () => attnRestore(name, root, form));
    // a link that is pressed again changes no address
    addEventListener("click", ({ target }) => {
      if (target.closest("a")?.href === location.href) attnRestore(name, root, form);
    });
  }
};
