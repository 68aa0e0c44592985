// A link carries the state of a figure: `#lab=alignment&word=4`, and so on for all named controls.
const attnControls = (form) => [...form.elements].filter((one) => one.name);
const attnStateOf = (name, form) => {
  const state = new URLSearchParams({ lab: name });
  for (const one of attnControls(form))
    if (!["checkbox", "radio"].includes(one.type) || one.checked) state.set(one.name, one.value);
  return `#${state}`;
};
const attnRestore = (name, root, form) => {
  const state = new URLSearchParams(location.hash.slice(1));
  if (state.get("lab") !== name) return;
  for (const one of attnControls(form)) {
    const wanted = state.get(one.name);
    if (one.type === "checkbox") one.checked = one.value === wanted;
    else if (wanted === null) continue;
    else if (one.type === "radio") one.checked = one.value === wanted;
    else one.value = wanted;
  }
  form.dispatchEvent(new Event("input", { bubbles: true }));
  root.scrollIntoView();
};

// Start every figure of this name that is on the page and not alive yet. `start` gets the figure,
// its numbers, and `say`, which shows a sentence to screen readers once the reader has paused.
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
    const form = root.querySelector("form");
    form.addEventListener("submit", (event) => event.preventDefault());
    // JupyterLab takes the arrow keys of the whole page as its own
    form.addEventListener("keydown", (event) => {
      if (event.key.startsWith("Arrow")) event.stopPropagation();
    });
    start(root, JSON.parse(root.querySelector("script[type='application/json']").textContent), say);
    started = true;
    form.hidden = false;
    const link = document.createElement("a");
    Object.assign(link, { className: "attn-link", textContent: "link to this state", href: "" });
    const renew = () => (link.href = attnStateOf(name, form));
    for (const event of ["pointerenter", "focus"]) link.addEventListener(event, renew);
    form.append(link);
    renew();
    attnRestore(name, root, form);
    addEventListener("hashchange", () => attnRestore(name, root, form));
  }
};
