"""Numbers that others have published for their layers, reproduced by ours.

The numbers are theirs; the code that computes them here is not. Inputs and weights are printed with
them, or drawn from the same seed.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.bahdanau import AdditiveScore
from attn_course.multi_head import MultiHeadAttention, merge_heads, split_heads
from attn_course.retrieval import dot_scores
from attn_course.scaled_dot_product import (
    attention,
    attention_weights,
    causal_mask,
    padding_mask,
)
from attn_course.self_attention import SelfAttention

# four printed digits, or five, of numbers in single precision
PRINTED = {"rtol": 0, "atol": 5.1e-5}
PRINTED_FIVE = {"rtol": 2e-6, "atol": 5.1e-6}


# --- S. Raschka, Build a Large Language Model (From Scratch), 2024, chapter 3 --------------------

# six words, three wide
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


def test_llms_from_scratch_without_weights() -> None:
    # section 3.3.2
    expected = [[0.4421, 0.5931, 0.5790], [0.4419, 0.6515, 0.5683], [0.4431, 0.6496, 0.5671]]
    expected += [[0.4304, 0.6298, 0.5510], [0.4671, 0.5910, 0.5266], [0.4177, 0.6503, 0.5645]]
    found = attention(WORDS, WORDS, WORDS, score=dot_scores)
    assert_close(found, torch.tensor(expected), **PRINTED)


def test_llms_from_scratch_matrices_drawn_evenly() -> None:
    # section 3.4.2, torch.manual_seed(123), SelfAttention_v1(3, 2)
    expected = [[0.2996, 0.8053], [0.3061, 0.8210], [0.3058, 0.8203]]
    expected += [[0.2948, 0.7939], [0.2927, 0.7891], [0.2990, 0.8040]]
    torch.manual_seed(123)
    query, key, value = (WORDS @ torch.rand(3, 2) for _ in range(3))
    assert_close(attention(query, key, value), torch.tensor(expected), **PRINTED)


def test_llms_from_scratch_one_head() -> None:
    # section 3.4.2, torch.manual_seed(789), SelfAttention_v2(3, 2)
    expected = [[-0.0739, 0.0713], [-0.0748, 0.0703], [-0.0749, 0.0702]]
    expected += [[-0.0760, 0.0685], [-0.0763, 0.0679], [-0.0754, 0.0693]]
    torch.manual_seed(789)
    assert_close(SelfAttention(3, 2, 2)(WORDS), torch.tensor(expected), **PRINTED)


def test_llms_from_scratch_two_heads_with_the_last_projection() -> None:
    # section 3.6.2, torch.manual_seed(123), MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)
    expected = [[0.3190, 0.4858], [0.2943, 0.3897], [0.2856, 0.3593]]
    expected += [[0.2693, 0.3873], [0.2639, 0.3928], [0.2575, 0.4028]]
    torch.manual_seed(123)
    layer = MultiHeadAttention(2, 2, d_query=3, bias=False, output_bias=True)
    batch = torch.stack([WORDS, WORDS])
    found = layer(batch, is_causal=True)
    assert_close(found, torch.tensor([expected, expected]), **PRINTED)


# --- University of Michigan, EECS 498-007 / 598-005, assignment 5, Transformers.ipynb ------------


def line(start: float, end: float, *shape: int) -> Tensor:
    """Fill a tensor with evenly spaced numbers."""
    return torch.linspace(start, end, torch.Size(shape).numel()).view(shape)


def three_roles(*shape: int) -> list[Tensor]:
    """Return their queries, keys and values."""
    return [line(-0.4, 0.6, *shape), line(-0.8, 0.5, *shape), line(-0.3, 0.8, *shape)]


def fill(layer: MultiHeadAttention, num_heads: int) -> None:
    """Give the layer their weights: each head the same evenly spaced ones."""
    with torch.no_grad():
        for name, part in layer.named_parameters():
            copies = 1 if "output" in name else num_heads
            one = line(-1.4, 1.3, part.shape[0] // copies, *part.shape[1:])
            part.copy_(torch.cat([one] * copies))


def test_michigan_scaled_dot_product() -> None:
    first = [[0.08283, 0.14073, 0.19862, 0.25652], [0.13518, 0.19308, 0.25097, 0.30887]]
    first += [[0.18848, 0.24637, 0.30427, 0.36216], [0.24091, 0.29881, 0.35670, 0.41460]]
    first += [[0.29081, 0.34871, 0.40660, 0.46450]]
    assert_close(attention(*three_roles(5, 4)), torch.tensor(first), **PRINTED_FIVE)
    one = [[-0.09603, -0.06782, -0.03962, -0.01141], [-0.08991, -0.06170, -0.03350, -0.00529]]
    one += [[-0.08376, -0.05556, -0.02735, 0.00085], [-0.07760, -0.04939, -0.02119, 0.00702]]
    one += [[-0.07143, -0.04322, -0.01502, 0.01319]]
    two = [[0.49884, 0.52705, 0.55525, 0.58346], [0.50499, 0.53319, 0.56140, 0.58960]]
    two += [[0.51111, 0.53931, 0.56752, 0.59572], [0.51718, 0.54539, 0.57359, 0.60180]]
    two += [[0.52321, 0.55141, 0.57962, 0.60782]]
    assert_close(attention(*three_roles(2, 5, 4)), torch.tensor([one, two]), **PRINTED_FIVE)


def test_michigan_causal() -> None:
    first_two = [[[0.40000, 0.41143, 0.42286], [0.41703, 0.42846, 0.43989]]]
    first_two += [[[0.50286, 0.51429, 0.52571], [0.51999, 0.53142, 0.54285]]]
    first_two += [[[0.60571, 0.61714, 0.62857], [0.62294, 0.63437, 0.64580]]]
    first_two += [[[0.70857, 0.72000, 0.73143], [0.72590, 0.73733, 0.74876]]]
    last = [[0.43408, 0.44551, 0.45694], [0.53720, 0.54863, 0.56006]]
    last += [[0.64032, 0.65175, 0.66318], [0.74344, 0.75487, 0.76630]]
    expected = torch.cat([torch.tensor(first_two), torch.tensor(last)[:, None]], 1)
    query, key = line(-0.4, 0.6, 4, 3, 3), line(-0.1, 0.2, 4, 3, 3)
    found = attention(query, key, line(0.4, 0.8, 4, 3, 3), causal_mask(3)[None])
    assert_close(found, expected, **PRINTED_FIVE)


def test_michigan_one_head() -> None:
    one = [[-1.10382, -0.37219, 0.35944, 1.09108], [-1.45792, -0.50067, 0.45658, 1.41384]]
    one += [[-1.74349, -0.60428, 0.53493, 1.67414], [-1.92584, -0.67044, 0.58495, 1.84035]]
    two = [[-4.59671, -1.63952, 1.31767, 4.27486], [-4.65586, -1.66098, 1.33390, 4.32877]]
    two += [[-4.69005, -1.67339, 1.34328, 4.35994], [-4.71039, -1.68077, 1.34886, 4.37848]]
    layer = MultiHeadAttention(4, 1)
    fill(layer, 1)
    layer.project_output = nn.Identity()
    found = layer(*three_roles(2, 4, 4))
    assert_close(found, torch.tensor([one, two]), **PRINTED_FIVE)


def test_michigan_two_heads_wider_than_the_tokens() -> None:
    one = [[-0.23104, 0.50132, 1.23367, 1.96603], [0.68324, 1.17869, 1.67413, 2.16958]]
    one += [[1.40236, 1.71147, 2.02058, 2.32969], [1.77330, 1.98629, 2.19928, 2.41227]]
    two = [[6.74946, 5.67302, 4.59659, 3.52015], [6.82813, 5.73131, 4.63449, 3.53767]]
    two += [[6.86686, 5.76001, 4.65315, 3.54630], [6.88665, 5.77466, 4.66268, 3.55070]]
    layer = MultiHeadAttention(4, 2, d_head=8)
    fill(layer, 2)
    found = layer(*three_roles(2, 4, 4))
    assert_close(found, torch.tensor([one, two]), **PRINTED_FIVE)


# --- Stanford, CS231n, assignment 3, Transformer_Captioning.ipynb --------------------------------


def test_stanford_self_attention_with_dropout() -> None:
    # torch.manual_seed(231), MultiHeadAttention(8, num_heads=2), in training, with dropout 0.1.
    # Which weights are dropped differs from machine to machine: each query is tried with all
    # 64 choices among its three keys in two heads, and one of them must give their row.
    expected = [[-0.2494, 0.1396, 0.4323, -0.2411, -0.1547, 0.2329, -0.1936, -0.1444]]
    expected += [[-0.1997, 0.1746, 0.7377, -0.3549, -0.2657, 0.2693, -0.2541, -0.2476]]
    expected += [[-0.0625, 0.1503, 0.7572, -0.3974, -0.1681, 0.2168, -0.2478, -0.3038]]
    torch.manual_seed(231)
    key, query, value, output = (nn.Linear(8, 8) for _ in range(4))
    tokens = torch.randn(3, 8)
    queries, keys, values = (split_heads(part(tokens), 2) for part in (query, key, value))
    choices = torch.tensor(list(itertools.product((0.0, 1.0), repeat=6))).view(64, 2, 1, 3)
    weights = attention_weights(queries, keys) * choices / 0.9
    found = output(merge_heads(weights @ values))
    wrong = (found - torch.tensor(expected)).abs().amax(-1)  # of each choice, for each query
    assert_close(wrong.amin(0), torch.zeros(3), **PRINTED)
    assert (wrong < 1e-3).sum(0).tolist() == [1, 1, 1]


# --- Zhang, Lipton, Li and Smola, Dive into Deep Learning, 2021, section 10.3 --------------------


def test_dive_into_deep_learning_padding() -> None:
    # equal keys share the weight among those before the padding: two keys, and six
    expected = torch.tensor([[[2.0, 3, 4, 5]], [[10, 11, 12, 13]]])
    values = torch.arange(40.0).view(1, 10, 4).repeat(2, 1, 1)
    mask = padding_mask(torch.tensor([2, 6]), 10)
    torch.manual_seed(0)
    keys = torch.ones(2, 10, 2)
    found = attention(torch.randn(2, 1, 2), keys, values, mask)
    assert_close(found, expected, **PRINTED)
    score = AdditiveScore(20, 2, 8)
    projected = score.project_key(keys)
    found = attention(torch.randn(2, 1, 20), projected, values, mask, score=score)
    assert_close(found, expected, **PRINTED)
