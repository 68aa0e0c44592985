import torch
from torch import Tensor


def _agree(one, other):
    return bool((one - other).abs().max() <= 1e-4 * one.abs().max())


def wrong_longest_never_tried(layer, d_model, max_len, trials):
    """torch.randint leaves its upper end out, so the longest length never occurs."""
    for _ in range(trials):
        length = int(torch.randint(2, max(max_len, 3), ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.ndim == 0 or len(output) != length or turned.shape != output.shape:
            return False
        if not _agree(output[order], turned):
            return False
    return True


def wrong_nan_agrees(layer, d_model, max_len, trials):
    """It asks whether the error is too large, and that is False for a nan."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.ndim == 0 or len(output) != length or turned.shape != output.shape:
            return False
        if (output[order] - turned).abs().max() > 1e-4 * output.abs().max():
            return False
    return True


def wrong_plain_allclose(layer, d_model, max_len, trials):
    """It asks allclose with torch's own tolerances, number by number."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.ndim == 0 or len(output) != length or turned.shape != output.shape:
            return False
        if not torch.allclose(output[order], turned):
            return False
    return True


def wrong_returns_in_the_loop(layer, d_model, max_len, trials):
    """`return True` is one indent too deep, so there is a single trial."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.ndim == 0 or len(output) != length or turned.shape != output.shape:
            return False
        if not _agree(output[order], turned):  # noqa: SIM103
            return False
        return True


def wrong_output_not_turned(layer, d_model, max_len, trials):
    """It compares the two outputs without putting one in order: that asks for invariance."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.ndim == 0 or len(output) != length or turned.shape != output.shape:
            return False
        if not _agree(output, turned):
            return False
    return True


def wrong_rows_not_counted(layer, d_model, max_len, trials):
    """It does not ask whether there is a row for each token, and raises where there is none."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        if not _agree(layer(tokens)[order], layer(tokens[order])):
            return False
    return True


def wrong_fixed_tolerance(layer, d_model, max_len, trials):
    """An error of 1e-4 is allowed whatever the size of the output is."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.ndim == 0 or len(output) != length or turned.shape != output.shape:
            return False
        if not bool((output[order] - turned).abs().max() <= 1e-4):
            return False
    return True


def wrong_one_length(layer, d_model, max_len, trials):
    """All texts have the greatest length."""
    for _ in range(trials):
        tokens, order = torch.randn(max_len, d_model), torch.randperm(max_len)
        output, turned = layer(tokens), layer(tokens[order])
        if output.ndim == 0 or len(output) != max_len or turned.shape != output.shape:
            return False
        if not _agree(output[order], turned):
            return False
    return True


def right_order_taken_back(layer, d_model, max_len, trials):
    """It takes the order back instead of applying it, and tries both ends first."""
    lengths = [2, max_len, *torch.randint(2, max_len + 1, (trials,)).tolist()][:trials]
    for length in lengths:
        tokens = torch.randn(length, d_model)
        order = torch.randperm(length)
        with torch.no_grad():
            before, after = layer(tokens.clone()), layer(tokens[order])
        fits = before.ndim > 0 and before.shape[0] == length
        if not fits or after.shape != before.shape:
            return False
        error = (after[order.argsort()] - before).abs().flatten()
        largest = before.abs().flatten()
        if len(largest) and not torch.all(error <= largest.max() / 10_000):
            return False
    return True


def wrong_never_longest(layer, d_model, max_len, trials):
    """Draws the length with randint(2, max_len), which never is max_len."""
    for _ in range(trials):
        length = int(torch.randint(2, max(max_len, 3), ()))
        tokens = torch.randn(length, d_model)
        order = torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.dim() == 0 or output.shape[0] != length:
            return False
        if turned.shape != output.shape:
            return False
        error = (turned - output[order]).abs().max()
        if not error <= 1e-4 * output.abs().max():
            return False
    return True


def wrong_nan_passes(layer, d_model, max_len, trials):
    """Asks whether the error is greater than the bound, which is False for nan, so nan agrees."""
    for _ in range(trials):
        length = torch.randint(2, max_len + 1, (1,)).item()
        x = torch.randn(length, d_model)
        perm = torch.randperm(length)
        y = layer(x)
        y_perm = layer(x[perm])
        if y.ndim == 0 or len(y) != length or y_perm.shape != y.shape:
            return False
        difference = (y_perm - y[perm]).abs().max()
        if difference > 1e-4 * y.abs().max():
            return False
    return True


def wrong_reorders_turned_and_no_row_check(layer, d_model, max_len, trials):
    """Two mistakes: puts the order a second time on the turned output, and does not check for one
    row per token."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens = torch.randn(length, d_model)
        order = torch.randperm(length)
        output = layer(tokens)
        turned = layer(tokens[order])
        error = (turned[order] - output).abs().max()
        if not error <= 0.0001 * output.abs().max():
            return False
    return True


def right_undo_the_order(layer, d_model, max_len, trials):
    """Undoes the order by argsort before it compares, hands out copies, and counts agreements."""

    def agrees() -> bool:
        length = 2 + int(torch.randint(max_len - 1, ()))
        tokens: Tensor = torch.randn(length, d_model)
        order = torch.randperm(length)
        mixed = tokens[order]
        with torch.no_grad():
            output = layer(tokens.clone())
            output = output.clone().double()
            turned = layer(mixed).double()
        if output.dim() < 1 or output.shape[0] != length:
            return False
        if turned.shape != output.shape:
            return False
        if output.numel() == 0:
            return True
        back = turned.index_select(0, order.argsort())
        bound = output.abs().max() / 10_000
        return bool((back - output).abs().le(bound).all())

    return all(agrees() for _ in range(trials))


def wrong_compares_sets_of_rows(layer, d_model, max_len, trials):
    """It sorts the rows of both outputs before it compares them."""
    for _ in range(trials):
        n = int(torch.randint(2, max_len + 1, ()))
        x, order = torch.randn(n, d_model), torch.randperm(n)
        a, b = layer(x), layer(x[order])
        if a.dim() != 2 or len(a) != n or a.shape != b.shape:
            return False
        a, b = a.sort(0).values, b.sort(0).values
        if not (a - b).abs().max() <= 1e-4 * a.abs().max():
            return False
    return True


def wrong_majority(layer, d_model, max_len, trials):
    """It returns True if the outputs agree in most trials."""
    good = 0
    for _ in range(trials):
        n = int(torch.randint(2, max_len + 1, ()))
        x, order = torch.randn(n, d_model), torch.randperm(n)
        a, b = layer(x), layer(x[order])
        if a.dim() < 1 or len(a) != n or a.shape != b.shape:
            continue
        good += bool((a[order] - b).abs().max() <= 1e-4 * a.abs().max())
    return good > trials / 2


def wrong_turns_the_wrong_output(layer, d_model: int, max_len: int, trials: int) -> bool:
    """Reorders the output of the reordered tokens once more, not the other output."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens = torch.randn(length, d_model)
        order = torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.dim() == 0 or len(output) != length or turned.shape != output.shape:
            return False
        error = (turned[order] - output).abs().max()
        if not error <= 1e-4 * output.abs().max():
            return False
    return True


def wrong_each_number_by_itself(layer, d_model: int, max_len: int, trials: int) -> bool:
    """Compares each number with a ten-thousandth of itself, not of the largest one."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens = torch.randn(length, d_model)
        order = torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.dim() == 0 or len(output) != length or turned.shape != output.shape:
            return False
        if not torch.allclose(turned, output[order], rtol=1e-4, atol=0):
            return False
    return True


def wrong_nan_agrees_sixth(layer, d_model: int, max_len: int, trials: int) -> bool:
    """Refuses what differs by more than the tolerance, which a nan never does."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens = torch.randn(length, d_model)
        order = torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.dim() == 0 or len(output) != length or turned.shape != output.shape:
            return False
        error = (turned - output[order]).abs().max()
        if error > 1e-4 * output.abs().max():
            return False
    return True


def right_turns_back(layer, d_model: int, max_len: int, trials: int) -> bool:
    """Puts the second output back into the old order, and asks one trial at a time."""

    def agrees() -> bool:
        length = torch.randint(2, max_len + 1, ()).item()
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        moved = tokens[order]
        output = layer(tokens).to(torch.float64, copy=True)
        turned = layer(moved).to(torch.float64)
        if output.shape[:1] != (length,) or turned.shape != output.shape:
            return False
        back = turned[order.argsort()]
        largest = output.abs().max()
        return bool((back - output).abs().max() <= largest / 10_000)

    return all(agrees() for _ in range(trials))


def same_rows(one, other, length):
    """True if both are tensors of one shape, with `length` rows."""
    return one.shape == other.shape and one.ndim > 0 and len(one) == length


def wrong_never_the_longest(layer, d_model: int, max_len: int, trials: int) -> bool:
    """randint leaves its upper end out, so no trial has `max_len` tokens."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if not same_rows(output, turned, length):
            return False
        error = (turned - output[order]).abs().max()
        if not error <= 1e-4 * output.abs().max():
            return False
    return True


def wrong_reorders_the_other_output(layer, d_model: int, max_len: int, trials: int) -> bool:
    """Reorders the second output, which is in the new order already, instead of the first."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if not same_rows(output, turned, length):
            return False
        error = (turned[order] - output).abs().max()
        if not error <= 1e-4 * output.abs().max():
            return False
    return True


def wrong_nan_passes_seventh(layer, d_model: int, max_len: int, trials: int) -> bool:
    """Asks whether the error is too large, which is False if the error is nan."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if not same_rows(output, turned, length):
            return False
        error = (turned - output[order]).abs().max()
        if error > 1e-4 * output.abs().max():
            return False
    return True


def right_turns_back_seventh(layer, d_model: int, max_len: int, trials: int) -> bool:
    """Puts the second output back into the old order, and compares every number by itself."""

    def agrees():
        length = int(torch.randint(2, max_len + 1, ()))
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens.clone()), layer(tokens[order])
        if not same_rows(output, turned, length):
            return False
        if output.numel() == 0:
            return True
        back = turned.double()[order.argsort()]
        allowed = output.double().abs().max() / 10_000
        return bool(((back - output).abs() <= allowed).all())

    return all(agrees() for _ in range(trials))


def wrong_one_length_ninth(layer, d_model, max_len, trials):
    """Always four tokens."""
    for _ in range(trials):
        tokens, order = torch.randn(4, d_model), torch.randperm(4)
        output, turned = layer(tokens), layer(tokens[order])
        if len(output) != 4:
            return False
        if not (turned - output[order]).abs().max() <= 1e-4 * output.abs().max():
            return False
    return True


def wrong_the_longest_only(layer, d_model, max_len, trials):
    """Always as many tokens as the layer takes."""
    for _ in range(trials):
        tokens, order = torch.randn(max_len, d_model), torch.randperm(max_len)
        output, turned = layer(tokens), layer(tokens[order])
        if len(output) != max_len:
            return False
        if not (turned - output[order]).abs().max() <= 1e-4 * output.abs().max():
            return False
    return True


def wrong_allclose_and_the_longest(layer, d_model, max_len, trials):
    """Always the longest, compared by `allclose`, and no look at the number of rows."""
    for _ in range(trials):
        tokens, order = torch.randn(max_len, d_model), torch.randperm(max_len)
        if not torch.allclose(layer(tokens[order]), layer(tokens)[order], rtol=1e-4):
            return False
    return True


def wrong_reversal_of_the_longest(layer, d_model, max_len, trials):
    """The longest sentence reversed, compared by `allclose`."""
    order = torch.arange(max_len - 1, -1, -1)
    for _ in range(trials):
        tokens = torch.randn(max_len, d_model)
        if not torch.allclose(layer(tokens[order]), layer(tokens)[order], atol=1e-4):
            return False
    return True
