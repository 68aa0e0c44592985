"""Right answers to part C: each earns every point."""

import torch


def layer_by_layer(allowed):
    heard = torch.eye(allowed.shape[-1], dtype=torch.bool, device=allowed.device)
    heard = heard.expand_as(allowed)
    layers = heard.long() - 1
    for layer in range(1, allowed.shape[-1]):
        told = allowed.float() @ heard.float() > 0
        layers = layers.masked_fill(told & ~heard, layer)
        heard = heard | told
    return layers


def by_the_layers_without(allowed):
    heard = torch.eye(allowed.shape[-1], device=allowed.device).expand(allowed.shape)
    step, layers = (allowed + heard).clamp(max=1), torch.zeros_like(allowed, dtype=torch.int64)
    for _ in range(allowed.shape[-1]):
        layers += heard == 0
        heard = (heard @ step).clamp(max=1)
    return layers.masked_fill(heard == 0, -1)


def through_one_token_more(allowed):
    n = allowed.shape[-1]
    layers = torch.where(allowed, 1.0, torch.inf)
    layers.diagonal(dim1=-2, dim2=-1).fill_(0)
    for middle in range(n):
        way = layers[..., :, [middle]] + layers[..., [middle], :]
        layers = torch.minimum(layers, way)
    return layers.masked_fill(layers.isinf(), -1).long()


def by_queues(allowed):
    n = allowed.shape[-1]
    rows = []
    for mask in allowed.reshape(-1, n, n).tolist():
        looks = [[key for key in range(n) if row[key]] for row in mask]
        for query in range(n):
            layers, queue = {query: 0}, [query]
            for token in queue:
                for other in looks[token]:
                    if other not in layers:
                        layers[other] = layers[token] + 1
                        queue.append(other)
            rows.append([layers.get(key, -1) for key in range(n)])
    return torch.tensor(rows, device=allowed.device).view(allowed.shape)


def by_what_is_new(allowed):
    new = torch.eye(allowed.shape[-1], dtype=torch.bool, device=allowed.device)
    new = new.expand_as(allowed)
    layers, layer = torch.full(allowed.shape, -1, device=allowed.device), 0
    while new.any():
        layers[new] = layer
        layer += 1
        new = (allowed.double() @ new.double()).bool() & (layers == -1)
    return layers
