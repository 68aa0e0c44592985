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
      root.querySelector(":scope > svg").setAttribute("aria-label", sentence);
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
  }
};
