import torch


def wrong_length_of_the_mean(layer, tokens, direction):
    """It takes the mean of the gradients over the batch before their length."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    (gradient,) = torch.autograd.grad(number, tokens, materialize_grads=True)
    return gradient.mean(0).norm(dim=-1).flip(0)


def wrong_backward(layer, tokens, direction):
    """It calls backward, which adds to the .grad of the layer's weights."""
    tokens = tokens.detach().clone().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    if number.requires_grad:
        number.backward()
    if tokens.grad is None:
        return tokens.new_zeros(tokens.shape[1])
    return tokens.grad.norm(dim=-1).mean(0).flip(0)


def wrong_first_token_first(layer, tokens, direction):
    """The result is not turned round: the first token comes first."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    (gradient,) = torch.autograd.grad(number, tokens, materialize_grads=True)
    return gradient.norm(dim=-1).mean(0)


def wrong_mean_of_the_numbers(layer, tokens, direction):
    """It differentiates the mean of the texts' numbers, so every gradient is divided twice."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).mean()
    (gradient,) = torch.autograd.grad(number, tokens, materialize_grads=True)
    return gradient.norm(dim=-1).mean(0).flip(0)


def wrong_callers_tokens(layer, tokens, direction):
    """It lets the caller's own tokens want a gradient."""
    tokens.requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    (gradient,) = torch.autograd.grad(number, tokens, materialize_grads=True)
    return gradient.norm(dim=-1).mean(0).flip(0)


def wrong_sum_of_the_features(layer, tokens, direction):
    """It adds the features of the gradient up by their size, which is not its length."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    (gradient,) = torch.autograd.grad(number, tokens, materialize_grads=True)
    return gradient.abs().sum(-1).mean(0).flip(0)


def wrong_squared_length(layer, tokens, direction):
    """It takes the mean of the squared lengths."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    (gradient,) = torch.autograd.grad(number, tokens, materialize_grads=True)
    return gradient.square().sum(-1).mean(0).flip(0)


def wrong_unused_is_none(layer, tokens, direction):
    """A layer that does not look at its tokens raises an error."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    (gradient,) = torch.autograd.grad(number, tokens)
    return gradient.norm(dim=-1).mean(0).flip(0)


def right_text_by_text(layer, tokens, direction):
    """A loop over the texts, each asked alone, with allow_unused and zeros by hand."""
    lengths = []
    for text in tokens.detach().split(1):
        asked = text.clone().requires_grad_(True)
        number = torch.tensordot(layer(asked)[0, -1], direction, 1)
        gradient = None
        if number.requires_grad:
            gradient = torch.autograd.grad(number, [asked], allow_unused=True)[0]
        if gradient is None:
            gradient = torch.zeros_like(asked)
        lengths.append(torch.linalg.vecdot(gradient[0], gradient[0]).sqrt())
    return torch.flip(torch.stack(lengths).mean(0), [0])
