// The slides of a chapter: one figure at a time, in the state of its link, and its question above.
const slides = [...document.querySelectorAll(".slides a")];
const figures = [...document.querySelectorAll(".attn-figure")];
const named = (hash) => new URLSearchParams(hash.slice(1));

// What the controls hold before anybody has touched them: a slide that was shown must not tell on
// the next one of the same figure. A link with a state leaves the boxes unchecked that it does not
// name, as everywhere.
const untouched = new Map(
  figures.map((one) => [one.dataset.figure, [...new FormData(one.querySelector("form"))]]),
);
const boxes = new Set(
  [...document.querySelectorAll(".attn-figure [type=checkbox]")].map((one) => one.name),
);
for (const link of slides) {
  const wanted = named(link.hash),
    isState = [...wanted].length > 1;
  for (const [name, value] of untouched.get(wanted.get("lab")))
    if (!wanted.has(name) && !(isState && boxes.has(name))) wanted.append(name, value);
  link.hash = `#${wanted}`;
}

let place = Math.max(
  slides.findIndex((link) => link.hash === location.hash),
  0,
);
const show = () => {
  const link = slides[place];
  for (const one of figures) one.hidden = one.dataset.figure !== named(link.hash).get("lab");
  document.querySelector("h1").textContent = link.textContent;
  document.querySelector("nav [role=status]").textContent = `${place + 1} of ${slides.length}`;
  for (const button of document.querySelectorAll("[data-step]"))
    button.disabled = !slides[place + Number(button.dataset.step)];
};
const go = (step) => {
  if (!slides[place + step]) return;
  place += step;
  show();
  location.hash = slides[place].hash; // at which its figure takes the state
};
document.querySelector("ol.slides").hidden = true;
for (const button of document.querySelectorAll("[data-step]"))
  button.addEventListener("click", () => go(Number(button.dataset.step)));
document
  .querySelector("[data-full]")
  .addEventListener("click", () =>
    document.fullscreenElement
      ? document.exitFullscreen()
      : document.documentElement.requestFullscreen(),
  );
addEventListener("keydown", (event) => {
  const step = { PageDown: 1, PageUp: -1 }[event.key];
  if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  go(step);
});
addEventListener("hashchange", () => {
  const found = slides.findIndex((link) => link.hash === location.hash);
  if (found < 0 || found === place) return;
  place = found;
  show();
});
show();
location.replace(slides[place].hash);
