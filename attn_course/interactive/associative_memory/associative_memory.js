// A reader writes pairs into a state of fixed size, and asks for them.
const isFull = (rows, { most }) => rows.length >= 2 * most;
const writeNext = (rows, { names, favourites, most }) => {
  const next = names.findIndex((_, name) => pairsOf(rows).every(([other]) => other !== name));
  return next < 0 || isFull(rows, { most }) ? rows : [...rows, next, favourites[next]];
};

attnMachine("associative-memory", {
  grows: ["rows"],
  model: memoryModel,
  acts: {
    one: ({ rows }, data) => ({ rows: writeNext(rows, data) }),
    *all({ rows }, data) {
      for (let more = writeNext(rows, data); more !== rows; more = writeNext(rows, data))
        yield { rows: (rows = more) };
    },
    again(form, data) {
      const { written, asked } = rowsOf(form, data),
        [name] = written[asked],
        [, colour] = written.findLast(([other]) => other === name);
      if (written.length >= data.most) return {};
      const rows = [...written.flat(), name, (colour + 3) % data.colours.length];
      return { rows, asked: [written.length] };
    },
  },
  draw(pen, form, model, set, data) {
    const isOpen = form.vectors === "shown",
      formula = isOpen || form.rule !== "add" ? formulaOf(form, data) : "";
    if (pen.narrow) {
      const top = drawAnswer(pen, [0, 0, pen.width], model, data),
        end = drawState(pen, [0, top, isOpen ? 112 : 152], model, isOpen);
      drawRecall(pen, [188, top, pen.width - 188, end - top - 74], model, data);
      drawPast(pen, [188, end - 44, pen.width - 188, 44], model, data);
      pen.text("formula", pen.width, 8, formula, "ink", { at: "end", bold: true });
      return drawRows(pen, [0, end + 4, pen.width], model, set, data, isOpen);
    }
    const below = drawRows(pen, [290, 0, pen.width - 290], model, set, data, isOpen),
      top = drawAnswer(pen, [0, 0, 270], model, data),
      end = drawState(pen, [0, top, isOpen ? 200 : 240], model, isOpen);
    drawPast(pen, [0, end + 12, 240, 45], model, data);
    pen.text("formula", pen.width, below + 18, formula, "ink", { at: "end", bold: true });
    drawRecall(pen, [290, below + 10, pen.width - 290, end + 34 - below], model, data);
    return end + 60;
  },
  say(_, { answer, history }, __, data) {
    const { names, state, softmax } = history.at(-1),
      told = `${data.names[answer.name]} (${data.colours[answer.colour][0]})`;
    return (
      `The state recalls ${state} of ${names} names, softmax ${softmax}. ` +
      `For ${told} it says ${likeliest(answer.shares[0], data)}.`
    );
  },
});
