"""Right answers to part D: each earns every point."""

import torch
from torch.testing import assert_close


def by_a_loop(layer, d_model, max_len, trials):
    for _ in range(trials):
        tokens = torch.randn(int(torch.randint(2, max_len + 1, ())), d_model)
        order = torch.randperm(len(tokens))
        output, turned = layer(tokens), layer(tokens[order])
        if output.shape[0] != len(tokens):
            return False
        if not (turned - output[order]).abs().max() <= 1e-4 * output.abs().max():
            return False
    return True


def by_permutation_matrices(layer, d_model, max_len, trials):
    agreed = []
    for trial in range(trials):
        length = 2 + trial % (max_len - 1)
        tokens = torch.randn(length, d_model)
        swap = torch.eye(length)[torch.randperm(length)]
        output, turned = layer(tokens), layer(swap @ tokens)
        if len(output) != length:
            return False
        agreed.append((swap @ output - turned).abs().max() <= 1e-4 * turned.abs().max())
    return bool(torch.stack(agreed).all())


def by_undoing_the_order(layer, d_model, max_len, trials):
    lengths = torch.randint(2, max_len + 1, (trials,), generator=torch.Generator().manual_seed(7))
    for length in lengths.tolist():
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if len(turned) != length:
            return False
        error = turned[order.argsort()] - output
        if not error.norm(torch.inf) <= 1e-4 * output.norm(torch.inf):
            return False
    return True


def by_assertions(layer, d_model, max_len, trials):
    try:
        for trial in range(trials):
            tokens = torch.randn(max_len - trial % (max_len - 1), d_model, dtype=torch.float64)
            order = torch.randperm(len(tokens))
            output = layer(tokens)
            assert len(output) == len(tokens)
            atol = 1e-4 * output.abs().max().item()
            assert_close(layer(tokens[order]), output[order], rtol=0, atol=atol)
    except (AssertionError, RuntimeError):  # the second for a tolerance of nan
        return False
    return True


def by_batches_of_a_length(layer, d_model, max_len, trials):
    for length in range(2, max_len + 1):
        tokens = torch.randn(trials, length, d_model)
        order = torch.rand(trials, length, 1).argsort(1)
        output = layer(tokens)
        if output.shape[:2] != tokens.shape[:2]:
            return False
        turned = layer(tokens.gather(1, order.expand_as(tokens)))
        wanted = output.gather(1, order.expand_as(output))
        if not (turned - wanted).abs().max() <= 1e-4 * wanted.abs().max():
            return False
    return True


def by_the_first_row(layer, d_model, max_len, trials):
    """Enough if every order has its turn: whichever token comes first, its row has to agree."""
    for trial in range(2 * trials):
        tokens = torch.randn(max_len if trial % 2 else 2 + trial % (max_len - 1), d_model)
        order = torch.randperm(len(tokens))
        output, turned = layer(tokens), layer(tokens[order])
        if len(output) != len(tokens):
            return False
        if not (turned[0] - output[order[0]]).abs().max() <= 1e-4 * output.abs().max():
            return False
    return True
