const dot = (one, other) => one.reduce((sum, number, k) => sum + number * other[k], 0);

// Softmax over the allowed scores after subtracting the best; all zeros if none is allowed.
const softmax = (scores, allowed) => {
  const best = Math.max(...scores.filter((_, j) => allowed[j]));
  const raised = scores.map((score, j) => (allowed[j] ? Math.exp(score - best) : 0));
  const total = raised.reduce((sum, one) => sum + one, 0);
  return raised.map((one) => (total ? one / total : 0));
};

const digits = (number) => number.toFixed(2).replace("-0.00", "0.00").replace("-", "\u2212");
const nine = (number) => Math.round(number * 1e9);

attnFigure("scaled-dot-product", (root, data, say, { form, picture, part, write }) => {
  const { words, query, key, temperatures } = data;
  const size = words.length,
    { width, foot, cells, frames, bars } = layOut(picture, words),
    chosen = form.elements;
  const factors = { divide: query[0].length ** -0.5, keep: 1, multiply: query[0].length ** 0.5 };
  const on = (name) => root.querySelector(`input[name="${name}"]`).checked;
  const byHand = words.map(() => words.map(() => false)); // true: forbidden
  // the cell that is looked at: row, column
  let here = [Number(chosen.row.value), Number(chosen.column.value)];

  const read = () => {
    const scale = root.querySelector("input[name=scale]:checked").value;
    const temperature = temperatures[Number(part("temperature").value)];
    const halfWidth = on("window") ? Number(part("half-width").value) : null;
    const length = on("padding") ? Number(part("words").value) : null;
    const causal = on("causal");
    const rules = (i, j) =>
      !(causal && j > i) &&
      (halfWidth === null || Math.abs(i - j) <= halfWidth) &&
      (length === null || j < length);
    const ruled = words.map((_, i) => words.map((_, j) => rules(i, j)));
    const allowed = ruled.map((row, i) => row.map((yes, j) => yes && !byHand[i][j]));
    const products = query.map((q) => key.map((k) => dot(q, k)));
    const scores = products.map((row) => row.map((p) => (p * factors[scale]) / temperature));
    const weights = scores.map((row, i) => softmax(row, allowed[i]));
    return {
      scale,
      temperature,
      causal,
      halfWidth,
      length,
      ruled,
      allowed,
      products,
      scores,
      weights,
      row: here[0],
      column: here[1],
    };
  };

  const masksOf = ({ causal, halfWidth, length }) => {
    const names = [];
    if (causal) names.push("causal mask");
    if (halfWidth !== null) names.push(`window of ${halfWidth} to either side`);
    if (length !== null) names.push(`padding from token ${length + 1}`);
    const hidden = byHand.flat().filter((yes) => yes).length;
    if (hidden) names.push(`${hidden} forbidden by hand`);
    return names.join(", ") || "no mask";
  };

  const found = (row) => {
    const order = row
      .map((_, j) => j)
      .sort((a, b) => nine(row[b]) - nine(row[a]))
      .slice(0, 3);
    const shares = order
      .filter((j) => row[j] >= 0.005)
      .map((j) => `${row[j].toFixed(2)} to ${words[j]}`);
    return shares.length ? `${shares.join(", ")}.` : "no key is left, all weights are 0.";
  };

  const place = (node, [x, y, w, h]) => {
    const numbers = { x, y, width: w, height: h };
    for (const name in numbers) node.setAttribute(name, numbers[name].toFixed(1));
  };

  const strokes = (i, j, ruled) => {
    const left = (LEFT + width * j + 6).toFixed(1);
    const right = (LEFT + width * (j + 1) - 6).toFixed(1);
    const top = TOP + CELL * i + 6,
      low = top + CELL - 12;
    const rising = `M${left},${low.toFixed(1)}L${right},${top.toFixed(1)}`;
    if (byHand[i][j]) return `${rising}M${left},${top.toFixed(1)}L${right},${low.toFixed(1)}`;
    return ruled ? "" : rising;
  };

  const label = (now, i, j) => {
    const state = now.allowed[i][j] ? `weight ${now.weights[i][j].toFixed(2)}` : "forbidden";
    return `query ${words[i]}, key ${words[j]}: ${state}`;
  };

  const drawGrid = (now) => {
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        cell.firstElementChild.setAttribute("fill-opacity", now.weights[i][j].toFixed(3));
        cell.lastElementChild.setAttribute("d", strokes(i, j, now.ruled[i][j]));
        cell.setAttribute("aria-label", label(now, i, j));
        cell.setAttribute("tabindex", i === now.row && j === now.column ? "0" : "-1");
      }),
    );
    const y = TOP + CELL * now.row;
    place(frames.row, [LEFT, y, RIGHT - LEFT, CELL]);
    place(frames.cell, [LEFT + width * now.column, y, width, CELL]);
    for (const [name, at] of [
      ["row", now.row],
      ["column", now.column],
    ])
      for (const text of root.querySelectorAll(`[data-${name}]`))
        text.classList.toggle("attn-looked", Number(text.getAttribute(`data-${name}`)) === at);
  };

  const meaning = (row, column) =>
    data.wants.length
      ? `: ${words[row]} looks for ${data.wants[row] || "nothing"} (${words[column]}: ${data.offers[column]})`
      : ` of query ${words[row]}`;

  const drawBars = ({ weights, row, column }) => {
    weights[row].forEach((weight, j) => {
      const { bar, number } = bars[j],
        height = HIGH * weight;
      place(bar, [LEFT + width * (j + 0.15), foot - height, 0.7 * width, height]);
      number.setAttribute("y", (foot - height - 6).toFixed(1));
      number.textContent = weight.toFixed(2);
    });
    write("says", `weights${meaning(row, column)}`);
  };

  const tell = (now) => {
    const { row, column, weights, temperature } = now,
      mine = weights[row];
    write("temperature-reading", String(temperature));
    part("temperature").setAttribute("aria-valuetext", String(temperature));
    write("half-width-reading", part("half-width").value);
    write("words-reading", part("words").value);
    write("pair-reading", `${words[row]} → ${words[column]}`);
    write("product-reading", digits(now.products[row][column]));
    write(
      "score-reading",
      now.allowed[row][column] ? digits(now.scores[row][column]) : "forbidden",
    );
    write("weight-reading", mine[column].toFixed(2));
    write("sum-reading", mine.reduce((sum, one) => sum + one, 0).toFixed(2));
    say(
      `Dot products ${data.scales[now.scale]}, temperature ${temperature}, ${masksOf(now)}. ` +
        `Query ${words[row]}: ${found(mine)}`,
    );
  };

  // what is chosen in the picture stands in the form as well, where a link finds it
  const keep = () => {
    [chosen.row.value, chosen.column.value] = here;
    const names = byHand.map((row, i) => row.map((yes, j) => (yes ? `${i}.${j}` : "")));
    chosen.forbidden.value = names.flat().filter(Boolean).join("_");
  };
  const follow = () => {
    here = [Number(chosen.row.value), Number(chosen.column.value)];
    const forbidden = new Set(chosen.forbidden.value.split("_"));
    byHand.forEach((row, i) => row.forEach((_, j) => (row[j] = forbidden.has(`${i}.${j}`))));
  };

  const draw = () => {
    keep();
    part("half-width").closest("label").hidden = !on("window");
    part("words").closest("label").hidden = !on("padding");
    part("clear").hidden = !byHand.flat().includes(true);
    root.reading = read();
    for (const show of [drawGrid, drawBars, tell]) show(root.reading);
  };

  const look = (row, column) => {
    here = [row, column];
    draw();
  };
  const toggle = () => {
    byHand[here[0]][here[1]] = !byHand[here[0]][here[1]];
    draw();
  };
  const cellAt = (event) =>
    event.target.closest?.("[data-cell]")?.dataset.cell.split(",").map(Number);

  picture.addEventListener("pointermove", (event) => {
    const cell = event.pointerType === "mouse" && cellAt(event);
    if (cell && String(cell) !== String(here)) look(...cell);
  });
  // a finger looks with its first tap and forbids with its second; a mouse has looked before
  picture.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    if (String(cell) === String(here)) toggle();
    else look(...cell);
  });
  const ends = { Home: [0, -size], End: [0, size] };
  picture.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const way = attnArrow(event) ?? ends[event.key];
    if (event.key === "Enter" || event.key === " ") toggle();
    else if (way) {
      look(...here.map((at, k) => Math.min(Math.max(at + way[k], 0), size - 1)));
      cells[here[0]][here[1]].focus();
    } else return;
    attnTake(event);
  });
  part("clear").addEventListener("click", () => {
    byHand.forEach((row) => row.fill(false));
    draw();
    cells[here[0]][here[1]].focus(); // the button that had the focus is gone
  });
  form.addEventListener("input", ({ target }) => {
    if (target === form) follow();
    draw();
  });

  draw();
});
