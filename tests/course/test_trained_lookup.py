"""The task of looking up a label: what is asked, and what is trained at which rate."""

import torch
from torch.testing import assert_close

from attn_course.scaled_dot_product import attention, scaled_dot_scores
from attn_course.trained.recall.lookup import answers, exercise, fresh, learn


def test_the_symbol_asked_for_lies_in_the_table_with_the_right_label() -> None:
    draw, symbols, labels, _ = fresh(seed=0, d=32)
    asked, table, label = exercise(symbols, labels, draw, batch=5, shown=3)
    assert table.shape == (5, 3, 32)
    assert_close(table[:, 0], asked[:, 0] + labels[label])


def test_answers_are_those_of_the_layer_written_out() -> None:
    draw, symbols, labels, (W_Q, W_K, W_V, W) = fresh(seed=1, d=32)
    asked, table, _ = exercise(symbols, labels, draw, batch=5, shown=3)
    written_out = attention(asked @ W_Q, table @ W_K, table @ W_V) @ W.mT
    found = answers(scaled_dot_scores, asked, table, W_Q, W_K, W_V, W)
    assert_close(found, written_out[:, 0], rtol=1e-4, atol=1e-4)


def test_rate_is_of_queries_and_keys_alone() -> None:
    start = fresh(seed=2, d=32)
    before = [matrix.detach().clone() for matrix in start.matrices]
    shares = list(learn(scaled_dot_scores, start, steps=2, rate=0.0))
    moved = [not torch.equal(*pair) for pair in zip(before, start.matrices, strict=True)]
    assert moved == [False, False, True, True]
    assert len(shares) == 2
    assert all(0 <= share <= 1 for share in shares)
