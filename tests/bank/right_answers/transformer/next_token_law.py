"""Right answers to part D: each earns every point."""

import torch
from torch.nn import functional


def by_scatter(logits, temperature, top_p):
    if temperature == 0:
        return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    ranked, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    ranked = torch.where(ranked.cumsum(-1) - ranked < top_p, ranked, 0)
    law = torch.zeros_like(logits).scatter_(-1, order, ranked)
    return law / law.sum(-1, keepdim=True)


def by_logits_that_are_minus_infinity(logits, temperature, top_p):
    if temperature == 0:
        return functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    logits = logits / temperature
    ranked, order = torch.sort(logits, descending=True, dim=-1)
    total = ranked.softmax(-1).cumsum(-1)
    gone = total >= top_p
    gone[..., 1:] = gone[..., :-1].clone()
    gone[..., 0] = False
    gone = gone.scatter(-1, order, gone)
    return logits.masked_fill(gone, -torch.inf).softmax(-1)


def from_the_smallest(logits, temperature, top_p):
    if temperature == 0:
        return torch.eye(logits.shape[-1], dtype=logits.dtype)[logits.argmax(-1)]
    law = torch.softmax(logits / temperature, -1)
    ranked, order = law.sort(-1)
    upwards = ranked.flip(-1).cumsum(-1).flip(-1)  # the sum from each token on to the largest
    kept = upwards - ranked < top_p
    law = law * kept.gather(-1, order.argsort(-1))
    return law / law.sum(-1, keepdim=True)


def by_comparing_all_pairs(logits, temperature, top_p):
    place = torch.arange(logits.shape[-1])
    if temperature == 0:
        return (place == logits.argmax(-1, keepdim=True)).to(logits)
    law = torch.softmax(logits / temperature, -1)
    mine, others = law.unsqueeze(-1), law.unsqueeze(-2)
    ahead = (others > mine) | ((others == mine) & (place < place.unsqueeze(-1)))
    law = law * ((others * ahead).sum(-1) < top_p)
    return law / law.sum(-1, keepdim=True)


def row_by_row(logits, temperature, top_p):
    law = torch.zeros_like(logits)
    for row, out in zip(
        logits.reshape(-1, logits.shape[-1]), law.view(-1, logits.shape[-1]), strict=True
    ):
        if temperature == 0:
            out[row.argmax()] = 1
            continue
        p = (row / temperature).softmax(0)
        total = 0
        for token in p.argsort(descending=True):
            out[token] = p[token]
            total += p[token]
            if total >= top_p:
                break
        out /= out.sum()
    return law
