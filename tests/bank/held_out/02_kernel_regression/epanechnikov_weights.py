import torch
from torch import Tensor


def wrong_width_not_squared(query, key, width):
    """The squared distance is divided by the width, not by its square."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.relu(1 - squared / width)
    total = kernel.sum(-1, keepdim=True)
    return kernel / torch.where(total == 0, 1, total)


def right_nan_to_num(query, key, width):
    """It divides 0 by 0 and replaces the nan afterwards, which `relu` keeps out of the gradient.

    It was written down as a wrong answer, and the statement allows it.
    """
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.relu(1 - squared / width**2)
    return torch.nan_to_num(kernel / kernel.sum(-1, keepdim=True))


def wrong_epsilon(query, key, width):
    """It adds a small number to every sum, so a lone key close to the edge gets less than 1."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.relu(1 - squared / width**2)
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-8)


def wrong_root_first(query, key, width):
    """It takes a root and squares it again, and the root has no gradient where key is query."""
    distance = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1).sqrt()
    kernel = torch.relu(1 - (distance / width) ** 2)
    total = kernel.sum(-1, keepdim=True)
    return kernel / torch.where(total == 0, 1, total)


def wrong_square_of_the_tent(query, key, width):
    """The kernel is (1 - u) squared, not 1 - u squared."""
    distance = (query.unsqueeze(-2) - key.unsqueeze(-3)).norm(dim=-1)
    kernel = torch.relu(1 - distance / width) ** 2
    total = kernel.sum(-1, keepdim=True)
    return kernel / torch.where(total == 0, torch.ones_like(total), total)


def right_where_inside(query, key, width):
    """It asks first which keys are inside, and divides by a total that a where has mended."""
    squared = sum(
        (q.unsqueeze(-1) - k.unsqueeze(-2)) ** 2
        for q, k in zip(query.unbind(-1), key.unbind(-1), strict=True)
    )
    height = 1 - squared / (width * width)
    kernel = torch.where(height > 0, height, torch.zeros_like(height))
    total = torch.einsum("...qk->...q", kernel)
    return kernel * total.masked_fill(total == 0, 1.0).reciprocal().unsqueeze(-1)


def wrong_kernel_returned(query, key, width):
    """The kernel itself is returned; it is never divided by its sum."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return torch.relu(1 - squared / width**2)


def wrong_tent_and_clamped_sum(query, key, width):
    """It does not square, and a sum below 1 is taken for 1."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    distance = torch.sqrt(squared.clamp(min=1e-30)) / width
    kernel = torch.relu(1 - distance)
    return kernel / kernel.sum(-1, keepdim=True).clamp(min=1)


def wrong_eps_in_total(query, key, width):
    """Adds 1e-8 to every denominator, so a lone key near the edge does not get the weight 1."""
    squared = ((query.unsqueeze(-2) - key.unsqueeze(-3)) ** 2).sum(-1)
    kernel = torch.relu(1 - squared / width**2)
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-8)


def wrong_nan_to_num(query, key, width):
    """Divides 0 by 0 in an empty window and replaces the nan afterwards, so the gradient is nan."""
    diff = query[..., :, None, :] - key[..., None, :, :]
    u2 = (diff / width).pow(2).sum(dim=-1)
    kernel = (1 - u2) * (u2 < 1)
    weights = kernel / kernel.sum(dim=-1, keepdim=True)
    return torch.nan_to_num(weights, nan=0.0)


def wrong_width_not_squared_clamped_total(query, key, width):
    """Two mistakes: divides the squared distance by the width instead of its square, and clamps the
    total at 1e-6."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).pow(2).sum(-1)
    kernel = torch.relu(1 - squared / width)
    total = kernel.sum(-1, keepdim=True).clamp(min=1e-6)
    return kernel / total


def right_where_and_empty(query, key, width):
    """Chooses by torch.where instead of max, and adds 1 (as a bool) to the totals that are 0."""
    edge = torch.as_tensor(width, dtype=query.dtype, device=query.device)
    edge = edge * edge
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    squared = torch.einsum("...d,...d->...", difference, difference)
    kernel = 1 - squared / edge
    kernel = torch.where(kernel > 0, kernel, torch.zeros_like(kernel))
    total = kernel.sum(-1, keepdim=True)
    return kernel / (total + (total == 0))


def wrong_triangle(query, key, width):
    """It is the triangular kernel that was printed."""
    far = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    safe = torch.where(far > 0, far, 1).sqrt().where(far > 0, 0)
    kernel = (1 - safe / width).clamp(min=0)
    total = kernel.sum(-1, keepdim=True)
    return torch.where(total > 0, kernel / torch.where(total > 0, total, 1), 0)


def wrong_divides_by_the_number_within(query, key, width):
    """It divides by the number of keys in the window, so the weights do not sum to 1."""
    u = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / width**2
    kernel = (1 - u).clamp(min=0)
    return kernel / (kernel > 0).sum(-1, keepdim=True).clamp(min=1)


def wrong_small_number_added(query, key, width):
    """It adds 1e-3 to the sum against 0/0, so a lone key near the edge gets less than 1."""
    u = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / width**2
    kernel = torch.relu(1 - u)
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-3)


def wrong_width_not_squared_fifth(query, key, width):
    """It divides the squared distance by the width, not by its square."""
    u = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / width
    kernel = torch.relu(1 - u)
    total = kernel.sum(-1, keepdim=True)
    return kernel / torch.where(total > 0, total, 1)


def right_one_added_where_empty(query, key, width):
    """The sum of an empty window becomes 1 by adding the truth value of being empty."""
    u = ((query.unsqueeze(-2) - key.unsqueeze(-3)) / width).square().sum(-1)
    kernel = torch.relu(1 - u)
    total = kernel.sum(-1, keepdim=True)
    return kernel / (total + (total == 0))


def wrong_small_number_added_sixth(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Adds 1e-6 to each denominator: a lone key close to the edge gets less than 1."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.relu(1 - squared / width**2)
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-6)


def wrong_clamp_lets_gradient_through(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Cuts off with clamp, which has a gradient for a key at exactly one width."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = (1 - squared / width**2).clamp(min=0)
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.masked_fill(total == 0, 1)


def wrong_width_not_squared_sixth(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Divides the squared distance by the width, so the kernel ends at its root."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.relu(1 - squared / width)
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.masked_fill(total == 0, 1)


def right_outside_filled(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Fills 0 in outside of the window, and adds 1 to a total only where it is 0."""
    apart = query[..., :, None, :] - key[..., None, :, :]
    kernel = 1 - (apart * apart).sum(-1) / width**2
    kernel = kernel.masked_fill(kernel <= 0, 0)
    total = kernel.sum(-1, keepdim=True)
    return kernel / (total + (total == 0))


def wrong_width_not_squared_seventh(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Divides the squared distance by the width instead of its square."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    kernel = torch.relu(1 - difference.square().sum(-1) / width)
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.masked_fill(total == 0, 1)


def wrong_nan_replaced_afterwards(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Replaces the nan of an empty window after the division: its gradient stays nan."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    parabola = 1 - difference.square().sum(-1) / width**2
    kernel = parabola * (parabola > 0)
    weights = kernel / kernel.sum(-1, keepdim=True)
    return weights.nan_to_num(0)


def wrong_slope_at_the_edge(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Cuts off by clamp, which lets a gradient through for a key at exactly one width."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    kernel = (1 - difference.square().sum(-1) / width**2).clamp(min=0)
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.masked_fill(total == 0, 1)


def right_by_where(query: Tensor, key: Tensor, width: float) -> Tensor:
    """Chooses the parabola inside the window, and a divisor of 1 where nothing is inside."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    parabola = 1 - difference.pow(2).sum(-1) / width**2
    inside = parabola > 0
    kernel = torch.where(inside, parabola, 0.0)
    some = inside.any(-1, keepdim=True)
    return kernel / torch.where(some, kernel.sum(-1, keepdim=True), 1.0)


def wrong_floor_of_a_thousandth(query, key, width):
    """The sum is not let below a thousandth."""
    difference = (query.unsqueeze(-2) - key.unsqueeze(-3)) / width
    kernel = torch.relu(1 - difference.square().sum(-1))
    return kernel / kernel.sum(-1, keepdim=True).clamp_min(1e-3)


def wrong_one_kernel_a_feature(query, key, width):
    """A kernel for each number of a point, multiplied."""
    difference = (query.unsqueeze(-2) - key.unsqueeze(-3)) / width
    kernel = torch.relu(1 - difference.square()).prod(-1)
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.masked_fill(total == 0, 1.0)


def wrong_one_kernel_a_feature_clamped(query, key, width):
    """Likewise, cut off by a clamp, which lets a gradient through at the edge."""
    difference = (query.unsqueeze(-2) - key.unsqueeze(-3)) / width
    kernel = (1 - difference**2).clamp(min=0).prod(-1)
    total = kernel.sum(-1, keepdim=True)
    return torch.where(total > 0, kernel / total.where(total > 0, 1.0), 0.0)


def wrong_root_and_nothing_by_nothing(query, key, width):
    """The distance by a root, and an empty window divides 0 by 0."""
    distance = ((query.unsqueeze(-2) - key.unsqueeze(-3)) ** 2).sum(-1).sqrt() / width
    kernel = torch.relu(1 - distance**2)
    return kernel / kernel.sum(-1, keepdim=True)


def wrong_norm_and_nothing_by_nothing(query, key, width):
    """Likewise, by a norm."""
    distance = torch.norm(query.unsqueeze(-2) - key.unsqueeze(-3), dim=-1) / width
    kernel = torch.clamp(1 - distance**2, min=0)
    return kernel / kernel.sum(-1, keepdim=True)


def wrong_edge_and_small_number(query, key, width):
    """A key at the edge is within, and a small number is in the sum."""
    squared = ((query.unsqueeze(-2) - key.unsqueeze(-3)) / width).square().sum(-1)
    kernel = torch.where(squared <= 1, 1 - squared, 0.0)
    return kernel / (kernel.sum(-1, keepdim=True) + 1e-9)
