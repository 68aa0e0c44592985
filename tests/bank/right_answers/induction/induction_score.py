"""Right answers to part A: each earns every point."""

import torch


def by_shifted_tokens(weights, tokens):
    length = tokens.shape[1]
    fits = torch.zeros(len(tokens), length, length, dtype=torch.bool)
    fits[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]
    fits = fits.tril()
    found = (weights * fits[:, None]).sum(-1)
    return found.transpose(0, 1)[:, fits.any(-1)].mean(-1)


def in_loops(weights, tokens):
    scores = []
    for head in range(weights.shape[1]):
        found = []
        for text, table in zip(tokens.tolist(), weights[:, head], strict=True):
            for query, token in enumerate(text):
                keys = [place + 1 for place in range(query) if text[place] == token]
                if keys:
                    found.append(table[query, keys].sum())
        scores.append(torch.stack(found).mean())
    return torch.stack(scores)


def by_einsum(weights, tokens):
    """Shift by padding, and count the queries with a maximum."""
    one_hot = torch.nn.functional.one_hot(tokens).to(weights.dtype)
    before = torch.nn.functional.pad(one_hot, (0, 0, 1, 0))[:, :-1]
    fits = torch.tril(torch.einsum("bqv,bkv->bqk", one_hot, before))
    total = torch.einsum("bhqk,bqk->h", weights, fits)
    return total / fits.amax(-1).sum()


def by_places(weights, tokens):
    """List all triples of text, query and key, and how many different queries there are."""
    text, query, key = torch.where(tokens[:, :, None] == tokens[:, None, :])
    kept = key < query
    text, query, key = text[kept], query[kept], key[kept] + 1
    counting = len({*zip(text.tolist(), query.tolist(), strict=True)})
    return weights[text, :, query, key].sum(0) / counting
