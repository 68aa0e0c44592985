"""Numbers that others have published for their layers, reproduced by ours from the same seed.

The numbers are theirs; the code that computes them here is not.
"""

from __future__ import annotations

import torch
from torch.testing import assert_close

from attn_course.multi_head import MultiHeadAttention
from attn_course.self_attention import SelfAttention

# they print four digits
PRINTED = {"rtol": 0, "atol": 5.1e-5}
# S. Raschka, Build a Large Language Model (From Scratch), 2024, chapter 3: six words, three wide.
WORDS = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)


def test_llms_from_scratch_two_heads_with_the_last_projection() -> None:
    # section 3.6.2, torch.manual_seed(123), MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)
    expected = [[0.3190, 0.4858], [0.2943, 0.3897], [0.2856, 0.3593]]
    expected += [[0.2693, 0.3873], [0.2639, 0.3928], [0.2575, 0.4028]]
    torch.manual_seed(123)
    layer = MultiHeadAttention(2, 2, d_query=3, bias=False, output_bias=True)
    batch = torch.stack([WORDS, WORDS])
    found = layer(batch, is_causal=True)
    assert_close(found, torch.tensor([expected, expected]), **PRINTED)


def test_llms_from_scratch_one_head() -> None:
    # section 3.4.2, torch.manual_seed(789), SelfAttention_v2(3, 2)
    expected = [[-0.0739, 0.0713], [-0.0748, 0.0703], [-0.0749, 0.0702]]
    expected += [[-0.0760, 0.0685], [-0.0763, 0.0679], [-0.0754, 0.0693]]
    torch.manual_seed(789)
    assert_close(SelfAttention(3, 2, 2)(WORDS), torch.tensor(expected), **PRINTED)
