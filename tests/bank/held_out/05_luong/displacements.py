import torch
from torch import Tensor


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


def wrong_sign_again(weights, sure, reach):
    """Counts l - g instead of g - l, so left and right are swapped."""
    source_len = weights.shape[-1]
    guess = weights.argmax(-1, keepdim=True)
    offset = torch.arange(source_len, device=weights.device) - guess
    size = offset.abs().masked_fill(~sure, source_len)
    nearest = offset.gather(-1, size.argmin(-1, keepdim=True)).squeeze(-1)
    nearest = nearest[sure.any(-1)]
    place = torch.arange(-reach, reach + 1, device=weights.device)
    return (nearest[:, None] == place).to(weights.dtype).mean(0)


def wrong_first_sure_word_again(weights, sure, reach):
    """Takes the first sure word of each row instead of the one nearest to the greatest weight."""
    has_link = sure.any(dim=-1)
    g = weights.argmax(dim=-1)[has_link]
    first = sure.int().argmax(dim=-1)[has_link]
    offset = g - first
    shares = [(offset == o).sum() / len(offset) for o in range(-reach, reach + 1)]
    return torch.stack(shares).to(weights.dtype)


def wrong_far_ones_clamped_all_rows(weights, sure, reach):
    """Two mistakes: offsets beyond the reach are counted at its ends, and rows without a sure link
    are counted in the divisor."""
    length = weights.shape[-1]
    weights, sure = weights.reshape(-1, length), sure.reshape(-1, length)
    guess = weights.argmax(1)
    counts = weights.new_zeros(2 * reach + 1)
    for row in range(len(weights)):
        places = sure[row].nonzero().flatten()
        if len(places) == 0:
            continue
        offset = guess[row] - places
        nearest = offset[offset.abs().argmin()].item()
        nearest = max(-reach, min(reach, nearest))
        counts[nearest + reach] += 1
    return counts / len(weights)


def right_plain_python(weights, sure, reach):
    """Rows as plain lists, the nearest by min with a key, counted in a list."""
    rows = zip(
        weights.argmax(-1).flatten().tolist(),
        sure.flatten(0, -2).tolist(),
    )
    counts, total = [0] * (2 * reach + 1), 0
    for g, row in rows:
        offsets = [g - place for place, here in enumerate(row) if here]
        if not offsets:
            continue
        total += 1
        nearest = min(offsets, key=abs)
        if -reach <= nearest <= reach:
            counts[nearest + reach] += 1
    return weights.new_tensor(counts) / total


def wrong_sign_fifth(weights, sure, reach):
    """It takes the place of the link minus the place of the look."""
    rows = sure.flatten(0, -2)
    looks = weights.flatten(0, -2).argmax(-1)
    place = torch.arange(weights.shape[-1])
    far = (looks[:, None] - place).masked_fill(~rows, 10**6)
    offset = far.gather(1, far.abs().argmin(-1, keepdim=True))[:, 0][rows.any(-1)]
    return torch.stack([(offset == -d).to(weights.dtype).mean() for d in range(-reach, reach + 1)])


def wrong_counts_rows_without_links(weights, sure, reach):
    """It divides by all rows, also by those without a sure link."""
    rows = sure.flatten(0, -2)
    looks = weights.flatten(0, -2).argmax(-1)
    place = torch.arange(weights.shape[-1])
    far = (looks[:, None] - place).masked_fill(~rows, 10**6)
    offset = far.gather(1, far.abs().argmin(-1, keepdim=True))[:, 0]
    return torch.stack([(offset == d).to(weights.dtype).mean() for d in range(-reach, reach + 1)])


def wrong_first_sure_word_fifth(weights, sure, reach):
    """It measures from the first sure word, not from the nearest."""
    offset = (weights.argmax(-1) - sure.int().argmax(-1))[sure.any(-1)]
    places = torch.arange(-reach, reach + 1)
    return (offset[:, None] == places).to(weights.dtype).mean(0)


def wrong_far_looks_left_out(weights, sure, reach):
    """It leaves looks beyond the reach out of the count, so the shares always sum to 1."""
    place = torch.arange(weights.shape[-1])
    offset = weights.argmax(-1, keepdim=True) - place
    size = offset.abs().masked_fill(~sure, weights.shape[-1])
    offset = offset.gather(-1, size.argmin(-1, keepdim=True)).squeeze(-1)[sure.any(-1)]
    hits = (offset[:, None] == torch.arange(-reach, reach + 1)).to(weights.dtype).sum(0)
    return hits / hits.sum().clamp(min=1)


def right_word_by_word(weights, sure, reach):
    """Plain lists and a loop over the words count the offsets."""
    width = weights.shape[-1]
    counts, number = [0] * (2 * reach + 1), 0
    looks = weights.argmax(-1).flatten().tolist()
    for look, links in zip(looks, sure.reshape(-1, width).tolist(), strict=True):
        offsets = [look - place for place, link in enumerate(links) if link]
        if offsets:
            number += 1
            nearest = min(offsets, key=abs)
            if abs(nearest) <= reach:
                counts[nearest + reach] += 1
    return torch.tensor(counts, dtype=weights.dtype) / number


def wrong_first_sure_word_sixth(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Takes the first sure word of each row, not the one nearest to the look."""
    offset = weights.argmax(-1) - sure.long().argmax(-1)
    offset = offset[sure.any(-1)]
    places = torch.arange(-reach, reach + 1, device=weights.device)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def wrong_shares_of_those_within_reach(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Divides by the number of words within reach, so that the shares sum to 1."""
    source = torch.arange(weights.shape[-1], device=weights.device)
    offset = weights.argmax(-1, keepdim=True) - source
    size = offset.abs().masked_fill(~sure, weights.shape[-1])
    offset = offset.gather(-1, size.argmin(-1, keepdim=True)).squeeze(-1)[sure.any(-1)]
    places = torch.arange(-reach, reach + 1, device=weights.device)
    count = (offset.unsqueeze(-1) == places).to(weights.dtype).sum(0)
    return count / count.sum().clamp(min=1)


def wrong_sign_sixth(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Subtracts the place of the look from the word's place, so left and right are swapped."""
    source = torch.arange(weights.shape[-1], device=weights.device)
    offset = source - weights.argmax(-1, keepdim=True)
    size = offset.abs().masked_fill(~sure, weights.shape[-1])
    offset = offset.gather(-1, size.argmin(-1, keepdim=True)).squeeze(-1)[sure.any(-1)]
    places = torch.arange(-reach, reach + 1, device=weights.device)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def right_counts(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Goes through the rows that have a link, and counts their offsets in a list."""
    linked = sure.any(-1)
    looks = weights.argmax(-1)[linked].tolist()
    count = [0] * (2 * reach + 1)
    for look, row in zip(looks, sure[linked].tolist(), strict=True):
        offsets = [look - place for place, is_sure in enumerate(row) if is_sure]
        nearest = min(offsets, key=abs)
        if abs(nearest) <= reach:
            count[nearest + reach] += 1
    shares = [number / len(looks) for number in count]
    return torch.tensor(shares, dtype=weights.dtype, device=weights.device)


def wrong_first_sure_word_seventh(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Takes the first sure word of each row, not the one nearest to the greatest weight."""
    offset = weights.argmax(-1) - sure.int().argmax(-1)
    offset = offset[sure.any(-1)]
    places = torch.arange(-reach, reach + 1, device=sure.device)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def nearest_offsets(weights: Tensor, sure: Tensor) -> Tensor:
    source_len = weights.shape[-1]
    place = torch.arange(source_len, device=weights.device)
    offset = weights.argmax(-1, keepdim=True) - place
    size = offset.abs().masked_fill(~sure, source_len)
    nearest = size.argmin(-1, keepdim=True)
    return offset.gather(-1, nearest).squeeze(-1)[sure.any(-1)]


def wrong_share_of_those_in_reach(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Divides by the number of words within reach, so that the shares sum to 1."""
    offset = nearest_offsets(weights, sure)
    places = torch.arange(-reach, reach + 1, device=sure.device)
    count = (offset.unsqueeze(-1) == places).to(weights.dtype).sum(0)
    return count / count.sum().clamp(min=1)


def wrong_sign_seventh(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Subtracts the other way round: left and right are swapped."""
    offset = -nearest_offsets(weights, sure)
    places = torch.arange(-reach, reach + 1, device=sure.device)
    return (offset.unsqueeze(-1) == places).to(weights.dtype).mean(0)


def right_by_counting(weights: Tensor, sure: Tensor, reach: int) -> Tensor:
    """Asks at every distance from 0 on, and counts the places that were found."""
    counts = [0] * (2 * reach + 1)
    rows = sure.any(-1)
    greatest = weights.argmax(-1)[rows].tolist()
    for place, links in zip(greatest, sure[rows].tolist()):
        sure_places = [number for number, link in enumerate(links) if link]
        nearest = min(sure_places, key=lambda number: abs(place - number))
        if abs(place - nearest) <= reach:
            counts[place - nearest + reach] += 1
    return weights.new_tensor(counts) / len(greatest)


def wrong_shadowed_name(weights, sure, reach):
    """The loop variable takes the name of an argument."""
    rows, links = weights.flatten(0, -2), sure.flatten(0, -2)
    counts, total = [0.0] * (2 * reach + 1), 0
    for weights, sure in zip(rows, links):
        if sure.any():
            total += 1
            place = int(weights.argmax())
            offset = min((place - w for w in sure.nonzero().flatten().tolist()), key=abs)
            if abs(offset) <= reach:
                counts[offset + reach] += 1
    return torch.tensor(counts, dtype=weights.dtype) / len(weights)
