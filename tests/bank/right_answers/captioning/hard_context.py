"""Right answers to part C: each earns every point."""

import torch
from torch.distributions import Categorical


def by_multinomial(scores, features):
    weights = scores.flatten(1).softmax(-1)
    cells = torch.multinomial(weights, 1).squeeze(1)
    return features.flatten(1, 2)[torch.arange(len(cells), device=cells.device), cells], cells


def by_a_distribution(scores, features):
    cells = Categorical(logits=scores.flatten(1)).sample()
    where = cells[:, None, None].expand(-1, 1, features.shape[-1])
    return features.flatten(1, 2).gather(1, where).squeeze(1), cells


def by_the_cumulated_weights(scores, features):
    weights = scores.flatten(1).double().softmax(-1)
    chance = torch.rand(len(weights), 1, dtype=weights.dtype, device=weights.device)
    cells = (weights.cumsum(-1) <= chance * weights.sum(-1, keepdim=True)).sum(-1)
    row, column = cells // scores.shape[2], cells % scores.shape[2]
    return features[torch.arange(len(cells), device=cells.device), row, column], cells


def by_row_and_then_column(scores, features):
    """A row's probability is the sum of its weights, so its score is a logarithm of powers."""
    at = torch.arange(len(scores), device=scores.device)
    row = Categorical(logits=scores.logsumexp(-1)).sample()
    column = Categorical(logits=scores[at, row]).sample()
    return features[at, row, column], row * scores.shape[2] + column


def by_noise_on_the_scores(scores, features):
    """The greatest of scores with Gumbel noise is drawn with the softmax's probabilities."""
    flat = scores.flatten(1)
    noise = -torch.log(torch.empty_like(flat).exponential_())
    cells = (flat + noise).argmax(-1)
    one_hot = torch.nn.functional.one_hot(cells, flat.shape[1]).to(features.dtype)
    return (one_hot.unsqueeze(1) @ features.flatten(1, 2)).squeeze(1), cells


def by_a_draw_that_lets_gradients_through(scores, features):
    one_hot = torch.nn.functional.gumbel_softmax(scores.flatten(1), hard=True)
    context = torch.einsum("bc,bcd->bd", one_hot, features.flatten(1, 2))
    return context, one_hot.argmax(-1)


def by_images(scores, features):
    contexts, cells = [], []
    for table, there in zip(scores, features, strict=True):
        weights = table.flatten().softmax(0)
        cells.append(int(torch.multinomial(weights, 1)))
        contexts.append(there[divmod(cells[-1], table.shape[1])])
    return torch.stack(contexts), torch.tensor(cells, device=scores.device)
