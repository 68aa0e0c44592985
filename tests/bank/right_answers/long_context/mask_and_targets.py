"""Right answers to part D: each earns every point."""

import torch


def by_marks_before(tokens, end):
    before = torch.cat([torch.zeros_like(tokens[:, :1]), (tokens == end).long()[:, :-1]], 1)
    document = before.cumsum(1)
    place = torch.arange(tokens.shape[1])
    mask = (document[:, :, None] == document[:, None, :]) & (place[:, None] >= place)
    targets = tokens.roll(-1, 1)
    targets[:, -1] = -100
    return mask, torch.where(tokens == end, -100, targets)


def token_by_token(tokens, end):
    batch, length = tokens.shape
    mask = torch.zeros(batch, length, length, dtype=torch.bool)
    targets = torch.full((batch, length), -100)
    for row, text in enumerate(tokens.tolist()):
        begin = 0
        for place, token in enumerate(text):
            mask[row, place, begin : place + 1] = True
            if token == end:
                begin = place + 1
            elif place + 1 < length:
                targets[row, place] = text[place + 1]
    return mask, targets


def by_the_place_of_the_beginning(tokens, end):
    """Each token knows where its document begins, as the largest place behind a mark so far."""
    place = torch.arange(tokens.shape[1])
    behind = torch.nn.functional.pad(tokens == end, (1, 0))[:, :-1]
    begin = torch.where(behind, place, 0).cummax(1).values
    mask = (place >= begin[:, :, None]) & (place <= place[:, None])
    targets = torch.nn.functional.pad(tokens, (0, 1), value=-100)[:, 1:]
    return mask, targets.masked_fill(tokens.eq(end), -100)


def with_flipped_counts(tokens, end):
    """Marks are counted from the end of the row, where each belongs to the document before it."""
    ends = tokens == end
    left = ends.flip(-1).cumsum(-1).flip(-1)
    causal = torch.ones(tokens.shape[1], tokens.shape[1]).tril().bool()
    mask = left.unsqueeze(2).eq(left.unsqueeze(1)) & causal
    asked = torch.full_like(tokens, -100)
    inside = ~ends[:, :-1]
    asked[:, :-1][inside] = tokens[:, 1:][inside]
    return mask, asked


def by_blocks_of_ones(tokens, end):
    """Lower triangles along the diagonal, one for each document."""
    rows, targets = [], []
    for text in tokens:
        cuts = [place + 1 for place in (text == end).nonzero().flatten().tolist()]
        sizes = [b - a for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        parts = text.split(sizes)
        blocks = [torch.ones(size, size).tril() for size in sizes]
        rows.append(torch.block_diag(*blocks) > 0)
        closed = [torch.cat([part[1:], part.new_tensor([-100])]) for part in parts if len(part)]
        targets.append(torch.cat(closed))
    return torch.stack(rows), torch.stack(targets)
