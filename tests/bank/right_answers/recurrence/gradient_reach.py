"""Right answers to part B: each earns every point."""

import torch


def by_one_gradient(layer, tokens, direction):
    tokens = tokens.detach().requires_grad_()
    number = layer(tokens)[:, -1] @ direction
    (gradient,) = torch.autograd.grad(number.sum(), tokens, materialize_grads=True)
    return gradient.norm(dim=-1).mean(0).flip(0)


def by_the_mean_of_the_numbers(layer, tokens, direction):
    tokens = tokens.clone().requires_grad_()
    number = (layer(tokens) @ direction)[:, -1].mean()
    (gradient,) = torch.autograd.grad(number, [tokens], allow_unused=True)
    if gradient is None:
        return tokens.new_zeros(tokens.shape[1])
    return gradient.square().sum(-1).sqrt().sum(0).flip(0)


def sequence_by_sequence(layer, tokens, direction):
    reach = torch.zeros(len(tokens), tokens.shape[1], dtype=tokens.dtype, device=tokens.device)
    for row, sequence in zip(reach, tokens, strict=True):
        sequence = sequence.clone().requires_grad_()
        number = layer(sequence.unsqueeze(0))[0, -1] @ direction
        (gradient,) = torch.autograd.grad(number, sequence, materialize_grads=True)
        row.copy_(torch.linalg.vector_norm(gradient, dim=1))
    return reach.mean(0)[torch.arange(tokens.shape[1] - 1, -1, -1)]


def by_torch_func(layer, tokens, direction):
    def number(given):
        return (layer(given)[:, -1] @ direction).sum()

    gradient = torch.func.grad(number)(tokens)
    return torch.linalg.norm(gradient, dim=2).mean(0).flip(0)


def by_backward_on_tokens_alone(layer, tokens, direction):
    leaf = tokens.clone().requires_grad_()
    (layer(leaf)[:, -1] @ direction).sum().backward(inputs=[leaf])
    gradient = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    return gradient.pow(2).sum(-1).pow(0.5).mean(0).flip(0)


def backwards_in_time(layer, tokens, direction):
    steps = [token.clone().requires_grad_() for token in tokens.unbind(1)]
    number = (layer(torch.stack(steps, 1))[:, -1] * direction).sum()
    gradients = torch.autograd.grad(number, steps, materialize_grads=True)
    return torch.stack([gradient.norm(dim=-1).mean() for gradient in gradients[::-1]])
