import torch
from torch import Tensor


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


def wrong_mean_before_length(layer, tokens, direction):
    """Averages the gradients over the batch before taking their length, so they may cancel."""
    leaf = tokens.detach().clone().requires_grad_()
    number = (layer(leaf)[:, -1] @ direction).sum() + 0 * leaf.sum()
    (grad,) = torch.autograd.grad(number, leaf)
    return grad.mean(dim=0).norm(dim=-1).flip(0)


def wrong_not_reversed(layer, tokens, direction):
    """Returns the reach in the order of the tokens, the first token first."""
    x = tokens.detach().requires_grad_(True)
    last = layer(x)[:, -1, :]
    number = (last * direction).sum() + 0 * x.sum()
    gradient = torch.autograd.grad(number, x)[0]
    return gradient.square().sum(-1).sqrt().mean(0)


def wrong_backward_and_mean_of_numbers(layer, tokens, direction):
    """Two mistakes: backward() writes into the .grad of the layer's weights, and the mean over the
    batch before it makes the gradients too small."""
    x = tokens.clone().detach().requires_grad_(True)
    number = (layer(x)[:, -1] @ direction).mean()
    number.backward()
    grad = x.grad if x.grad is not None else torch.zeros_like(x)
    lengths = torch.linalg.vector_norm(grad, dim=-1)
    return lengths.mean(dim=0).flip(0)


def right_zero_times_tokens(layer, tokens, direction):
    """Adds zero times the tokens, so that all are used, and reads the distances from the end one by
    one."""
    with torch.enable_grad():
        leaf = tokens.detach().clone().requires_grad_(True)
        last = layer(leaf.clone()).select(1, -1)
        number = torch.einsum("bo,o->", last, direction) + 0 * leaf.sum()
        slope = torch.autograd.grad(number, [leaf])[0]
    reach = []
    for distance in range(tokens.shape[1]):
        one = slope[:, tokens.shape[1] - 1 - distance]
        reach.append(torch.einsum("bd,bd->b", one, one).sqrt().mean())
    return torch.stack(reach)


def wrong_order_of_tokens(layer, tokens, direction):
    """It returns the first token's reach first."""
    x = tokens.detach().clone().requires_grad_()
    number = (layer(x)[:, -1] @ direction).sum()
    if not number.requires_grad:
        return torch.zeros(tokens.shape[1], dtype=tokens.dtype)
    (grad,) = torch.autograd.grad(number, x, allow_unused=True)
    if grad is None:
        return torch.zeros(tokens.shape[1], dtype=tokens.dtype)
    return grad.norm(dim=-1).mean(0)


def wrong_norm_of_the_mean_gradient(layer, tokens, direction):
    """It takes the mean of the gradients over the batch before the norm."""
    x = tokens.detach().clone().requires_grad_()
    number = (layer(x)[:, -1] @ direction).sum()
    if not number.requires_grad:
        return torch.zeros(tokens.shape[1], dtype=tokens.dtype)
    (grad,) = torch.autograd.grad(number, x, allow_unused=True)
    if grad is None:
        return torch.zeros(tokens.shape[1], dtype=tokens.dtype)
    return grad.mean(0).norm(dim=-1).flip(0)


def wrong_mean_before_length_sixth(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Takes the mean of the gradients over the texts first, where signs cancel."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    number = number + 0 * tokens.sum()  # in case that no token is used
    (gradient,) = torch.autograd.grad(number, tokens)
    return gradient.mean(0).norm(dim=-1).flip(0)


def wrong_leaves_a_trace(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Calls backward, which also adds to the .grad of the layer's weights."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    number = number + 0 * tokens.sum()  # in case that no token is used
    number.backward()
    return tokens.grad.norm(dim=-1).mean(0).flip(0)


def wrong_first_token_first_sixth(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Returns the reach in the order of the tokens: the last token's comes last."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    number = number + 0 * tokens.sum()  # in case that no token is used
    (gradient,) = torch.autograd.grad(number, tokens)
    return gradient.norm(dim=-1).mean(0)


def right_vector_jacobian_product(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Multiplies the direction with the Jacobian of the last output, for all texts."""

    def last(tokens: Tensor) -> Tensor:
        return layer(tokens)[:, -1]

    directions = direction.detach().expand(len(tokens), -1)
    _, gradient = torch.autograd.functional.vjp(last, tokens.detach(), directions)
    return torch.linalg.vector_norm(gradient, dim=-1).mean(0).flip(0)


def wrong_mean_before_length_seventh(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Takes the length of the mean gradient, in which texts of opposite signs cancel."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum() + 0 * tokens.sum()
    (gradient,) = torch.autograd.grad(number, tokens)
    return gradient.mean(0).norm(dim=-1).flip(0)


def wrong_first_token_first_seventh(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Returns the reach in the order of the tokens, not of their distance from the last."""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum() + 0 * tokens.sum()
    (gradient,) = torch.autograd.grad(number, tokens)
    return gradient.norm(dim=-1).mean(0)


def wrong_backward_leaves_a_trace(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Calls backward, which also adds to the `.grad` of the layer's weights."""
    tokens = tokens.detach().clone().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum() + 0 * tokens.sum()
    number.backward()
    return tokens.grad.norm(dim=-1).mean(0).flip(0)


def right_direction_as_grad_output(layer, tokens: Tensor, direction: Tensor) -> Tensor:
    """Sends the direction back from every text's last output; what is not used gets zeros."""
    asked = tokens.detach().clone().requires_grad_()
    with torch.enable_grad():
        last = layer(asked)[:, -1]
    if not last.requires_grad:
        return tokens.new_zeros(tokens.shape[1])
    (gradient,) = torch.autograd.grad(
        last,
        asked,
        grad_outputs=direction.detach().expand_as(last),
        allow_unused=True,
    )
    if gradient is None:
        return tokens.new_zeros(tokens.shape[1])
    return torch.linalg.vector_norm(gradient.flip(1), dim=2).mean(0)
