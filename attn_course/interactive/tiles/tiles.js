// A reader goes through the table tile by tile, and sees what one of its queries keeps.
attnMachine("tiles", {
  model: tilesModel,
  acts: {
    back: (form, data) => ({ at: [Math.max(0, tilesModel(form, data).tile - 1) * form.B] }),
    next(form, data) {
      const { tile, count } = tilesModel(form, data);
      return { at: [Math.min(count, tile + 1) * form.B] };
    },
    // the first row tile by tile, the others as a whole; from the end again
    *all(form, data) {
      const { tile, count, side } = tilesModel(form, data);
      for (let done = tile === count ? 0 : tile; done < count;) {
        done += done < side ? 1 : side - (done % side);
        yield { at: [done * form.B] };
      }
    },
  },
  draw(pen, form, model, set, data) {
    if (pen.narrow) {
      const end = drawTable(pen, [0, 0, 10], form, model, set);
      drawCrossings(pen, [178, 12, pen.width - 178], model, data);
      return drawQuery(pen, [0, end + 4, pen.width], form, model, set, data);
    }
    const end = drawTable(pen, [0, 0, 16], form, model, set),
      below = drawCrossings(pen, [0, end + 8, 240], model, data);
    return Math.max(below, drawQuery(pen, [286, 0, pen.width - 286], form, model, set, data));
  },
  say({ B }, { n, tile, count, side, row, column, sums, before, crossed, all, byTable }) {
    const ways = `${crossed} of ${all} numbers fetched or stored; by the table, ${byTable}`,
      from = column * B + 1,
      keys = B > 1 ? `keys ${from} to ${from + B - 1}` : `key ${from}`;
    if (!tile)
      return `No key yet. Tiles of ${B} fetch or store ${all} numbers; the table, ${byTable}.`;
    if (row) {
      const asked = `${B > 1 ? "queries" : "query"} ${row * B + 1}${B > 1 ? ` to ${(row + 1) * B}` : ""}`;
      return `Tile ${tile} of ${count}: ${asked}. The keys are fetched again. ${ways}.`;
    }
    const best = shown(sums.best, 1),
      rises =
        before.total === 0
          ? `The best score is ${best}.`
          : sums.best > before.best
            ? `A new best, ${best}: the old sums are multiplied by ${shown(sums.factor)}.`
            : `The best score is still ${best}.`,
      so = column + 1 === side ? `all ${n} keys` : "so far",
      output = shown(sums.blend / sums.total);
    return `Tile ${tile} of ${count}, ${keys}. ${rises} Output, ${so}: ${output}. ${ways}.`;
  },
});
