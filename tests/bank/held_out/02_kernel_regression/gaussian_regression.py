import torch
from torch import Tensor


def wrong_width_not_squared(query, key, value, width):
    """It divides by twice the width, not by twice its square."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return torch.softmax(-squared / (2 * width), dim=-1) @ value


def wrong_multiplied_out(query, key, value, width):
    """It multiplies the square out, so distances of years lose their digits."""
    of_query = query.square().sum(-1, keepdim=True)
    of_key = key.square().sum(-1).unsqueeze(-2)
    squared = of_query + of_key - 2 * query @ key.mT
    return torch.softmax(-squared / (2 * width**2), dim=-1) @ value


def wrong_small_number(query, key, value, width):
    """It adds 1e-12 to the sum of plain kernels, so a query far away gets 0."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).pow(2).sum(-1)
    kernel = torch.exp(-0.5 * squared / width**2)
    return kernel @ value / (kernel.sum(-1, keepdim=True) + 1e-12)


def wrong_distance(query, key, value, width):
    """The exponent holds the distance in widths, not its square."""
    distance = (query.unsqueeze(-2) - key.unsqueeze(-3)).norm(dim=-1)
    return torch.softmax(-0.5 * distance / width, dim=-1) @ value


def wrong_half_missing(query, key, value, width):
    """The half is missing in the exponent."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return torch.softmax(-squared / width**2, dim=-1) @ value


def right_feature_by_feature(query, key, value, width):
    """It adds the squares up in a loop over the features, each divided by the width first."""
    scores = 0
    for one, other in zip(query.unbind(-1), key.unbind(-1), strict=True):
        scores = scores - ((one[..., :, None] - other[..., None, :]) / width) ** 2
    powers = (scores / 2 - (scores / 2).amax(-1, keepdim=True)).exp()
    blended = torch.einsum("...qk,...kv->...qv", powers, value)
    return blended / powers.sum(-1, keepdim=True)


def wrong_one_nearest_for_all(query, key, value, width):
    """The smallest distance of the whole table is taken off, so a far query still has 0/0."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.exp(-(squared - squared.min()) / (2 * width**2))
    return kernel @ value / kernel.sum(-1, keepdim=True)


def wrong_neither_half_nor_square(query, key, value, width):
    """The half is missing, and the width is not squared."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return torch.softmax(-squared / width, -1) @ value


def wrong_kernel_divided(query, key, value, width):
    """Computes the kernel itself and divides by its sum, which is 0/0 for a far query."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    u = difference / width
    kernel = torch.exp(-0.5 * (u**2).sum(-1))
    weights = kernel / kernel.sum(-1, keepdim=True)
    return weights @ value


def wrong_square_before_subtracting(query, key, value, width):
    """Expands |q - k|^2 into |q|^2 - 2 q k + |k|^2, which loses the digits of years."""
    q2 = (query**2).sum(-1, keepdim=True)
    k2 = (key**2).sum(-1, keepdim=True)
    squared = q2 - 2 * query @ key.mT + k2.mT
    weights = torch.softmax(-squared / (2 * width**2), dim=-1)
    return weights @ value


def wrong_one_feature_width_copied(query, key, value, width):
    """Two mistakes: query - key.mT is the distance only for one feature, and torch.tensor(width)
    cuts off its gradient."""
    width = torch.tensor(width, dtype=query.dtype)
    u = (query - key.transpose(-2, -1)) / width
    weights = torch.softmax(-(u**2) / 2, dim=-1)
    return weights @ value


def right_excess_over_nearest(query, key, value, width):
    """Kernel of the excess over the nearest key, whose own kernel is then exactly 1."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    excess = squared - squared.detach().amin(-1, keepdim=True)
    kernel = torch.exp(-excess / width / width / 2)
    return (kernel @ value) / kernel.sum(-1, keepdim=True)


def wrong_no_half(query, key, value, width):
    """It leaves out the half in the exponent."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return (-squared / width**2).softmax(-1) @ value


def wrong_width_not_squared_fifth(query, key, value, width):
    """It divides the squared distance by the width, not by its square."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return (-squared / (2 * width)).softmax(-1) @ value


def wrong_small_number_added(query, key, value, width):
    """It adds 1e-12 to the sum of the kernel against 0/0, so far queries get 0."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = (-squared / (2 * width**2)).exp()
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-12) @ value


def wrong_square_multiplied_out(query, key, value, width):
    """It multiplies the square out, q² - 2qk + k², and loses the digits of years."""
    squared = query.square().sum(-1, keepdim=True) - 2 * query @ key.mT
    squared = (squared + key.square().sum(-1).unsqueeze(-2)).clamp(min=0)
    return (-squared / (2 * width**2)).softmax(-1) @ value


def wrong_square_multiplied_out_sixth(
    query: Tensor, key: Tensor, value: Tensor, width: float | Tensor
) -> Tensor:
    """Squares before it subtracts (q² - 2qk + k²), so large years lose their digits."""
    own = query.square().sum(-1, keepdim=True)
    other = key.square().sum(-1).unsqueeze(-2)
    squared = own - 2 * query @ key.mT + other
    return torch.softmax(-squared / (2 * width**2), -1) @ value


def wrong_width_not_squared_sixth(
    query: Tensor, key: Tensor, value: Tensor, width: float | Tensor
) -> Tensor:
    """Divides the squared distance by the width, not by its square."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return torch.softmax(-squared / (2 * width), -1) @ value


def wrong_denominator_at_least_tiny(
    query: Tensor, key: Tensor, value: Tensor, width: float | Tensor
) -> Tensor:
    """Divides kernel values by at least a tiny number: far away the estimate becomes 0."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.exp(-squared / (2 * width**2))
    total = kernel.sum(-1, keepdim=True).clamp(min=torch.finfo(kernel.dtype).tiny)
    return kernel / total @ value


def right_nearest_has_kernel_one(
    query: Tensor, key: Tensor, value: Tensor, width: float | Tensor
) -> Tensor:
    """Measures in widths, and scales the kernel so that the nearest key has 1."""
    units = (query.unsqueeze(-2) - key.unsqueeze(-3)) / width
    energy = (units * units).sum(-1) / 2
    kernel = torch.exp(energy.amin(-1, keepdim=True).detach() - energy)
    return kernel @ value / kernel.sum(-1, keepdim=True)


def wrong_small_number_in_denominator(
    query: Tensor, key: Tensor, value: Tensor, width: float | Tensor
) -> Tensor:
    """Adds a small number to the sum of the kernel: far away the estimate becomes 0."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    kernel = (-difference.square().sum(-1) / (2 * width**2)).exp()
    return kernel @ value / (kernel.sum(-1, keepdim=True) + 1e-12)


def wrong_precedence(query: Tensor, key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Multiplies by the squared width, as a bracket around the divisor is missing."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    scores = -difference.square().sum(-1) / 2 * width**2
    return scores.softmax(-1) @ value


def wrong_squares_multiplied_out(
    query: Tensor, key: Tensor, value: Tensor, width: float | Tensor
) -> Tensor:
    """Squares before it subtracts: q² - 2qk + k² loses the digits of years."""
    query_square = query.square().sum(-1, keepdim=True)
    key_square = key.square().sum(-1).unsqueeze(-2)
    squared = query_square - 2 * query @ key.mT + key_square
    return (-squared / (2 * width**2)).softmax(-1) @ value


def right_relative_to_nearest(
    query: Tensor, key: Tensor, value: Tensor, width: float | Tensor
) -> Tensor:
    """Divides every kernel value by the nearest key's, which is then 1."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    squared = (difference / width).square().sum(-1)
    nearest = squared.amin(-1, keepdim=True).detach()
    kernel = ((nearest - squared) / 2).exp()
    return kernel @ value / kernel.sum(-1, keepdim=True)
