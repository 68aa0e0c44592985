attnFigure("head-ablation", (root, data, say, parts) => {
  const { form, part, value, show, ran, change } = parts,
    chosen = form.elements;
  const grid = weightTable(root, { left: 116, top: 92, wide: 50, tall: 40 }),
    { verbs } = data.kinds;
  const known = new Set(["not", ".", ...Object.values(data.kinds).flat()]);
  const share = (one) => percent(one, 1);
  const model = () => value("model") || data.model; // an odd link may choose none
  let now = { ...data.first, model: data.model };

  const isSilent = (head) => chosen[`off${head}`].checked;
  const silent = () => now.weights.map((_, head) => head).filter(isSilent);

  // the words, or what is wrong with them; nobody has told these readers of a comma
  const readWords = () => {
    const words = cutIntoWords(value("sentence").replace(/[.,]/g, " "));
    const count = words.length,
      trouble = `There is room for ${data.most} words, not ${count}.`;
    if (count > data.most) return { trouble };
    if (!count) return { trouble: "Write a sentence, or take another." };
    const read = readSentence(words.join(" "), known, data.most + 1);
    if (read.trouble) return read;
    const found = read.words.slice(0, -1),
      asking = found.indexOf("not");
    if (asking < 0 || asking !== found.lastIndexOf("not"))
      return { trouble: "The sentence needs one “not”: that is the word that asks." };
    return { words: found, asking };
  };
  const verbsAround = (words) => {
    const at = words.indexOf("not"),
      isVerb = (word) => verbs.includes(word);
    return [words.slice(at).find(isVerb), words.slice(0, at).findLast(isVerb)];
  };

  const showAnswer = (where, answer, sure, right) => {
    const word = document.createElement("strong"),
      isWrong = right && answer !== right;
    word.textContent = answer;
    word.className = isWrong ? "attn-strange" : "";
    const remark = isWrong ? `; right is ${right}` : "";
    show(where, "not negates ", word, ` (${share(sure)} sure${remark})`);
  };

  // what the record says of the guess, and of the heads that are silent
  const showRecord = () => {
    const { without, weights } = data.record[now.model],
      heads = weights.map((_, head) => head);
    const guess = value("guess");
    if (guess !== "none" && !heads.includes(Number(guess || NaN))) {
      show("guess", "guess first; then you see what was measured");
      return show("left");
    }
    const left = heads.map((head) => without[head][0]),
      best = left.indexOf(Math.max(...left));
    const isFree = (head) => without[""][0] - left[head] < 0.01;
    const cost = (head) => `without head ${head}, ${share(left[head])} are read right`;
    const least = left[guess] === left[best] ? "no head costs less" : cost(best);
    if (guess === "none") show("guess", `${isFree(best) ? "Not so" : "So it is"}: ${cost(best)}.`);
    else
      show(
        "guess",
        `${isFree(guess) ? "It can go" : "It is missed"}: ${cost(guess)}; ${least}. ` +
          `Its mean weight is ${share(weights[guess][1])} at the first verb, ` +
          `${share(weights[guess][0])} at the second.`,
      );
    const off = silent(),
      [both, after, before] = without[off.join(".")];
    const which = off.length ? `without head ${off.join(", ")}` : "with all heads";
    show(
      "left",
      `${which}: both answers right in ${share(both)} ` +
        `(first verb ${share(before)}, second ${share(after)})`,
    );
  };

  const draw = () => {
    const { words, weights, answers, sure } = now,
      rights = verbsAround(words);
    const rows = weights.map((row, head) => ({
      word: `head ${head}${isSilent(head) ? ", off" : ""}`,
      weights: row,
    }));
    const here = [within(value("row"), rows.length), within(value("column"), words.length)];
    grid.draw({ rows, columns: words, here });
    for (const line of root.querySelectorAll("[data-line]"))
      line.classList.toggle("attn-off", isSilent(line.dataset.line));
    for (const one of form.querySelectorAll("[name=guess], [name^=off]")) {
      const head = one.name === "guess" ? one.value : one.name.slice(3);
      one.closest("label").hidden = Number(head) >= rows.length; // "none" is no number
    }
    showAnswer("first", answers[0], sure[0], rights[0]);
    showAnswer("second", answers[1], sure[1], rights[1]);
    showRecord();
    const looks = weights
      .map(
        (row, head) =>
          `head ${head}${isSilent(head) ? ", which is off," : ""} looks most at ${words[largest(row)]}`,
      )
      .join(", ");
    show("comma", value("sentence").includes(",") ? "it has no word for one" : "");
    say(
      `${words.join(" ")}: with a comma before it, not negates ${answers[0]}; ` +
        `with a comma after it, ${answers[1]}. ${looks[0].toUpperCase()}${looks.slice(1)}.`,
    );
  };

  const compute = ({ read, names }) => {
    const found = readWords();
    parts.trouble(found.trouble);
    if (found.trouble) return;
    const { words, asking } = found;
    const off = Array.from({ length: data.readers[model()] }, (_, head) => head).filter(isSilent);
    const start = performance.now();
    const { weights, answers, sure } = read(
      words.map((word) => names.indexOf(word)),
      asking,
      off,
    );
    root.milliseconds = performance.now() - start;
    ran(read);
    now = { words, sure, answers: answers.map((one) => names[one]), model: model() };
    now.weights = weights.map((row) => [...row]);
    root.reading = now;
    draw();
  };

  const act = attnAnswers(parts, {
    needs: () => [model()],
    make: ({ tensors, said }, name) => ({
      ...wordReader(tensors, data.readers[name]),
      names: ["<pad>", "<bos>", "<eos>", "<unk>", ...JSON.parse(said.words)],
    }),
    answer: (readers) => compute(readers[model()]),
  });

  const write = (words) => change({ sentence: words.join(" ") });
  part("another").addEventListener("click", () => {
    const any = (list) => list[Math.floor(Math.random() * list.length)];
    const { openings, objects, endings } = data.kinds,
      before = any(verbs),
      whom = any(objects);
    const after = any(verbs.filter((verb) => verb !== before));
    const opening = Math.random() < 0.8 ? [any(openings)] : [];
    write([...opening, before, whom, "not", after, whom, any(endings)]);
  });
  part("exchange").addEventListener("click", () => {
    const [after, before] = verbsAround(now.words),
      other = { [after]: before, [before]: after };
    if (after && before) write(now.words.map((word) => other[word] ?? word));
    else parts.trouble("Only verbs on both sides of “not” can be exchanged.", false);
  });
  const look = ([i, j]) => {
    const [row, column] = [within(i, now.weights.length), within(j, now.words.length)];
    parts.keep({ row, column });
    draw();
    grid.focus([row, column]);
  };
  grid.listen({
    look,
    act: ([i, j]) => {
      chosen[`off${i}`].checked = !chosen[`off${i}`].checked;
      change({ row: i, column: j });
    },
  });
  form.addEventListener("input", ({ target }) => {
    if (target.name === "model")
      // another reader, another guess, and all of its heads
      for (const one of form.querySelectorAll("[name=guess], [name^=off]")) one.checked = false;
    act();
  });
  draw();
});
