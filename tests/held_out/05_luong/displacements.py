import torch


def _nearest(weights, sure):
    offset = weights.argmax(-1, keepdim=True) - torch.arange(weights.shape[-1])
    size = offset.abs().masked_fill(~sure, weights.shape[-1])
    return offset.gather(-1, size.argmin(-1, keepdim=True)).squeeze(-1)


def wrong_sign(weights, sure, reach):
    """It counts the word's place less the place looked at, so left and right are exchanged."""
    offset = -_nearest(weights, sure)[sure.any(-1)]
    places = torch.arange(-reach, reach + 1)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def wrong_first_sure_word(weights, sure, reach):
    """It compares with the first sure word, not with the nearest."""
    offset = weights.argmax(-1) - sure.int().argmax(-1)
    offset = offset[sure.any(-1)]
    places = torch.arange(-reach, reach + 1)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def wrong_divided_by_all_rows(weights, sure, reach):
    """It divides by the number of all rows, those without a sure link among them."""
    offset = _nearest(weights, sure)[sure.any(-1)]
    places = torch.arange(-reach, reach + 1)
    counts = (offset.unsqueeze(-1) == places).to(weights.dtype).sum(0)
    return counts / sure.any(-1).numel()


def wrong_far_ones_at_the_edge(weights, sure, reach):
    """Offsets beyond the reach are counted at its edge."""
    offset = _nearest(weights, sure)[sure.any(-1)].clamp(-reach, reach)
    places = torch.arange(-reach, reach + 1)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def wrong_only_those_within_reach(weights, sure, reach):
    """It divides by the words within reach, so that the shares sum to 1."""
    offset = _nearest(weights, sure)[sure.any(-1)]
    places = torch.arange(-reach, reach + 1)
    counts = (offset.unsqueeze(-1) == places).to(weights.dtype).sum(0)
    return counts / counts.sum()


def wrong_counts(weights, sure, reach):
    """It returns how many words there are at each offset, not their share."""
    offset = _nearest(weights, sure)[sure.any(-1)]
    places = torch.arange(-reach, reach + 1)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).sum(0)


def right_counted_in_python(weights, sure, reach):
    """Plain loops over rows and links, and a list of counts."""
    width = weights.shape[-1]
    counts, words = [0] * (2 * reach + 1), 0
    rows = zip(weights.reshape(-1, width), sure.reshape(-1, width), strict=True)
    for row, links in rows:
        linked = links.nonzero().flatten().tolist()
        if not linked:
            continue
        words += 1
        looked = int(row.argmax())
        offset = min((looked - place for place in linked), key=abs)
        if -reach <= offset <= reach:
            counts[offset + reach] += 1
    return torch.tensor([count / words for count in counts], dtype=weights.dtype)
