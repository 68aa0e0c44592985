// The home page leads back to where a reader stopped. This browser alone remembers it.
(() => {
  const KEY = "attn-stopped",
    file = location.pathname.split("/").pop();
  const kept = (work) => {
    try {
      return work(localStorage);
    } catch {} // a browser may forbid it, and then nothing is remembered
  };
  const headingOf = (section) => {
    const heading = section.querySelector("h1, h2, h3, h4").cloneNode(true);
    for (const mark of heading.querySelectorAll(".section-number, .headerlink")) mark.remove();
    return heading.textContent.trim();
  };
  const note = () => {
    const sections = [...document.querySelectorAll("article section[id]")],
      seen = sections.filter((one) => one.getBoundingClientRect().top < innerHeight / 2),
      last = seen.at(-1) ?? sections[0],
      titles = [...new Set([sections[0], last].map(headingOf))];
    const stopped = { place: `${file}#${last.id}`, title: titles.join(": ") };
    kept((store) => store.setItem(KEY, JSON.stringify(stopped)));
  };
  const lead = () => {
    const { place = "", title = "" } = kept((store) => JSON.parse(store.getItem(KEY))) ?? {};
    if (!/^\d\d_\w+\.html#[\w-]+$/.test(place)) return;
    const line = document.createElement("p"),
      link = document.createElement("a"),
      forget = document.createElement("button");
    Object.assign(line, { className: "course-links" });
    Object.assign(link, { href: place, textContent: title });
    Object.assign(forget, { type: "button", textContent: "forget" });
    forget.addEventListener("click", () => {
      kept((store) => store.removeItem(KEY));
      line.remove();
    });
    line.append("Go on where you stopped: ", link, ". Only this browser remembers it: ", forget);
    document.querySelector("article h1").after(line);
  };
  if (/^\d\d_/.test(file)) {
    addEventListener("pagehide", note);
    addEventListener("visibilitychange", () => document.hidden && note());
  } else if (file === "intro.html") addEventListener("DOMContentLoaded", lead);
})();
