attnFigure("retrieval", (root, data, say, { form, picture, part, put, write, show, ran }) => {
  const { names, words, typical, inks, temperatures, last } = data;
  const areas = typical.map((fill, which) => attnElement("path", { fill, "data-area": which }));
  layOut(picture, areas);
  const colours = data.colours.map(partsOf);
  const keys = colours.map((colour) => colour.map((part) => part / 255));
  const word = names.map((name) => words.indexOf(name.split(" ").at(-1)));
  const steps = Array.from({ length: last + 1 }, (_, step) => step);
  const x = (step) => LEFT + (WALK * step) / last;

  const walkOf = remembering((from, to) =>
    steps.map((at) => from.map((one, c) => ((1 - at / last) * one + (at / last) * to[c]) / 255)),
  );
  const distancesOf = remembering((from, to) =>
    walkOf(from, to).map((query) => squaredDistances(query, keys)),
  );
  const sharesOfWalk = remembering((from, to, temperature) =>
    distancesOf(from, to).map((row) => sharesOf(weigh(row, temperature), word, words)),
  );

  const read = () => {
    const [from, to] = ["from", "to"].map((name) => partsOf(part(name).value));
    const step = Number(part("step").value);
    const temperature = temperatures[Number(part("temperature").value)];
    const distances = distancesOf(from, to);
    const closest = distances.map((row) => row.indexOf(Math.min(...row)));
    const weights = weigh(distances[step], temperature);
    return {
      from,
      to,
      step,
      temperature,
      closest,
      weights,
      query: walkOf(from, to)[step],
      said: closest.map((key) => word[key]),
      shares: sharesOfWalk(from, to, temperature),
      effective: 1 / weights.reduce((sum, weight) => sum + weight * weight, 0),
    };
  };

  const label = (text, x, y, more) =>
    attnElement("text", { x: x.toFixed(1), y: (y + 5).toFixed(1), ...more }, text);
  const name = (which, x, y) =>
    label(words[which], x, y, {
      "text-anchor": "middle",
      style: `fill:${inks[which]}`,
    });
  const box = (x, y, width, height, fill) => attnElement("rect", { x, y, width, height, fill });

  const drawStrips = ({ from, to, said, step }) => {
    put("start", { "stop-color": css(from) });
    put("end", { "stop-color": css(to) });
    // a name holds for the whole page: what has the same name looks the same
    const id = ["attn-walk", part("from").value, part("to").value].join("-").replaceAll("#", "");
    put("gradient", { id });
    put("walk", { fill: `url(#${id})` });
    const border = (at) => x(Math.max(0, Math.min(at - 0.5, last)));
    const runs = runsOf(said).map(([which, first, stop]) => [which, border(first), border(stop)]);
    const line = x(step);
    part("runs").replaceChildren(
      ...runs.map(([which, edge, end]) =>
        box(edge.toFixed(1), NEAREST, (end - edge).toFixed(1), STRIP, typical[which]),
      ),
    );
    part("run-names").replaceChildren(
      ...runs.flatMap(([which, edge, end]) => {
        const long = LETTER * words[which].length;
        const places = [(edge + end) / 2, line - GAP - long / 2, line + GAP + long / 2];
        const free = places.find(
          (at) =>
            at - long / 2 >= edge && at + long / 2 <= end && Math.abs(at - line) >= long / 2 + GAP,
        );
        return free ? [name(which, free, NEAREST + STRIP / 2)] : [];
      }),
    );
  };

  const drawAreas = ({ shares, step }) => {
    const fitting = [];
    let below = steps.map(() => 0);
    words.forEach((text, which) => {
      const low = below,
        high = low.map((height, at) => height + shares[at][which]);
      const points = high.map(
        (height, at) => `${x(at).toFixed(1)},${(BOTTOM - HIGH * height).toFixed(1)}`,
      );
      areas[which].setAttribute("d", `M${points.join("L")}V${BOTTOM}H${LEFT}Z`);
      const reach = Math.round(((text.length * LETTER) / 2 / WALK) * last);
      const [at, height, room] = roomiest(low, high, reach, step);
      if (room * HIGH >= LINE) fitting.push(name(which, x(at), BOTTOM - HIGH * height));
      below = high;
    });
    part("area-names").replaceChildren(...fitting);
  };

  // A row for each word, as high as its share; in it a tile for each key, whose area is its weight.
  const drawTiles = ({ weights, shares, step }) => {
    const order = weights
      .map((_, key) => key)
      .filter((key) => weights[key] > LEAST)
      .sort((one, other) => weights[other] - weights[one]);
    const tiles = [],
      labels = [];
    let below = 0;
    shares[step].forEach((share, which) => {
      const height = HIGH * share,
        y = BOTTOM - HIGH * below - height;
      let edge = HERE;
      for (const key of order.filter((one) => word[one] === which)) {
        const wide = (ACROSS * weights[key]) / share;
        const edges = [edge, y, wide, height].map((number) => number.toFixed(2));
        tiles.push(box(...edges, css(colours[key])));
        edge += wide;
      }
      const text = `${words[which]} ${percent(share)}`;
      if (height >= LINE) labels.push(label(text, HERE + ACROSS + 6, y + height / 2));
      below += share;
    });
    part("tiles").replaceChildren(...tiles);
    part("labels").replaceChildren(...labels);
  };

  const drawHere = ({ step, query, closest, said }) => {
    put("asked", { fill: css(query.map((one) => 255 * one)) });
    put("best", { fill: css(colours[closest[step]]) });
    write("word", words[said[step]]);
    put("query-line", { transform: `translate(${x(step).toFixed(1)} 0)` });
  };

  const heard = (weights) => {
    const order = weights.map((_, key) => key).sort((a, b) => weights[b] - weights[a]);
    const most = order.slice(0, data.mostHeard).filter((key) => weights[key] >= 0.005);
    if (!most.length) return ["no key above 0.5%"];
    return most.map((key) => {
      const item = document.createElement("span"),
        swatch = document.createElement("span");
      item.className = "attn-heard";
      swatch.className = "attn-swatch";
      swatch.style.setProperty("--attn-colour", css(colours[key]));
      item.append(swatch, `${names[key]} ${percent(weights[key])}`);
      return item;
    });
  };

  const jumpsOf = ({ said }) => steps.filter((at) => at > 0 && said[at] !== said[at - 1]);

  const tell = (now) => {
    const { from, to, step, temperature, closest, said, shares, weights } = now;
    const share = shares[step],
      order = words.map((_, w) => w).sort((a, b) => share[b] - share[a]);
    const soft = order
      .filter((w) => share[w] >= 0.01)
      .map((w) => `${words[w]} ${percent(share[w])}`)
      .join(", ");
    const found = `${names[closest[step]]}, so ${words[said[step]]}`;
    const number = `${now.effective.toFixed(1)} of ${names.length}`,
      jumps = jumpsOf(now).length;
    write("step-reading", String(step));
    write("temperature-reading", String(temperature));
    part("temperature").setAttribute("aria-valuetext", String(temperature));
    show("nearest", found);
    show("soft", soft);
    show("effective", number);
    show("heard", ...heard(weights));
    write("jump", jumps ? `next of ${jumps} jump${jumps > 1 ? "s" : ""}` : "no jump on this walk");
    part("jump").disabled = !jumps;
    say(
      `Step ${step} of ${last} from ${css(from)} to ${css(to)}, temperature ${temperature}. ` +
        `The nearest key is ${found}. The soft answer is ${soft}.`,
    );
  };

  const draw = () => {
    root.reading = read();
    for (const paint of [drawStrips, drawAreas, drawTiles, drawHere, tell]) paint(root.reading);
  };

  const answer = () => {
    draw();
    ran(squaredDistances, weigh, sharesOf);
  };
  const go = (step) => {
    part("step").value = step;
    answer();
  };
  form.addEventListener("input", ({ target }) => {
    // a reader who picks a colour asks for it
    if (target === part("from")) part("step").value = 0;
    if (target === part("to")) part("step").value = last;
    answer();
  });
  part("jump").addEventListener("click", () => {
    const jumps = jumpsOf(root.reading);
    go(jumps.find((at) => at > root.reading.step) ?? jumps[0]);
  });

  const follow = (across) => go(Math.round(((across - LEFT) / WALK) * last));
  attnDrag(picture, follow, ({ target }) => target.closest(".attn-walk"));
  draw();
});
