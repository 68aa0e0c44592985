import heapq
import math
from heapq import nlargest

from torch import Tensor

from attn_course.seq2seq import BOS, EOS


def _grow(beam, table):
    longer = [pair for pair in beam if pair[0][-1] == 2]
    for words, total in beam:
        if words[-1] != 2:
            row = table[words[-1]]
            longer += [([*words, word], total + row[word]) for word in range(len(row))]
    return longer


def wrong_end_not_counted(log_probability, beam_width, length_power):
    """The length does not count EOS."""
    beam = [([1], 0.0)]
    for table in log_probability.tolist():
        longer = _grow(beam, table)
        beam = sorted(longer, key=lambda pair: pair[1], reverse=True)[:beam_width]

    def score(pair):
        length = sum(word != 2 for word in pair[0][1:])
        return pair[1] / max(length, 1) ** length_power

    best = max(beam, key=score)
    return best[0][1:], score(best)


def wrong_divides_while_pruning(log_probability, beam_width, length_power):
    """The beam is cut by the score, already divided by the length, not by the log-probability."""

    def score(pair):
        return pair[1] / (len(pair[0]) - 1) ** length_power

    beam = [([1], 0.0)]
    for table in log_probability.tolist():
        beam = sorted(_grow(beam, table), key=score, reverse=True)[:beam_width]
    best = max(beam, key=score)
    return best[0][1:], score(best)


def wrong_ended_leave_the_beam(log_probability, beam_width, length_power):
    """A sentence that has ended is put aside, and gives its place to another beginning."""
    beam, done = [([1], 0.0)], []
    for table in log_probability.tolist():
        longer = sorted(_grow(beam, table), key=lambda pair: pair[1], reverse=True)
        done += [pair for pair in longer[:beam_width] if pair[0][-1] == 2]
        beam = [pair for pair in longer if pair[0][-1] != 2][:beam_width]

    def score(pair):
        return pair[1] / (len(pair[0]) - 1) ** length_power

    best = max(done + beam, key=score)
    return best[0][1:], score(best)


def wrong_score_not_divided(log_probability, beam_width, length_power):
    """The winner is found by the score, but the plain log-probability is returned."""
    beam = [([1], 0.0)]
    for table in log_probability.tolist():
        longer = _grow(beam, table)
        beam = sorted(longer, key=lambda pair: pair[1], reverse=True)[:beam_width]
    best = max(beam, key=lambda pair: pair[1] / (len(pair[0]) - 1) ** length_power)
    return best[0][1:], best[1]


def wrong_begin_counted(log_probability, beam_width, length_power):
    """The length counts BOS."""
    beam = [([1], 0.0)]
    for table in log_probability.tolist():
        beam = sorted(_grow(beam, table), key=lambda pair: -pair[1])[:beam_width]
    best = max(beam, key=lambda pair: pair[1] / len(pair[0]) ** length_power)
    return best[0][1:], best[1] / len(best[0]) ** length_power


def wrong_power_ignored(log_probability, beam_width, length_power):
    """The score is always divided by the length itself, whatever the power is."""
    beam = [([1], 0.0)]
    for table in log_probability.tolist():
        beam = sorted(_grow(beam, table), key=lambda pair: -pair[1])[:beam_width]
    best = max(beam, key=lambda pair: pair[1] / (len(pair[0]) - 1))
    return best[0][1:], best[1] / (len(best[0]) - 1)


def right_heap_of_tuples(log_probability, beam_width, length_power):
    """Tuples on a heap, and the indices of tensors instead of lists."""
    beam = [(0.0, ())]
    for step in range(len(log_probability)):
        grown = []
        for total, words in beam:
            last = words[-1] if words else 1
            if last == 2:
                grown.append((total, words))
                continue
            for word, more in enumerate(log_probability[step, last].tolist()):
                grown.append((total + more, (*words, word)))
        beam = heapq.nlargest(beam_width, grown)
    total, words = max(beam, key=lambda pair: pair[0] / len(pair[1]) ** length_power)
    return list(words), total / len(words) ** length_power


def wrong_best_of_those_that_ended(log_probability, beam_width, length_power):
    """Only a sentence that has ended can win, unless none has."""
    beam = [([1], 0.0)]
    for table in log_probability.tolist():
        beam = sorted(_grow(beam, table), key=lambda pair: pair[1], reverse=True)[:beam_width]
    ended = [pair for pair in beam if pair[0][-1] == 2] or beam

    def score(pair):
        return pair[1] / (len(pair[0]) - 1) ** length_power

    best = max(ended, key=score)
    return best[0][1:], score(best)


def wrong_length_of_the_table_and_one_beam(log_probability, beam_width, length_power):
    """All are divided by the number of steps, and the ended give their place to others."""
    beam, done = [([1], 0.0)], []
    for table in log_probability.tolist():
        longer = sorted(_grow(beam, table), key=lambda pair: pair[1], reverse=True)
        done += [pair for pair in longer[:beam_width] if pair[0][-1] == 2]
        beam = [pair for pair in longer if pair[0][-1] != 2][:beam_width]
    best = max(done + beam, key=lambda pair: pair[1])
    return best[0][1:], best[1] / len(log_probability) ** length_power


def wrong_ended_leave_the_beam_again(log_probability, beam_width, length_power):
    """Sentences that have ended leave the beam and give their place to another beginning."""
    beam = [([BOS], 0.0)]
    finished = []
    for table in log_probability.tolist():
        longer = []
        for words, total in beam:
            for word, log_p in enumerate(table[words[-1]]):
                longer.append((words + [word], total + log_p))
        longer.sort(key=lambda pair: pair[1], reverse=True)
        beam = []
        for words, total in longer:
            if len(beam) == beam_width:
                break
            if words[-1] == EOS:
                finished.append((words, total))
            else:
                beam.append((words, total))
    everything = finished + beam
    score, words = max(
        (total / (len(words) - 1) ** length_power, words) for words, total in everything
    )
    return words[1:], score


def wrong_winner_before_division(log_probability, beam_width, length_power):
    """The sentence with the highest log-probability wins, and only its score is divided by the
    length."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        candidates = []
        for words, total in beam:
            if words[-1] == EOS:
                candidates.append((words, total))
                continue
            for word, log_p in enumerate(table[words[-1]]):
                candidates.append((words + [word], total + log_p))
        candidates.sort(key=lambda c: c[1], reverse=True)
        beam = candidates[:beam_width]
    words, total = beam[0]
    words = words[1:]
    return words, total / len(words) ** length_power


def wrong_bos_counted_only_ended(log_probability, beam_width, length_power):
    """Two mistakes: the length counts BOS, and sentences cut off by the end of the table do not
    take part if any has ended."""
    steps, vocab_size, _ = log_probability.shape
    beam = [(0.0, [BOS])]
    for t in range(steps):
        longer = []
        for total, words in beam:
            if words[-1] == EOS:
                longer.append((total, words))
            else:
                row = log_probability[t, words[-1]]
                for j in range(vocab_size):
                    longer.append((total + row[j].item(), words + [j]))
        beam = sorted(longer, key=lambda x: -x[0])[:beam_width]
    ended = [pair for pair in beam if pair[1][-1] == EOS]
    pool = ended if ended else beam

    def score(pair):
        return pair[0] / len(pair[1]) ** length_power

    best = max(pool, key=score)
    return best[1][1:], score(best)


def right_dictionary_of_beginnings(log_probability, beam_width, length_power):
    """The beam is a dictionary from words (BOS never among them) to log-probabilities."""
    beam = {(): 0.0}
    for table in log_probability.double().tolist():
        longer = {}
        for words, total in beam.items():
            if words[-1:] == (EOS,):
                longer[words] = total
                continue
            last = words[-1] if words else BOS
            for word, extra in enumerate(table[last]):
                longer[(*words, word)] = total + extra
        kept = sorted(longer, key=longer.get, reverse=True)[:beam_width]
        beam = {words: longer[words] for words in kept}
    scores = {words: total / max(len(words), 1) ** length_power for words, total in beam.items()}
    winner = max(scores, key=scores.get)
    return list(winner), scores[winner]


def _search(log_probability, beam_width, length_power, score, keep_ended=True):
    table = log_probability.tolist()
    beam = [((), 0.0)]
    for step in table:
        longer = []
        for words, total in beam:
            if words and words[-1] == 2:
                if keep_ended:
                    longer.append((words, total))
                continue
            row = step[words[-1] if words else 1]
            longer += [((*words, w), total + p) for w, p in enumerate(row) if p > -math.inf]
        beam = sorted(longer, key=lambda one: -one[1])[:beam_width]
    words, total = max(beam, key=lambda one: score(*one))
    return list(words), score(words, total)


def wrong_length_without_eos(log_probability, beam_width, length_power):
    """It divides by the number of words without EOS."""

    def score(words, total):
        return total / max(1, len([w for w in words if w != 2])) ** length_power

    return _search(log_probability, beam_width, length_power, score)


def wrong_score_not_divided_fifth(log_probability, beam_width, length_power):
    """It returns the plain log-probability of the winner, not its score."""
    words, total = _search(
        log_probability, beam_width, length_power, lambda w, t: t / len(w) ** length_power
    )
    return words, total * len(words) ** length_power


def wrong_ended_take_no_place(log_probability, beam_width, length_power):
    """It sets ended sentences aside, so they take no place in the beam."""
    beam, ended = [([], 0.0)], []
    for step in log_probability.tolist():
        longer = [
            ([*words, w], total + p)
            for words, total in beam
            for w, p in enumerate(step[words[-1] if words else 1])
            if p > -math.inf
        ]
        ended += [one for one in longer if one[0][-1] == 2]
        beam = [one for one in longer if one[0][-1] != 2]
        beam = sorted(beam, key=lambda one: -one[1])[:beam_width]
    scored = [(words, total / len(words) ** length_power) for words, total in beam + ended]
    return max(scored, key=lambda one: one[1])


def wrong_beam_chosen_by_score(log_probability, beam_width, length_power):
    """It divides by the length at every step, and keeps the best scores in the beam."""
    beam = [([], 0.0)]
    for step in log_probability.tolist():
        longer = []
        for words, total in beam:
            if words and words[-1] == 2:
                longer.append((words, total))
                continue
            for w, p in enumerate(step[words[-1] if words else 1]):
                if p > -math.inf:
                    longer.append(([*words, w], total + p))
        longer.sort(key=lambda one: -one[1] / len(one[0]) ** length_power)
        beam = longer[:beam_width]
    scored = [(words, total / len(words) ** length_power) for words, total in beam]
    return max(scored, key=lambda one: one[1])


def wrong_length_counts_bos(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Divides by a length in which BOS is counted."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = []
        for words, total in beam:
            if words[-1] == EOS:
                longer.append((words, total))
                continue
            for word, log_p in enumerate(table[words[-1]]):
                longer.append(([*words, word], total + log_p))
        beam = sorted(longer, key=lambda pair: pair[1], reverse=True)[:beam_width]
    scored = [(total / len(words) ** length_power, words) for words, total in beam]
    score, words = max(scored)
    return words[1:], score


def wrong_only_ended_may_win(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Lets a sentence that was cut off win only if none has ended."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = []
        for words, total in beam:
            if words[-1] == EOS:
                longer.append((words, total))
                continue
            for word, log_p in enumerate(table[words[-1]]):
                longer.append(([*words, word], total + log_p))
        beam = sorted(longer, key=lambda pair: pair[1], reverse=True)[:beam_width]
    ended = [pair for pair in beam if pair[0][-1] == EOS]
    scored = [(total / (len(words) - 1) ** length_power, words) for words, total in ended or beam]
    score, words = max(scored)
    return words[1:], score


def wrong_ended_leave_the_beam_sixth(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Sets ended sentences aside, so that other beginnings get their places in the beam."""
    beam, done = [([BOS], 0.0)], []
    for table in log_probability.tolist():
        longer = []
        for words, total in beam:
            for word, log_p in enumerate(table[words[-1]]):
                longer.append(([*words, word], total + log_p))
        best = sorted(longer, key=lambda pair: pair[1], reverse=True)[:beam_width]
        done += [pair for pair in best if pair[0][-1] == EOS]
        beam = [pair for pair in best if pair[0][-1] != EOS]
    pairs = done + beam
    scored = [(total / (len(words) - 1) ** length_power, words) for words, total in pairs]
    score, words = max(scored)
    return words[1:], score


def right_with_a_heap(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Keeps (total, words) without BOS, and takes the largest from a heap."""
    beam = [(0.0, ())]
    for table in log_probability.tolist():
        longer = []
        for total, words in beam:
            last = words[-1] if words else BOS
            if last == EOS:
                longer.append((total, words))
            else:
                longer += [(total + p, (*words, word)) for word, p in enumerate(table[last])]
        beam = nlargest(beam_width, longer)
    score, words = max((total / len(words) ** length_power, words) for total, words in beam)
    return list(words), score


def longer_beam(
    beam: list[tuple[list[int], float]], table: list[list[float]]
) -> list[tuple[list[int], float]]:
    longer = [pair for pair in beam if pair[0][-1] == EOS]
    for words, total in beam:
        if words[-1] != EOS:
            for word, log_p in enumerate(table[words[-1]]):
                longer.append(([*words, word], total + log_p))
    return longer


def wrong_length_counts_bos_seventh(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Counts BOS in the length that divides."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = longer_beam(beam, table)
        longer.sort(key=lambda pair: pair[1], reverse=True)
        beam = longer[:beam_width]
    scored = [(t / len(words) ** length_power, words) for words, t in beam]
    score, words = max(scored)
    return words[1:], score


def wrong_divides_at_every_step(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Cuts the beam by the scores, divided by the length, not by the totals."""

    def score_of(pair: tuple[list[int], float]) -> float:
        words, total = pair
        return total / (len(words) - 1) ** length_power

    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = longer_beam(beam, table)
        beam = sorted(longer, key=score_of, reverse=True)[:beam_width]
    best = max(beam, key=score_of)
    return best[0][1:], score_of(best)


def wrong_only_ended_take_part(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Lets a sentence that was cut off win only if none has ended."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = longer_beam(beam, table)
        longer.sort(key=lambda pair: pair[1], reverse=True)
        beam = longer[:beam_width]
    ended = [pair for pair in beam if pair[0][-1] == EOS]
    scored = [(total / (len(words) - 1) ** length_power, words) for words, total in ended or beam]
    score, words = max(scored)
    return words[1:], score


def right_ended_apart(
    log_probability: Tensor, beam_width: int, length_power: float
) -> tuple[list[int], float]:
    """Keeps totals first and words as tuples, and leaves impossible words out."""
    beam: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for table in log_probability.tolist():
        candidates = []
        for total, words in beam:
            last = words[-1] if words else BOS
            if last == EOS:
                candidates.append((total, words))
                continue
            for word, log_p in enumerate(table[last]):
                if log_p > -math.inf:
                    candidates.append((total + log_p, (*words, word)))
        beam = heapq.nlargest(beam_width, candidates)
    score, words = max((total / len(words) ** length_power, words) for total, words in beam)
    return list(words), score


def wrong_multiplies_logarithms(log_probability, beam_width, length_power):
    """The logarithms along a sentence are multiplied."""
    beam = [([BOS], 1.0)]
    for table in log_probability.tolist():
        longer = [pair for pair in beam if pair[0][-1] == EOS]
        for words, total in beam:
            if words[-1] != EOS:
                longer += [([*words, w], total * p) for w, p in enumerate(table[words[-1]])]
        beam = sorted(longer, key=lambda pair: pair[1], reverse=True)[:beam_width]
    scored = [(total / (len(words) - 1) ** length_power, words[1:]) for words, total in beam]
    score, words = max(scored)
    return words, score


def wrong_best_of_each_beginning(log_probability, beam_width, length_power):
    """Each beginning keeps its own best extensions, as many as the beam is wide."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = []
        for words, total in beam:
            if words[-1] == EOS:
                longer.append((words, total))
                continue
            own = [([*words, w], total + p) for w, p in enumerate(table[words[-1]])]
            longer += sorted(own, key=lambda pair: pair[1], reverse=True)[:beam_width]
        beam = longer
    scored = [(total / (len(words) - 1) ** length_power, words[1:]) for words, total in beam]
    score, words = max(scored)
    return words, score


def wrong_one_of_each_beginning(log_probability, beam_width, length_power):
    """It keeps the best alone of all sentences that begin with the same word."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = [pair for pair in beam if pair[0][-1] == EOS]
        for words, total in beam:
            if words[-1] != EOS:
                longer += [([*words, w], total + p) for w, p in enumerate(table[words[-1]])]
        longer.sort(key=lambda pair: pair[1], reverse=True)
        kept = {}
        for words, total in longer:
            kept.setdefault(words[1], (words, total))
        beam = [*kept.values()][:beam_width]
    scored = [(total / (len(words) - 1) ** length_power, words[1:]) for words, total in beam]
    score, words = max(scored)
    return words, score


def wrong_merges_what_ends_alike(log_probability, beam_width, length_power):
    """It keeps the best alone of all sentences that end in the same word, as in Viterbi's."""
    beam = [([BOS], 0.0)]
    for table in log_probability.tolist():
        longer = [pair for pair in beam if pair[0][-1] == EOS]
        for words, total in beam:
            if words[-1] != EOS:
                longer += [([*words, w], total + p) for w, p in enumerate(table[words[-1]])]
        longer.sort(key=lambda pair: pair[1], reverse=True)
        kept = {}
        for words, total in longer:
            kept.setdefault(words[-1], (words, total))
        beam = [*kept.values()][:beam_width]
    scored = [(total / (len(words) - 1) ** length_power, words[1:]) for words, total in beam]
    score, words = max(scored)
    return words, score
