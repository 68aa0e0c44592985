from collections import defaultdict

import torch
from torch import Tensor, nn

from attn_course.seq2seq import EOS, PAD


def wrong_as_far_as_both_go(output, target):
    """Both are cut to the narrower one, so words that an output lacks are forgiven."""
    width = min(output.shape[1], target.shape[1])
    words = target[:, :width] != 0
    exact = ((output[:, :width] == target[:, :width]) | ~words).all(1)
    length = (target != 0).sum(1) - 1
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]


def wrong_end_not_asked(output, target):
    """Only the words are compared, so an output that goes on without EOS is a copy."""
    more = target.shape[1] - output.shape[1]
    output = torch.nn.functional.pad(output, (0, more))
    exact = ((output == target) | (target == 0) | (target == 2)).all(1)
    length = (target > 2).sum(1)
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]


def wrong_share_of_the_batch(output, target):
    """The share is of all sentences of the batch, not of the sentences of this length."""
    output = torch.nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    exact = ((output == target) | (target == 0)).all(1)
    length = (target != 0).sum(1) - 1
    pairs = []
    for n in length.unique().tolist():
        pairs.append((n, (exact & (length == n)).sum().item() / len(target)))
    return pairs


def wrong_end_in_the_length(output, target):
    """The length counts EOS."""
    output = torch.nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    exact = ((output == target) | (target == 0)).all(1)
    length = (target != 0).sum(1)
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]


def wrong_padding_compared(output, target):
    """Words behind EOS have to agree with the padding as well."""
    output = torch.nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    exact = (output == target).all(1)
    length = (target != 0).sum(1) - 1
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]


def right_with_lists(output, target):
    """Plain lists and a dictionary: each sentence up to its first EOS."""

    def sentence(row):
        return row[: row.index(2) + 1] if 2 in row else None

    found = {}
    for said, wanted in zip(output.tolist(), target.tolist(), strict=True):
        wanted = sentence(wanted)
        found.setdefault(len(wanted) - 1, []).append(sentence(said) == wanted)
    return [(n, sum(found[n]) / len(found[n])) for n in sorted(found)]


def wrong_compares_the_padding(output, target):
    """Compares whole rows, so what an output says after its EOS counts."""
    more = target.shape[1] - output.shape[1]
    output = nn.functional.pad(output, (0, more), value=PAD)
    exact = (output == target).all(1)
    length = (target != PAD).sum(1) - 1
    result = []
    for n in length.unique().tolist():
        result.append((n, exact[length == n].float().mean().item()))
    return result


def wrong_cut_to_the_shorter(output, target):
    """Cuts the target where the output is shorter, so an output that breaks off early counts as
    exact."""
    width = min(output.shape[1], target.shape[1])
    same = output[:, :width] == target[:, :width]
    padding = target[:, :width] == PAD
    exact = (same | padding).all(dim=1)
    lengths = (target != PAD).sum(dim=1) - 1
    pairs = []
    for n in sorted(set(lengths.tolist())):
        chosen = exact[lengths == n]
        pairs.append((n, chosen.sum().item() / len(chosen)))
    return pairs


def wrong_eos_in_length_share_of_batch(output, target):
    """Two mistakes: the length counts EOS, and the share is of the whole batch instead of the
    sentences of this length."""
    words = target != PAD
    more = target.size(1) - output.size(1)
    padded = nn.functional.pad(output, (0, more))
    exact = ((padded == target) | ~words).all(1)
    length = words.sum(1)
    return [(int(n), (exact & (length == n)).float().mean().item()) for n in length.unique()]


def right_lists_up_to_eos(output, target):
    """Compares plain lists, each target cut behind its EOS, and collects them in a dictionary."""
    verdicts = {}
    for said, wanted in zip(output.tolist(), target.tolist()):
        length = wanted.index(EOS)
        exact = said[: length + 1] == wanted[: length + 1]
        verdicts.setdefault(length, []).append(exact)
    return [(n, sum(v) / len(v)) for n, v in sorted(verdicts.items())]


def wrong_compares_up_to_the_target_without_eos(output, target):
    """It never asks for the EOS: a sentence that begins like the target is a copy."""
    found = {}
    for said, right in zip(output.tolist(), target.tolist(), strict=True):
        words = right[: right.index(2)]
        found.setdefault(len(words), []).append(said[: len(words)] == words)
    return [(n, sum(f) / len(f)) for n, f in sorted(found.items())]


def wrong_length_with_eos(output, target):
    """It counts EOS in the length."""
    found = {}
    for said, right in zip(output.tolist(), target.tolist(), strict=True):
        words = right[: right.index(2) + 1]
        found.setdefault(len(words), []).append(said[: len(words)] == words)
    return [(n, sum(f) / len(f)) for n, f in sorted(found.items())]


def wrong_rest_behind_the_end_counts(output, target):
    """It asks for PAD behind the EOS, so whatever is said after the end spoils a copy."""
    found = {}
    for said, right in zip(output.tolist(), target.tolist(), strict=True):
        n = right.index(2)
        width = max(len(said), len(right))
        said, right = said + [0] * (width - len(said)), right + [0] * (width - len(right))
        found.setdefault(n, []).append(said == right)
    return [(n, sum(f) / len(f)) for n, f in sorted(found.items())]


def wrong_cut_to_the_shorter_fifth(output, target):
    """It compares only as far as both go, so an output cut off before its EOS may be a copy."""
    found = {}
    for said, right in zip(output.tolist(), target.tolist(), strict=True):
        n = right.index(2)
        pairs = zip(said, right[: n + 1])
        found.setdefault(n, []).append(all(a == b for a, b in pairs))
    return [(n, sum(f) / len(f)) for n, f in sorted(found.items())]


def right_in_tensors(output, target):
    """Both are widened to one width, and compared where no EOS of the target has come before."""
    width = max(output.shape[1], target.shape[1])
    said = torch.nn.functional.pad(output, (0, width - output.shape[1]))
    right = torch.nn.functional.pad(target, (0, width - target.shape[1]))
    length = (right == 2).int().argmax(1)
    behind = torch.arange(width) > length[:, None]
    exact = ((said == right) | behind).all(1)
    return [(int(n), exact[length == n].float().mean().item()) for n in length.unique(sorted=True)]


def wrong_short_output_passes(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Compares only as many places as both have, so an output without EOS may pass."""
    word = target != PAD
    length = word.sum(1) - 1
    width = min(output.shape[1], target.shape[1])
    same = output[:, :width] == target[:, :width]
    exact = (same | ~word[:, :width]).all(1)
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]


def wrong_share_of_the_batch_sixth(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Divides by the number of all sentences, not of the sentences of the length."""
    output = nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    word = target != PAD
    length = word.sum(1) - 1
    exact = ((output == target) | ~word).all(1)
    share = {n: (exact & (length == n)).float().mean() for n in length.unique().tolist()}
    return [(n, s.item()) for n, s in share.items()]


def wrong_padding_compared_too(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Compares whole rows, so whatever is said after EOS counts as a mistake."""
    output = nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    exact = (output == target).all(1)
    length = (target != PAD).sum(1) - 1
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]


def right_with_lists_sixth(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Cuts the rows behind their EOS and compares them as lists."""
    results = {}
    for said, wanted in zip(output.tolist(), target.tolist(), strict=True):
        length = wanted.index(EOS)
        exact = said[: length + 1] == wanted[: length + 1]
        results.setdefault(length, []).append(exact)
    return [(length, sum(found) / len(found)) for length, found in sorted(results.items())]


def wrong_what_follows_counts(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Compares whole rows, so that what an output says after its EOS counts."""
    more = target.shape[1] - output.shape[1]
    exact = (nn.functional.pad(output, (0, more)) == target).all(1)
    length = (target != PAD).sum(1) - 1
    return [(int(n), exact[length == n].float().mean().item()) for n in length.unique()]


def wrong_compares_common_width(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Cuts both to the narrower one: words that an output lacks count as right."""
    length = (target != PAD).sum(1) - 1
    width = min(output.shape[1], target.shape[1])
    output, target = output[:, :width], target[:, :width]
    exact = ((output == target) | (target == PAD)).all(1)
    return [(int(n), exact[length == n].float().mean().item()) for n in length.unique()]


def wrong_share_of_all_sentences(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Divides by the number of all sentences, not by how many have the length."""
    more = target.shape[1] - output.shape[1]
    output = nn.functional.pad(output, (0, more))
    exact = ((output == target) | (target == PAD)).all(1)
    length = (target != PAD).sum(1) - 1
    shares = []
    for n in length.unique():
        copied = exact & (length == n)
        shares.append((int(n), copied.float().mean().item()))
    return shares


def until_end(row: list[int]) -> list[int] | None:
    return row[: row.index(EOS)] if EOS in row else None


def right_by_lists(output: Tensor, target: Tensor) -> list[tuple[int, float]]:
    """Cuts every row at its first EOS, and compares lists of words."""
    copied = defaultdict(list)
    for said, wanted in zip(output.tolist(), target.tolist()):
        words = until_end(wanted)
        copied[len(words)].append(until_end(said) == words)
    return [(n, sum(copied[n]) / len(copied[n])) for n in sorted(copied)]


def wrong_begins_at_length_one(output, target):
    """It goes through the lengths from 1 on, so a sentence of EOS alone is in none."""
    more = target.shape[1] - output.shape[1]
    output = nn.functional.pad(output, (0, more))
    exact = ((output == target) | (target == PAD)).all(1)
    length = (target != PAD).sum(1) - 1
    found = []
    for number in range(1, int(length.max()) + 1):
        if (length == number).any():
            found.append((number, exact[length == number].float().mean().item()))
    return found


def wrong_place_of_the_end(output, target):
    """It compares the place of the first EOS, and no word."""
    ends = []
    for row in output.tolist():
        ends.append(row.index(EOS) if EOS in row else -1)
    length = (target == EOS).int().argmax(1)
    exact = torch.tensor(ends) == length
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]


def wrong_place_of_the_end_by_argmax(output, target):
    """Likewise; an output without EOS has it at the first place in this one."""
    ends, length = ((one == EOS).int().argmax(1) for one in (output, target))
    return [
        (n, (ends == length)[length == n].float().mean().item()) for n in length.unique().tolist()
    ]


def wrong_empty_ones_left_out(output, target):
    """Sentences without a word are left out, as if there were nothing to copy."""
    more = target.shape[1] - output.shape[1]
    output = nn.functional.pad(output, (0, more))
    length = (target != PAD).sum(1) - 1
    exact = ((output == target) | (target == PAD)).all(1)[length > 0]
    length = length[length > 0]
    return [(n, exact[length == n].float().mean().item()) for n in length.unique().tolist()]
