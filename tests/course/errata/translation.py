"""Chapters 03 to 06 and 10: translators and captioners. Witnesses: laws, NumPy, loops, papers."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import softmax
from torch import Tensor, nn

from attn_course.bahdanau import AdditiveScore, additive_scores
from attn_course.captions.hard_attention import log_weight_of, reinforce_loss
from attn_course.luong import LuongTranslator, concat_scores
from attn_course.retrieval import attend, dot_scores, masked_softmax
from attn_course.seq2seq import Encoder
from tests.conftest import ROOT
from tests.course.errata import SHAPE, Slip, agrees_with, draw, slip

SUTSKEVER_ABSTRACT = "the translations produced by the LSTM achieve a BLEU score of 34.8"


@slip("S3-12", says="not what the abstract rounds")
def two_digits_that_changed_places() -> Slip:
    def judge(score: float) -> None:
        assert f"{score:.1f}" in SUTSKEVER_ABSTRACT, "not what the abstract rounds"

    return Slip(lambda: 34.18, lambda: 34.81, judge)


@slip("S2-08", says="elsewhere")
def conference_of_bahdanau() -> Slip:
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    (entry,) = re.findall(r"@\w+\{bahdanau2015neural,.*?\n\}", bibliography, re.DOTALL)

    def judge(venue: str) -> None:
        assert venue in entry, "elsewhere"

    return Slip(
        lambda: "Neural Information Processing Systems",
        lambda: "Learning Representations (ICLR)",
        judge,
    )


def hears(query: Tensor, witness: np.ndarray) -> Callable[[Callable[[Tensor], Tensor]], None]:
    """Return a judge by a law, two queries get two rows of weights, and then by a witness."""

    def judge(weights_of: Callable[[Tensor], Tensor]) -> None:
        first, second = weights_of(query)
        assert (first - second).abs().max() > 1e-3, "the query is not heard"
        agrees_with(witness)(weights_of(query))

    return judge


@slip("S0-33", says="the query is not heard")
def additive_score_without_tanh() -> Slip:
    query, key, w_q, w_k, v = draw((2, 5), (3, 7), (5, 11), (7, 11), (11,))
    by_hand = [
        [v.numpy() @ np.tanh(w_q.numpy().T @ q + w_k.numpy().T @ k) for k in key.numpy()]
        for q in query.numpy()
    ]
    return Slip(
        lambda: lambda q: (q @ w_q[:, :1] + (key @ w_k[:, :1]).T).softmax(-1),
        lambda: lambda q: masked_softmax(additive_scores(q @ w_q, key @ w_k, v)),
        hears(query, softmax(by_hand, -1)),
    )


@slip("P2", says="the query is not heard")
def concat_score_without_tanh() -> Slip:
    query, key, weight, v = draw((2, 5), (3, 7), (11, 12), (11,))
    both = np.array([[np.concatenate([q, k]) for k in key.numpy()] for q in query.numpy()])
    by_hand = np.tanh(both @ weight.numpy().T) @ v.numpy()
    return Slip(
        lambda: lambda _: (torch.from_numpy(both) @ weight[0]).softmax(-1),
        lambda: lambda q: masked_softmax(concat_scores(q, key, weight, v)),
        hears(query, softmax(by_hand, -1)),
    )


@slip("P3")
def weights_of_places() -> Slip:
    query, word, key = draw((2, 5), (2, 5), (3, 7))
    torch.manual_seed(0)
    places, score = nn.Linear(10, 3).double(), AdditiveScore(5, 7, 11).double()
    order = [2, 0, 1]

    def judge(weights_of: Callable[[Tensor], Tensor]) -> None:
        agrees_with(weights_of(key)[:, order].detach())(weights_of(key[order]).detach())

    return Slip(
        lambda: lambda _: places(torch.cat([word, query], -1)).softmax(-1),
        lambda: lambda k: masked_softmax(score(query, score.project_key(k))),
        judge,
    )


@slip("S2-13", says=SHAPE)
def annotation_with_two_indices() -> Slip:
    scores, h = draw((3, 5), (5, 7))
    a = masked_softmax(scores)
    context = np.einsum("i,id->d", a[0].numpy(), h.numpy())
    return Slip(
        lambda: sum(a[0, i] * h[0, i] for i in range(5)),
        lambda: attend(scores, h)[0],
        agrees_with(context),
    )


@slip("S3-28", "S3-37", "S3-53")
def score_named_alpha() -> Slip:
    query, key, value = draw((3, 7), (5, 7), (5, 11))
    alpha = dot_scores(query, key)
    theirs = F.scaled_dot_product_attention(query, key, value, scale=1.0)
    return Slip(lambda: alpha @ value, lambda: attend(alpha, value), agrees_with(theirs))


@torch.no_grad()
def step_by_step(model: LuongTranslator, source: Tensor, words: Tensor, feed: str) -> Tensor:
    """Written out: at each step the cell reads a word, and one vector of the step before."""
    annotations, final, _ = model.encoder(source)
    network = model.recurrent.network
    cell = nn.GRUCell(network.input_size, network.hidden_size).double()
    cell.load_state_dict({k.removesuffix("_l0"): w for k, w in network.state_dict().items()})
    hidden, logits = torch.tanh(model.bridge(final)), []
    before = {feed: torch.zeros_like(hidden)}
    for word in model.embedding(words[0]):
        hidden = cell(torch.cat([word[None], before[feed]], -1), hidden)
        context = (annotations[0] @ hidden[0]).softmax(0) @ annotations[0]
        attentional = torch.tanh(model.combine(torch.cat([context[None], hidden], -1)))
        before = {"hidden": hidden, "attentional": attentional}
        logits.append(model.readout(attentional))
    return torch.stack(logits, 1)


@slip("S3-41")
def hidden_state_that_is_fed() -> Slip:
    torch.manual_seed(0)
    encoder = Encoder(23, 5, 5)
    model = LuongTranslator(encoder, 19, 3, 10, score="dot", input_feeding=True).double()
    source, words = torch.tensor([[4, 5, 6, 7]]), torch.tensor([[1, 4, 5]])
    return Slip(
        lambda: step_by_step(model, source, words, "hidden"),
        lambda: model(source, words).detach(),
        agrees_with(step_by_step(model, source, words, "attentional")),
    )


@slip("P4")
def softmax_over_the_queries() -> Slip:
    query, key, value = draw((1, 1, 7), (1, 5, 7), (1, 5, 11))
    flat = (query @ key.mT).reshape(1, 5)
    theirs = F.scaled_dot_product_attention(query, key, value, scale=1.0)
    return Slip(
        lambda: flat.softmax(0)[None] @ value,
        lambda: attend(dot_scores(query, key), value),
        agrees_with(theirs),
    )


@slip("P5")
def blend_of_projected_keys() -> Slip:
    scores, h, u = draw((3, 5), (5, 7), (7, 7))
    theirs = softmax(scores[0].numpy()) @ h.numpy()
    return Slip(
        lambda: masked_softmax(scores)[0] @ (h @ u),
        lambda: attend(scores, h)[0],
        agrees_with(theirs),
    )


@slip("S2-36")
def hardness_without_a_draw() -> Slip:
    """The gradient, with respect to the scores, of what is to be expected of a look at one cell."""
    (reward,) = draw((5,))
    scores = torch.tensor([0.3, -0.2, 0.9, 0.0, -1.0], dtype=torch.double, requires_grad=True)

    def printed() -> Tensor:
        looked_at = F.one_hot(scores.argmax(), 5).double()
        assert not looked_at.requires_grad  # nothing leads back from it to the scores
        return torch.zeros_like(scores)

    def right() -> Tensor:
        """All draws, each in proportion to its probability."""
        weights, total = scores.softmax(-1), torch.zeros(5, dtype=torch.double)
        for cell in range(5):
            log_policy = log_weight_of(weights[None, None], torch.tensor([[cell]]))
            loss = reinforce_loss(log_policy, reward[cell, None])
            (slope,) = torch.autograd.grad(loss, scores, retain_graph=True)
            total -= weights[cell].detach() * slope
        return total

    alpha = softmax(scores.detach().numpy())
    return Slip(printed, right, agrees_with(alpha * (reward.numpy() - alpha @ reward.numpy())))


@slip("S4-08", says="parameters")
def parameters_that_grow_with_the_length() -> Slip:
    length, gru = 50, nn.GRU(3, 5)
    learned = sum(weight.numel() for weight in gru.parameters())
    gru(torch.randn(length, 3, generator=torch.Generator().manual_seed(0)))[0].sum().backward()

    def judge(count: int) -> None:
        """Count what a sequence of that length has a gradient for."""
        moved = sum(weight.grad.count_nonzero().item() for weight in gru.parameters())
        assert count == moved, f"{moved} parameters"

    return Slip(lambda: length * learned, lambda: learned, judge)
