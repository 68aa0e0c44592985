"""Chapters 07 to 09: the layer, self-attention, heads. Witnesses: PyTorch's own, NumPy."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial.distance import cdist
from scipy.special import softmax
from torch import Tensor, nn

from attn_course import self_attention
from attn_course.luong import general_scores
from attn_course.multi_head import MultiHeadAttention, merge_heads, split_heads
from attn_course.retrieval import attend, masked_softmax, softmax_jacobian
from attn_course.scaled_dot_product import attention
from tests.course.errata import SHAPE, Slip, agrees_with, draw, modules, slip

D, N, D_VALUE = 64, 5, 7


@slip("S2-41", "S2-48")
def pair_for_a_product() -> Slip:
    scores, x = draw((3, 5), (5, 7))
    a = masked_softmax(scores)
    theirs = softmax(scores[0].numpy()) @ x.numpy()
    return Slip(
        lambda: sum(torch.cat([a[0, i, None], x[i]]) for i in range(5))[1:],
        lambda: attend(scores, x)[0],
        agrees_with(theirs),
    )


@slip("S2-46")
def scores_without_the_root() -> Slip:
    query, x = draw((3, D), (N, D))
    theirs = F.scaled_dot_product_attention(query, x, x)
    return Slip(
        lambda: (query @ x.mT).softmax(1) @ x, lambda: attention(query, x, x), agrees_with(theirs)
    )


@slip("S2-47")
def softmax_along_axis_one() -> Slip:
    query, x = draw((2, 3, D), (2, N, D))
    theirs = F.scaled_dot_product_attention(query, x, x)
    return Slip(
        lambda: (query @ x.mT / D**0.5).softmax(dim=1) @ x,
        lambda: attention(query, x, x),
        agrees_with(theirs),
    )


@slip("S1-21")
def sign_and_square() -> Slip:
    query, key = draw((3, 2), (5, 2))
    cross, q, k = 2 * query @ key.mT, query.norm(dim=-1)[:, None], key.norm(dim=-1)
    return Slip(
        lambda: q**2 - k + cross,
        lambda: -(q**2) - k**2 + cross,
        agrees_with(-cdist(query, key, "sqeuclidean")),
    )


@slip("S1-24")
def exponent_of_the_width() -> Slip:
    q, key, value = draw((D,), (D, N), (N, D_VALUE))  # keys are columns, as on the slides
    theirs = F.scaled_dot_product_attention(q[None], key.mT, value)[0]
    return Slip(
        lambda: value.mT @ (D**0.5 * q @ key).softmax(-1),
        lambda: attention(q[None], key.mT, value)[0],
        agrees_with(theirs),
    )


def by_a_matrix(query: Tensor, key: Tensor, value: Tensor, matrix: Tensor) -> Tensor:
    """The right form of two rows: outputs as columns, one for each query."""
    score = partial(general_scores, weight=matrix / D**0.5)
    return attention(query.mT, key.mT, value, score=score).mT


@slip("S1-25", says="numbers")
def as_many_numbers_as_keys() -> Slip:
    """The output that is computed, and the number of numbers that it is said to have."""
    q, key, value, matrix = draw((3,), (D, N), (N, D_VALUE), (3, D))
    scores = [q.numpy() @ matrix.numpy() @ k / D**0.5 for k in key.mT.numpy()]
    theirs = softmax(scores) @ value.numpy()

    def judge(claim: tuple[Tensor, int]) -> None:
        assert len(theirs) == claim[1], f"{len(theirs)} numbers"
        agrees_with(theirs)(claim[0])

    def right() -> tuple[Tensor, int]:
        z = by_a_matrix(q[:, None], key, value, matrix)[:, 0]
        return z, z.numel()

    return Slip(
        lambda: (value.mT @ (D**0.5 * q @ matrix @ key).softmax(-1), key.shape[1]), right, judge
    )


@slip("S1-28", says="cannot be multiplied")
def product_that_does_not_fit() -> Slip:
    query, key, value, matrix = draw((3, 2), (D, N), (N, D_VALUE), (3, D))  # two queries
    theirs = F.scaled_dot_product_attention(query.mT @ matrix, key.mT, value).mT
    return Slip(
        lambda: value.mT @ (D**0.5 * query.mT @ matrix @ key).softmax(-1),
        lambda: by_a_matrix(query, key, value, matrix),
        agrees_with(theirs),
    )


@slip("S3-19", says="output subscript 'q'")
def letter_that_no_factor_has() -> Slip:
    query, key, value = draw((D, 3), (D, N), (D_VALUE, N))  # n = 3, m = 5, p = 7
    weights = (key.mT @ query / D**0.5).softmax(0)
    theirs = F.scaled_dot_product_attention(query.mT, key.mT, value.mT).mT

    def product(result: str) -> Tensor:
        return torch.as_tensor(np.einsum(f"pm,mn->{result}", value.numpy(), weights.numpy()))

    return Slip(lambda: product("qn"), lambda: product("pn"), agrees_with(theirs))


@slip("P6", says="it does vanish")
def gradient_that_never_vanishes() -> Slip:
    def judge(survives: bool) -> None:
        """Ask PyTorch for the gradient of a softmax that one score leads by 200."""
        scores = torch.tensor([200.0, 0.0, 0.0], requires_grad=True)
        scores.softmax(-1)[0].backward()
        assert survives == bool(scores.grad.any()), "it does vanish"

    def right() -> bool:
        weights = masked_softmax(torch.tensor([[200.0, 0.0, 0.0]]))
        return bool(softmax_jacobian(weights).any())

    return Slip(lambda: True, right, judge)


@slip("S4-23", says="out of bounds")
def key_of_a_tenth_word() -> Slip:
    sentence = "Bark is very cute and he is a dog"
    (vectors,) = draw((len(sentence.split()), 3))

    def outputs(last: int) -> Tensor:
        words = self_attention.basic_self_attention(vectors)
        return torch.stack([words[number - 1] for number in range(1, last + 1)])

    theirs = softmax(vectors.numpy() @ vectors.numpy().T, -1) @ vectors.numpy()
    return Slip(lambda: outputs(10), lambda: outputs(9), agrees_with(theirs))


@slip("S3-22", says="name 'SelfAttention' is not defined")
def class_that_was_renamed() -> Slip:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super(SelfAttention, self).__init__()  # the class has been renamed
            self.query = nn.Linear(3, 3)

    def judge(layer: nn.Module) -> None:
        assert list(layer.parameters())

    return Slip(Attention, lambda: self_attention.SelfAttention(3), judge)


def heads() -> tuple[Tensor, MultiHeadAttention, Tensor]:
    """Return tokens, a layer of two heads, and what PyTorch's layer makes of the tokens."""
    torch.manual_seed(0)
    (x,), layer = draw((1, 5, 6)), MultiHeadAttention(6, 2, bias=False).double()
    layer.requires_grad_(False)
    return x, layer, layer.to_torch()(x, x, x)[0]


@slip("S1-44")
def heads_that_see_one_position() -> Slip:
    """The kindest reading: summed over the heads, with a matrix for each."""
    x, layer, theirs = heads()

    def printed() -> Tensor:
        q, k, v = (
            split_heads(project(x), 2).unsqueeze(-2)
            for project in (layer.project_query, layer.project_key, layer.project_value)
        )
        return layer.project_output(merge_heads(attention(q, k, v).squeeze(-2)))

    return Slip(printed, lambda: layer(x), agrees_with(theirs))


def concatenated(x: Tensor, layer: MultiHeadAttention) -> Tensor:
    """The outputs of the heads side by side."""
    return merge_heads(layer.weights(x) @ split_heads(layer.project_value(x), 2))


@slip("S4-40")
def heads_without_an_output_projection() -> Slip:
    x, layer, theirs = heads()
    return Slip(lambda: concatenated(x, layer), lambda: layer(x), agrees_with(theirs))


@slip("S3-45", says=SHAPE)
def output_for_each_reading() -> Slip:
    x, layer, theirs = heads()
    return Slip(
        lambda: split_heads(concatenated(x, layer), 2), lambda: layer(x), agrees_with(theirs)
    )


@slip("S3-50", says="name 'scaled_dot_product' is not defined")
def class_without_its_functions() -> Slip:
    x, layer, theirs = heads()
    return Slip(
        lambda: modules.MultiheadAttention(6, 6, 2).double()(x)[0],
        lambda: layer(x),
        agrees_with(theirs),
    )
