import torch


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
    """The share is that of all sentences of the batch, not of those of this length."""
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
    """What is said behind EOS has to agree with the padding as well."""
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
