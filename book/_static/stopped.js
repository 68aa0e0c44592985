// The home page leads back to where a reader stopped, and says which cores they have read to the
// end. This browser alone remembers it.
(() => {
  const KEY = "attn-stopped",
    file = location.pathname.split("/").pop();
  let reached = false; // the end of the core
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
  const recalled = () => kept((store) => JSON.parse(store.getItem(KEY))) ?? {};
  const numbers = ({ read }) =>
    Array.isArray(read) ? read.filter((one) => /^\d\d$/.test(one)) : [];
  const note = () => {
    const sections = [...document.querySelectorAll("article section[id]")],
      seen = sections.filter((one) => one.getBoundingClientRect().top < innerHeight / 2),
      last = seen.at(-1) ?? sections[0],
      titles = [...new Set([sections[0], last].map(headingOf))],
      read = new Set(numbers(recalled()));
    if (reached) read.add(file.slice(0, 2));
    const stopped = {
      place: `${file}#${last.id}`,
      title: titles.join(": "),
      read: [...read].sort(),
    };
    kept((store) => store.setItem(KEY, JSON.stringify(stopped)));
  };
  const lead = () => {
    const { place = "", title = "", ...rest } = recalled(),
      read = numbers(rest);
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
    line.append("Go on where you stopped: ", link);
    if (read.length) line.append(`. Read to the end of the core: ${read.join(", ")}`);
    line.append(". Only this browser remembers it: ", forget);
    document.querySelector("article h1").after(line);
  };
  const watch = () => {
    const end = document.querySelector("#going-deeper h2");
    const see = (seen) => (reached ||= seen.some((one) => one.isIntersecting));
    if (end) new IntersectionObserver(see).observe(end);
  };
  if (/^\d\d_/.test(file)) {
    addEventListener("DOMContentLoaded", watch);
    addEventListener("pagehide", note);
    addEventListener("visibilitychange", () => document.hidden && note());
  } else if (file === "intro.html") addEventListener("DOMContentLoaded", lead);
})();
