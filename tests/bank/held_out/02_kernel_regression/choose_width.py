import torch
from torch import Tensor

from attn_course import kernel_regression
from attn_course.kernel_regression import leave_one_out


def _estimates(key, value, width):
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    myself = torch.eye(len(key), dtype=torch.bool)
    scores = (-squared / (2 * width**2)).masked_fill(myself, -torch.inf)
    return torch.softmax(scores, -1).masked_fill(myself, 0) @ value


def wrong_sample_variance(key, value, widths):
    """The variance divides by n - 1, torch's default, and not by n."""
    errors = [(_estimates(key, value, w) - value).square().mean().item() for w in widths]
    best = min(errors)
    return widths[errors.index(best)], 1 - best / value.var().item()


def wrong_place_in_the_list(key, value, widths):
    """It returns the place of the best width in the list, not the width."""
    errors = torch.stack([(_estimates(key, value, w) - value).square().mean() for w in widths])
    best = errors.argmin().item()
    return best, 1 - errors[best].item() / value.var(correction=0).item()


def wrong_asks_itself_too(key, value, widths):
    """It leaves nobody out, so the narrowest width agrees with itself and wins."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    errors = {}
    for width in widths:
        estimate = torch.softmax(-squared / (2 * width**2), -1) @ value
        errors[width] = (estimate - value).square().mean().item()
    best = min(errors, key=errors.get)
    return best, 1 - errors[best] / value.var(correction=0).item()


def wrong_sum_over_variance(key, value, widths):
    """The error is a sum, the variance a mean."""
    errors = [(_estimates(key, value, w) - value).square().sum().item() for w in widths]
    best = min(errors)
    return widths[errors.index(best)], 1 - best / value.var(correction=0).item()


def right_in_double_point_by_point(key, value, widths):
    """Python loops in float64, each point asking the others that remain."""
    key, value = key.double(), value.double()
    tried = []
    for width in widths:
        total = 0.0
        for own in range(len(key)):
            rest = torch.arange(len(key)) != own
            scores = -((key[rest] - key[own]) / width).pow(2).sum(1) / 2
            guess = scores.softmax(0) @ value[rest]
            total += (guess - value[own]).square().sum().item()
        tried.append((total / len(key), width))
    error, width = min(tried)
    spread = (value - value.mean()).square().mean().item()
    return width, (spread - error) / spread


def wrong_nothing_left_out(key, value, widths):
    """Estimates at each key from all keys, itself included, so the narrowest width wins."""
    squared = ((key.unsqueeze(1) - key.unsqueeze(0)) ** 2).sum(-1)
    errors = []
    for width in widths:
        weights = torch.softmax(-squared / (2 * width**2), dim=-1)
        errors.append(((weights @ value - value) ** 2).mean().item())
    best = min(errors)
    variance = value.var(correction=0).item()
    return widths[errors.index(best)], 1 - best / variance


def wrong_error_of_last_width(key, value, widths):
    """R² is made from the error of the last width of the loop instead of the smallest error."""
    best_error = float("inf")
    best_width = widths[0]
    for width in widths:
        estimate = kernel_regression.leave_one_out(key, value, width)
        error = ((estimate - value) ** 2).mean().item()
        if error < best_error:
            best_error = error
            best_width = width
    variance = ((value - value.mean()) ** 2).mean().item()
    return best_width, 1 - error / variance


def wrong_underflow_and_sample_variance(key, value, widths):
    """Two mistakes: kernels that underflow make 0/0, replaced by an estimate of 0, and the variance
    divides by n - 1."""
    squared = torch.cdist(key, key) ** 2
    errors = []
    for width in widths:
        kernel = torch.exp(-squared / (2 * width**2))
        kernel.fill_diagonal_(0)
        weights = torch.nan_to_num(kernel / kernel.sum(1, keepdim=True))
        errors.append((weights @ value - value).pow(2).mean())
    errors = torch.stack(errors)
    best = int(errors.argmin())
    return widths[best], (1 - errors[best] / value.var()).item()


def right_all_widths_at_once(key, value, widths):
    """One softmax for all widths in double precision, with an infinite distance of each key from
    itself."""
    x, y = key.double(), value.double()
    squared = (x[:, None] - x).square().sum(-1)
    squared = squared + torch.diag(x.new_full((len(x),), torch.inf))
    sigma = x.new_tensor(widths)[:, None, None]
    weights = torch.softmax(-squared / (2 * sigma**2), -1)
    off = (weights @ y - y).square().sum((1, 2)).tolist()
    best = min(range(len(widths)), key=off.__getitem__)
    total = (y - y.mean()).square().sum().item()
    return widths[best], 1 - off[best] / total


def wrong_worst_width(key, value, widths):
    """It returns the width with the largest error."""
    from attn_course.kernel_regression import leave_one_out

    errors = [(leave_one_out(key, value, w) - value).square().mean().item() for w in widths]
    at = errors.index(max(errors))
    return widths[at], 1 - errors[at] / (value - value.mean()).square().mean().item()


def wrong_variance_with_n_minus_one(key, value, widths):
    """It divides by the variance with n - 1 in the denominator."""
    from attn_course.kernel_regression import leave_one_out

    errors = [(leave_one_out(key, value, w) - value).square().mean().item() for w in widths]
    at = errors.index(min(errors))
    return widths[at], 1 - errors[at] / value.var().item()


def wrong_no_key_left_out(key, value, widths):
    """It judges each width by estimates that include the key itself."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    errors = []
    for width in widths:
        estimate = (-squared / (2 * width**2)).softmax(-1) @ value
        errors.append((estimate - value).square().mean().item())
    best = errors.index(min(errors))
    return widths[best], 1 - errors[best] / value.var(correction=0).item()


def wrong_returns_the_place(key, value, widths):
    """It returns the place of the width in the list, not the width."""
    errors = [
        (kernel_regression.leave_one_out(key, value, width) - value).square().mean().item()
        for width in widths
    ]
    best = errors.index(min(errors))
    return best, 1 - errors[best] / value.var(correction=0).item()


def wrong_variance_of_a_sample(
    key: Tensor, value: Tensor, widths: list[float]
) -> tuple[float, float]:
    """Takes torch's variance, which divides by n - 1."""
    errors = [(leave_one_out(key, value, w) - value).square().mean().item() for w in widths]
    best = min(errors)
    return widths[errors.index(best)], 1 - best / value.var().item()


def wrong_place_in_the_sorted_list(
    key: Tensor, value: Tensor, widths: list[float]
) -> tuple[float, float]:
    """Tries the widths in order of size, but looks the best up in the list as given."""
    errors = []
    for width in sorted(widths):
        errors.append((leave_one_out(key, value, width) - value).square().mean().item())
    best = min(errors)
    variance = value.var(correction=0).item()
    return widths[errors.index(best)], 1 - best / variance


def wrong_squared_correlation(
    key: Tensor, value: Tensor, widths: list[float]
) -> tuple[float, float]:
    """Returns the squared correlation of estimates and values as R²."""
    estimates = [leave_one_out(key, value, width) for width in widths]
    errors = [(estimate - value).square().mean().item() for estimate in estimates]
    best = errors.index(min(errors))
    both = torch.cat([estimates[best], value], 1).mT
    return widths[best], torch.corrcoef(both)[0, 1].item() ** 2


def right_by_argmin(key: Tensor, value: Tensor, widths: list[float]) -> tuple[float, float]:
    """Compares sums of squares: n cancels in the fraction."""
    off = torch.stack([leave_one_out(key, value, width) - value for width in widths])
    sums = off.square().sum((1, 2))
    best = int(sums.argmin())
    spread = (value - value.mean()).square().sum()
    return widths[best], 1 - (sums[best] / spread).item()


def wrong_variance_by_n_minus_1(
    key: Tensor, value: Tensor, widths: list[float]
) -> tuple[float, float]:
    """Divides by n - 1 in the variance, as torch does unless told otherwise."""
    errors = []
    for width in widths:
        estimate = kernel_regression.leave_one_out(key, value, width)
        errors.append((estimate - value).square().mean().item())
    best = min(errors)
    return widths[errors.index(best)], 1 - best / value.var().item()


def wrong_error_of_last_width_seventh(
    key: Tensor, value: Tensor, widths: list[float]
) -> tuple[float, float]:
    """Computes R² from the error of the last width tried, not of the best."""
    best_width, smallest = widths[0], float("inf")
    for width in widths:
        estimate = kernel_regression.leave_one_out(key, value, width)
        error = (estimate - value).square().mean().item()
        if error < smallest:
            best_width, smallest = width, error
    return best_width, 1 - error / value.var(correction=0).item()


def wrong_points_see_themselves(
    key: Tensor, value: Tensor, widths: list[float]
) -> tuple[float, float]:
    """Judges by estimates that do not leave the point out, so the narrowest width wins."""
    squared = (key.unsqueeze(1) - key).square().sum(-1)
    errors = []
    for width in widths:
        estimate = (-squared / (2 * width**2)).softmax(-1) @ value
        errors.append((estimate - value).square().mean().item())
    best = min(errors)
    variance = value.var(correction=0).item()
    return widths[errors.index(best)], 1 - best / variance


def right_by_sums_of_squares(
    key: Tensor, value: Tensor, widths: list[float]
) -> tuple[float, float]:
    """Compares sums of squares: n cancels in R²."""
    estimates = torch.stack([kernel_regression.leave_one_out(key, value, w) for w in widths])
    left = (estimates - value).square().sum((1, 2))
    total = (value - value.mean()).square().sum()
    best = int(left.argmin())
    return widths[best], 1 - (left[best] / total).item()


def _ninth_errors(key, value, widths):
    return [
        (kernel_regression.leave_one_out(key, value, width) - value).square().mean().item()
        for width in widths
    ]


def wrong_never_below_zero(key, value, widths):
    """R² is cut off at 0, as if a prediction could not be worse than the mean."""
    errors = _ninth_errors(key, value, widths)
    score = 1 - min(errors) / value.var(correction=0).item()
    return widths[errors.index(min(errors))], max(0.0, score)


def wrong_n_less_one(key, value, widths):
    """The variance is divided by n - 1."""
    errors = _ninth_errors(key, value, widths)
    return widths[errors.index(min(errors))], 1 - min(errors) / value.var().item()


def wrong_unexplained(key, value, widths):
    """It returns the share of the variance that is not explained."""
    errors = _ninth_errors(key, value, widths)
    return widths[errors.index(min(errors))], min(errors) / value.var(correction=0).item()


def wrong_one_feature(key, value, widths):
    """Its own estimator takes the differences of points that have one number."""
    errors = []
    for width in widths:
        scores = -((key - key.mT) ** 2)[: len(key), : len(key)] / (2 * width**2)
        scores = scores.fill_diagonal_(-torch.inf)
        errors.append(((torch.softmax(scores, -1) @ value - value) ** 2).mean().item())
    return widths[errors.index(min(errors))], 1 - min(errors) / value.var(correction=0).item()


def wrong_first_feature(key, value, widths):
    """It looks at the first number of each key only."""
    errors = _ninth_errors(key[:, :1], value, widths)
    score = 1 - min(errors) / value.var(correction=0).item()
    return widths[errors.index(min(errors))], score


def wrong_root_of_the_error(key, value, widths):
    """The root of the mean squared error stands in R²."""
    errors = [error**0.5 for error in _ninth_errors(key, value, widths)]
    return widths[errors.index(min(errors))], 1 - min(errors) / value.var(correction=0).item()


def wrong_sums_of_squares_by_mean(key, value, widths):
    """A sum of squared errors is divided by a mean of squares."""
    errors = [error * len(key) for error in _ninth_errors(key, value, widths)]
    return widths[errors.index(min(errors))], 1 - min(errors) / value.var(correction=0).item()


def right_with_sums(key, value, widths):
    """Sums of squares above and below, and numpy's way to find the smallest."""
    total = ((value - value.mean()) ** 2).sum()
    scores = [
        1 - ((kernel_regression.leave_one_out(key, value, width) - value) ** 2).sum() / total
        for width in widths
    ]
    best = max(range(len(widths)), key=lambda index: scores[index])
    return widths[best], float(scores[best])


def wrong_starts_from_one(key, value, widths):
    """It starts the search with an error of 1, below which no width may come."""
    smallest, best = 1.0, widths[0]
    for width in widths:
        guess = kernel_regression.leave_one_out(key, value, width)
        error = float(((guess - value) ** 2).mean())
        if error < smallest:
            smallest, best = error, width
    return best, 1 - smallest / float(value.var(correction=0))
