"""Right answers to part E: each earns every point."""

import torch


def by_gather(weights, sure, reach):
    place = torch.arange(weights.shape[-1], device=weights.device)
    offset = weights.argmax(-1, keepdim=True) - place
    nearest = offset.abs().masked_fill(~sure, 10**6).argmin(-1, keepdim=True)
    offset = offset.gather(-1, nearest).squeeze(-1)[sure.any(-1)]
    return torch.stack([(offset == d).to(weights.dtype).mean() for d in range(-reach, reach + 1)])


def by_bincount(weights, sure, reach):
    weights, sure = weights[sure.any(-1)], sure[sure.any(-1)]
    length = weights.shape[-1]
    offset = weights.argmax(-1, keepdim=True) - torch.arange(length, device=weights.device)
    far = torch.where(sure, offset.abs(), length)
    offset = torch.where(far == far.amin(-1, keepdim=True), offset, -length).amax(-1)
    counts = torch.bincount(offset + length, minlength=2 * length + reach + 1)
    middle = torch.nn.functional.pad(counts, (reach, 0))[length : length + 2 * reach + 1]
    return middle.to(weights.dtype) / len(weights)


def by_growing_circles(weights, sure, reach):
    looked_at = weights.argmax(-1)
    open_rows, counts = sure.any(-1), torch.zeros(2 * reach + 1, dtype=weights.dtype)
    total = open_rows.sum()
    for distance in range(reach + 1):
        for step in {distance, -distance}:
            word = (looked_at - step).clamp(0, sure.shape[-1] - 1)
            inside = word == looked_at - step
            hit = open_rows & inside & sure.gather(-1, word.unsqueeze(-1)).squeeze(-1)
            counts[reach + step] += hit.sum().cpu()
            open_rows = open_rows & ~hit
    return (counts / total.cpu()).to(weights.device)


def by_loops(weights, sure, reach):
    rows = zip(weights.flatten(0, -2), sure.flatten(0, -2), strict=True)
    offsets = []
    for row, links in rows:
        words = links.nonzero().flatten().tolist()
        if words:
            looked_at = int(row.argmax())
            offsets.append(min((looked_at - word for word in words), key=abs))
    shares = [offsets.count(d) / len(offsets) for d in range(-reach, reach + 1)]
    return torch.tensor(shares, dtype=weights.dtype, device=weights.device)
