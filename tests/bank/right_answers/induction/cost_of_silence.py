"""Right answers to part C: each earns every point."""

import torch
from torch.nn.functional import cross_entropy


def by_cross_entropy(model, tokens, again, num_layers, num_heads):
    def loss(scale):
        logits = model(tokens, scale)[:, :-1][again[:, 1:]]
        return cross_entropy(logits, tokens[:, 1:][again[:, 1:]])

    every = torch.ones(num_layers, num_heads)
    rises = torch.zeros(num_layers, num_heads)
    for layer in range(num_layers):
        for head in range(num_heads):
            scale = every.clone()
            scale[layer, head] = 0
            rises[layer, head] = loss(scale) - loss(every)
    return rises


def by_a_stack_of_scales(model, tokens, again, num_layers, num_heads):
    """All on, and then each off, from one identity matrix."""
    heads = num_layers * num_heads
    scales = torch.cat([torch.ones(1, heads), 1 - torch.eye(heads)])
    ignored = tokens.masked_fill(~again, -100)[:, 1:]
    losses = torch.stack(
        [
            cross_entropy(model(tokens, scale.view(num_layers, num_heads))[:, :-1].mT, ignored)
            for scale in scales
        ]
    )
    return (losses[1:] - losses[0]).view(num_layers, num_heads)


def by_switching_back(model, tokens, again, num_layers, num_heads):
    """In whole numbers and plain lists, one token at a time."""
    scale = torch.ones(num_layers, num_heads, dtype=torch.long)

    def loss():
        law = model(tokens, scale).double().log_softmax(-1)
        losses = [
            -law[text, place - 1, tokens[text, place]].item()
            for text, place in again.nonzero().tolist()
            if place > 0
        ]
        return sum(losses) / len(losses)

    whole, rows = loss(), []
    for layer in range(num_layers):
        rows.append([])
        for head in range(num_heads):
            scale[layer, head] = 0
            rows[-1].append(loss() - whole)
            scale[layer, head] = 1
    return torch.tensor(rows)


def by_difference_of_logarithms(model, tokens, again, num_layers, num_heads):
    """The mean of how much each logarithm has fallen."""
    here = again.clone()
    here[:, 0] = False
    index = here[:, 1:].nonzero(as_tuple=True)

    def log_p(scale):
        logits = model(tokens, scale)[index]
        said = logits.gather(1, tokens[:, 1:][index].unsqueeze(1)).squeeze(1)
        return said - logits.logsumexp(1)

    whole = log_p(torch.ones(num_layers, num_heads))
    rises = torch.empty(num_layers * num_heads)
    for number in range(len(rises)):
        scale = torch.ones(len(rises))
        scale[number] = 0
        rises[number] = (whole - log_p(scale.reshape(num_layers, num_heads))).mean()
    return rises.reshape(num_layers, num_heads)
