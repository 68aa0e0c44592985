import torch
from torch import Tensor


def wrong_zeros_behind(sequence, mask):
    """The result is made of zeros, so whatever stood at the padding is lost."""
    result = torch.zeros_like(sequence)
    for row, length in enumerate(mask.sum(1).tolist()):
        result[row, :length] = sequence[row, :length].flip(0)
    return result


def wrong_in_place(sequence, mask):
    """It turns the rows of the caller's own tensor round."""
    for row, length in enumerate(mask.sum(1).tolist()):
        sequence[row, :length] = sequence[row, :length].flip(0).clone()
    return sequence


def wrong_longest_row(sequence, mask):
    """Every row is turned round within the longest length of the batch, not within its own."""
    longest = int(mask.sum(1).max())
    return torch.cat([sequence[:, :longest].flip(1), sequence[:, longest:]], 1)


def wrong_off_by_one(sequence, mask):
    """The word of place t comes from place n - t, one too far to the right."""
    length = mask.sum(1, keepdim=True)
    place = torch.arange(mask.shape[1]).expand(mask.shape)
    source = torch.where(mask, (length - place).clamp_max(mask.shape[1] - 1), place)
    return sequence[torch.arange(len(sequence)).unsqueeze(1), source]


def wrong_mask_by_value(sequence, mask):
    """It counts the words by what is not 0, not by the mask."""
    real = sequence != 0 if sequence.ndim == 2 else (sequence != 0).any(-1)
    place = torch.arange(mask.shape[1]).expand(mask.shape)
    source = torch.where(real, real.sum(1, keepdim=True) - 1 - place, place)
    return sequence[torch.arange(len(sequence)).unsqueeze(1), source]


def right_by_sorting(sequence, mask):
    """It sorts the places by a key: words by minus their place, padding by its own place."""
    place = torch.arange(mask.shape[1]).expand(mask.shape)
    order = torch.where(mask, -place, place + mask.shape[1]).argsort(1)
    if sequence.ndim == 3:
        order = order.unsqueeze(-1).expand(sequence.shape)
    return sequence.gather(1, order)


def right_row_by_row(sequence, mask):
    """Each row is cut into words and padding, and put together again."""
    rows = [
        torch.cat([row[: int(n)].flip(0), row[int(n) :]])
        for row, n in zip(sequence, mask.sum(1), strict=True)
    ]
    return torch.stack(rows)


def wrong_length_of_the_first(sequence, mask):
    """Every row is turned round within the length of the first row."""
    length = int(mask[0].sum())
    return torch.cat([sequence[:, :length].flip(1), sequence[:, length:]], 1)


def wrong_rolled_back(sequence, mask):
    """Each row is turned whole and rolled to the front: the words are right, the padding turned."""
    rows = []
    for row, words in zip(sequence.flip(1), mask, strict=True):
        rows.append(row.roll(-int((~words).sum()), 0))
    return torch.stack(rows)


def wrong_padding_becomes_zero(sequence, mask):
    """Fills in the words only and leaves 0 at the padding, whatever was there."""
    result = torch.zeros_like(sequence)
    for row in range(sequence.shape[0]):
        n = int(mask[row].sum())
        result[row, :n] = sequence[row, :n].flip(0)
    return result


def wrong_in_place_again(sequence, mask):
    """Reverses the rows in the tensor of the caller."""
    lengths = mask.sum(dim=1)
    for i, n in enumerate(lengths.tolist()):
        sequence[i, :n] = torch.flip(sequence[i, :n], dims=[0])
    return sequence


def wrong_rolled_padding_numbers_only(sequence, mask):
    """Two mistakes: flips and rolls the whole row, so the padding is reversed too, and gather takes
    a 2-D index, which fails for vectors."""
    length = sequence.shape[1]
    words = mask.sum(1, keepdim=True)
    flipped = sequence.flip(1)
    place = torch.arange(length, device=mask.device)
    index = (place + length - words) % length
    return flipped.gather(1, index)


def right_row_by_row_again(sequence, mask):
    """Each row is its flipped words, then its padding; the rows are stacked."""
    rows = [torch.cat([row[words].flip(0), row[~words]]) for row, words in zip(sequence, mask)]
    return torch.stack(rows)


def wrong_rolls_by_one_too_few(sequence, mask):
    """It is off by one: the last word comes second, and the first is padding."""
    length = mask.sum(-1, keepdim=True)
    place = torch.arange(mask.shape[-1])
    index = torch.where(place < length, (length - place).clamp(max=mask.shape[-1] - 1), place)
    if sequence.dim() == 3:
        index = index[..., None].expand(sequence.shape)
    return sequence.gather(1, index)


def wrong_length_of_the_first_row(sequence, mask):
    """It reverses every row within the length of the first."""
    n = int(mask[0].sum())
    return torch.cat([sequence[:, :n].flip(1), sequence[:, n:]], 1)


def wrong_flips_whole_rows(sequence, mask):
    """It flips whole rows, so the padding comes first."""
    return sequence.flip(1)


def wrong_padding_set_to_zero(sequence, mask):
    """It reverses the words rightly, but sets whatever is at the padding to 0."""
    length = mask.sum(-1, keepdim=True)
    place = torch.arange(mask.shape[1])
    index = torch.where(mask, length - 1 - place, place)
    rows = torch.arange(len(mask))[:, None]
    real = mask if sequence.dim() == 2 else mask[..., None]
    return sequence[rows, index].masked_fill(~real, 0)


def right_row_by_row_fifth(sequence, mask):
    """Each row is cut behind its words, turned round, and put together again."""
    rows = []
    for row, real in zip(sequence, mask, strict=True):
        n = int(real.sum())
        rows.append(torch.cat([row[:n].flip(0), row[n:]]))
    return torch.stack(rows)


def wrong_padding_becomes_zero_sixth(sequence: Tensor, mask: Tensor) -> Tensor:
    """Fills a table of zeros with the reversed words, so what was at the padding is lost."""
    result = torch.zeros_like(sequence)
    for row, length in enumerate(mask.sum(1).tolist()):
        result[row, :length] = sequence[row, :length].flip(0)
    return result


def wrong_end_stays_last(sequence: Tensor, mask: Tensor) -> Tensor:
    """Reverses the words before EOS and leaves EOS behind them."""
    place = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
    length = mask.sum(1, keepdim=True) - 1
    origin = torch.where(place < length, length - 1 - place, place)
    row = torch.arange(len(mask), device=mask.device).unsqueeze(1)
    return sequence[row, origin]


def wrong_in_place_sixth(sequence: Tensor, mask: Tensor) -> Tensor:
    """Writes the reversed words into the tensor of the caller."""
    for row, length in enumerate(mask.sum(1).tolist()):
        sequence[row, :length] = sequence[row, :length].flip(0)
    return sequence


def right_row_by_row_sixth(sequence: Tensor, mask: Tensor) -> Tensor:
    """Joins the flipped words of each row and its padding."""
    rows = []
    for row, length in zip(sequence, mask.sum(1).tolist(), strict=True):
        rows.append(torch.cat([row[:length].flip(0), row[length:]]))
    return torch.stack(rows)


def wrong_flips_the_whole_row(sequence: Tensor, mask: Tensor) -> Tensor:
    """Flips whole rows, so that the padding comes in front and pushes words out."""
    flipped = sequence.flip(1)
    words = mask if sequence.dim() == 2 else mask.unsqueeze(-1)
    return torch.where(words, flipped, sequence)


def wrong_padding_set_to_zero_seventh(sequence: Tensor, mask: Tensor) -> Tensor:
    """Writes 0 at the padding, instead of leaving what is there."""
    place = torch.ones_like(mask).cumsum(1) - 1
    mirrored = mask.sum(1, keepdim=True) - 1 - place
    row = torch.arange(len(mask), device=mask.device).unsqueeze(1)
    turned = sequence[row, mirrored.clamp(min=0)]
    turned[~mask] = 0
    return turned


def wrong_end_stays_in_place(sequence: Tensor, mask: Tensor) -> Tensor:
    """Reverses only the words before EOS, and leaves EOS at the end."""
    place = torch.ones_like(mask).cumsum(1) - 1
    words = mask.sum(1, keepdim=True) - 1
    source = torch.where(place < words, words - 1 - place, place)
    row = torch.arange(len(mask), device=mask.device).unsqueeze(1)
    return sequence[row, source]


def right_row_by_row_seventh(sequence: Tensor, mask: Tensor) -> Tensor:
    """Cuts each row behind its words, turns the front round, and joins the two again."""
    rows = []
    for row, length in zip(sequence, mask.sum(1).tolist()):
        rows.append(torch.cat([row[:length].flip(0), row[length:]]))
    return torch.stack(rows)


def wrong_rolled_the_other_way(sequence, mask):
    """The whole row is flipped, and rolled by its padding to the right instead of to the left."""
    rows = []
    for row, seen in zip(sequence, mask):
        rows.append(row.flip(0).roll(int((~seen).sum()), 0))
    rolled = torch.stack(rows)
    where = mask.reshape(*mask.shape, *[1] * (sequence.ndim - 2))
    return torch.where(where, rolled, sequence)


def right_rolled_by_the_words(sequence, mask):
    """It is flipped and rolled to the right by the number of words."""
    rows = [row.flip(0).roll(int(seen.sum()), 0) for row, seen in zip(sequence, mask)]
    where = mask.reshape(*mask.shape, *[1] * (sequence.ndim - 2))
    return torch.where(where, torch.stack(rows), sequence)


def wrong_rolled_the_other_way_and_left(sequence, mask):
    """Likewise, and the padding is left as it comes."""
    rows = [row.flip(0).roll(int((~seen).sum()), 0) for row, seen in zip(sequence, mask)]
    return torch.stack(rows)
