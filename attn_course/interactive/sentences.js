// What a reader types, as words that a model knows; other marks than full stop and comma none knows.
const cutIntoWords = (text) =>
  text
    .normalize("NFC")
    .replaceAll("’", "'")
    .replace(/[;:!?"“”«»()]/g, " ")
    .replace(/[.,]|'s\b/g, " $& ")
    .split(/\s+/)
    .filter(Boolean);

// How many letters must be put in, left out or replaced to make one word of the other.
const lettersApart = (one, other) => {
  let row = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++)
      next.push(Math.min(row[j] + (one[i] !== other[j]), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row.at(-1);
};

// The known words that are spelled most like this one, if they share anything with it.
const spelledAlike = (word, known, most = 3) => {
  const low = word.toLowerCase().slice(0, 20);
  return known
    .filter((one) => /\p{L}/u.test(one))
    .map((one) => [lettersApart(low, one.toLowerCase()), one])
    .filter(([apart]) => apart < low.length)
    .sort((a, b) => a[0] - b[0])
    .slice(0, most)
    .map(([, one]) => one);
};

// The words of a sentence with its full stop, all of them keys of `known`; or `trouble`: a sentence
// that says what is wrong.
const readSentence = (text, known, most) => {
  const typed = cutIntoWords(text);
  if (!typed.length) return { trouble: "Write a sentence, or choose one." };
  const capital = (word) => word[0].toUpperCase() + word.slice(1);
  const spelled = (word) => [word, word.toLowerCase(), capital(word)].find((one) => known.has(one));
  const words = typed.map(spelled);
  if (words.at(-1) !== ".") words.push(".");
  if (words.length > most)
    return { trouble: `There is room for ${most} words; this sentence has ${words.length}.` };
  const strange = [...new Set(typed.filter((word) => !spelled(word)))];
  if (!strange.length) return { words };
  const near = spelledAlike(strange[0], [...known.keys()]);
  const quoted = (all) => all.map((word) => `“${word}”`).join(", ");
  const more = strange.length > 3 ? ` and ${strange.length - 3} more` : "";
  const other = near.length ? ` Near ${quoted(strange.slice(0, 1))} it knows ${quoted(near)}.` : "";
  return { trouble: `It has never met ${quoted(strange.slice(0, 3))}${more}.${other}` };
};

// A sentence that is chosen goes into the field, and the list says which of its own the field holds.
const followExample = ({ part, keep, value }, target) => {
  const list = part("example");
  if (target === list && list.value) keep({ source: list.value });
  list.value = value("source");
  if (list.selectedIndex < 0) list.value = "";
};

// Words as usually written, as `detokenise` does.
const written = (words) =>
  words
    .join(" ")
    .replace(/ ([.,]|'s(?!\p{L}))/gu, "$1")
    .replace(/(\p{L}') /gu, "$1");

// For each word of `now`, whether it is new beside `before`: not in their longest common part.
const newBeside = (now, before) => {
  const none = () => Array.from({ length: before.length + 1 }, () => 0);
  const long = Array.from({ length: now.length + 1 }, none);
  for (let i = now.length - 1; i >= 0; i--)
    for (let j = before.length - 1; j >= 0; j--)
      long[i][j] =
        now[i] === before[j] ? 1 + long[i + 1][j + 1] : Math.max(long[i + 1][j], long[i][j + 1]);
  let j = 0;
  return now.map((word, i) => {
    while (j < before.length && word !== before[j] && long[i][j + 1] === long[i][j]) j++;
    if (j < before.length && word === before[j]) return (j++, false);
    return true;
  });
};

// A sentence in which the words that are not in the right one are marked, how many they are, and the
// place of the first, or -1.
const markStrange = (words, right) => {
  const isStrange = newBeside(words, right),
    parts = [];
  words.forEach((word, i) => {
    const before = written(words.slice(0, i)),
      all = written(words.slice(0, i + 1));
    const piece = all.slice(before.length);
    const text = piece.trimStart(),
      mark = { className: "attn-strange", textContent: text };
    parts.push(piece.slice(0, piece.length - text.length));
    parts.push(isStrange[i] ? Object.assign(document.createElement("span"), mark) : text);
  });
  return { parts, count: isStrange.filter(Boolean).length, first: isStrange.indexOf(true) };
};
