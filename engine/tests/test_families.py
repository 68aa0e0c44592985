"""Calls of what an exercise keeps from its answers are noticed, in whichever way they are made."""

import functools
import warnings
import weakref

import numpy as np
import pytest
import scipy
import torch
import torch.autograd.forward_ad as forward
import torch.fx
from torch import nn
from torch.func import functional_call, grad, jvp, vmap
from torch.nn import functional

from hintgrader.worker.forbidden_calls import FAMILIES, SCRIPTED, ForbiddenCalls
from hintgrader.worker.packing import pack, unpack
from hintgrader.worker.submission import LocalSubmission
from hintgrader.worker.watching import PROFILER, UNWATCHED_CALLS

aten, c, c_nn = torch.ops.aten, torch._C._VariableFunctions, torch._C._nn
X = torch.linspace(-2, 3, 12).reshape(3, 4)
TARGET = torch.tensor([0, 3, 1])
CELL = X, X, torch.ones(12, 4), torch.ones(12, 4), torch.ones(12), torch.ones(12)
ON_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
alias = np.logaddexp


def numpy_of(x):
    return np.moveaxis(x.numpy(), -1, 0)


def without_modes(x):
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return list(map(torch.softmax, [x], [-1]))


def under_another_name(x):
    function = getattr(np, "log" + "addexp")
    return functools.reduce(function, numpy_of(x))


def gradient_of(function, x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(function(x).sum(), x)


def backward(x):
    x = x.detach().requires_grad_()
    x.exp().sum().backward()


def engine(x):
    y = x.detach().requires_grad_().exp().sum()
    run = torch.autograd.Variable._execution_engine.run_backward
    list(map(run, *([one] for one in ((y,), (torch.ones(()),), False, False, (), False, True))))


def dual(x):
    with forward.dual_level():
        return forward.unpack_dual(forward.make_dual(x, x).exp()).tangent


def scripted():
    with warnings.catch_warnings(action="ignore"):
        traced = torch.jit.trace(lambda x: x.exp(), (X,))
    graph = torch.fx.symbolic_trace(lambda x: x.exp())
    return [traced, graph, torch.compile(lambda x: x.exp(), backend="eager")]


WAYS = {
    "softmax": [
        lambda x: x.softmax(-1),
        lambda x: functional.softmin(x, -1),
        lambda x: nn.LogSoftmax(-1)(x).exp(),
        lambda x: torch.special.softmax(x, -1),
        lambda x: c.softmax(x, -1),
        lambda x: torch._VF.softmax(x, -1),
        lambda x: torch._softmax(x, -1, False),
        lambda x: aten._log_softmax.default(x, -1, False),
        lambda x: aten._softmax.out(x, -1, False, out=torch.empty_like(x)),
        lambda x: aten._softmax.default.redispatch(ON_CPU, x, -1, False),
        lambda x: aten.softmax.int.decompose(x, -1),
        lambda x: torch._masked_softmax(x, x > 9, -1),
        lambda x: torch.masked.softmax(x, -1, mask=x < 9),
        lambda x: torch.sparse.softmax(x.to_sparse(), 1),
        lambda x: torch._softmax_backward_data(x, x, -1, x.dtype),
        lambda x: functional.gumbel_softmax(x),
        lambda x: torch.distributions.Categorical(logits=x).probs,
        lambda x: scipy.special.softmax(x.numpy(), axis=-1),
        lambda x: vmap(lambda row: row.softmax(-1))(x),
        lambda x: functional_call(nn.Softmax(-1), {}, (x,)),
        lambda x: list(map(torch.softmax, [x], [-1])),
        without_modes,
    ],
    "log-sum-exp": [
        lambda x: x.logsumexp(-1),
        lambda x: torch.special.logsumexp(x, -1),
        lambda x: x.logcumsumexp(-1),
        lambda x: aten._logcumsumexp(x, -1),
        lambda x: torch.logaddexp2(x, x),
        lambda x: functools.reduce(torch.logaddexp, x.unbind(-1)),
        lambda x: gradient_of(lambda y: y.logcumsumexp(-1), x),
        lambda x: grad(lambda y: y.logsumexp(-1).sum())(x),
        lambda x: np.logaddexp.reduce(x.numpy(), -1),
        lambda x: functools.reduce(np.logaddexp, numpy_of(x)),
        lambda x: functools.reduce(alias, numpy_of(x)),
        lambda x: scipy.special.logsumexp(x.numpy(), axis=-1),
        under_another_name,
    ],
    "cross entropy": [
        lambda x: functional.cross_entropy(x, TARGET),
        lambda x: nn.NLLLoss()(x, TARGET),
        lambda x: c_nn.cross_entropy_loss(x, TARGET),
        lambda x: c_nn.nll_loss_nd(x, TARGET),
        lambda x: aten.cross_entropy_loss(x, TARGET),
        lambda x: aten.nll_loss_forward(x, TARGET, None, 1, -100),
        lambda x: functional.kl_div(x, x),
        lambda x: nn.KLDivLoss()(x, x),
        lambda x: torch.kl_div(x, x),
        lambda x: functional.binary_cross_entropy_with_logits(x, x),
        lambda x: functional.poisson_nll_loss(x, x),
        lambda x: scipy.special.kl_div(x.numpy(), x.numpy()),
        lambda x: scipy.stats.entropy(x.abs().numpy(), x.abs().numpy()),
        lambda x: list(map(c_nn.cross_entropy_loss, [x], [TARGET])),
    ],
    "attention": [
        lambda x: functional.scaled_dot_product_attention(x, x, x),
        lambda x: torch._scaled_dot_product_attention_math(x, x, x),
        lambda x: aten._scaled_dot_product_flash_attention_for_cpu(*[x[None, None]] * 3),
        lambda x: nn.MultiheadAttention(4, 1)(x, x, x),
        lambda x: nn.TransformerEncoderLayer(4, 1, 8)(x),
        lambda x: list(map(torch._scaled_dot_product_attention_math, [x], [x], [x])),
    ],
    "recurrence": [
        lambda x: torch.gru_cell(*CELL),
        lambda x: aten.gru_cell(*CELL),
        lambda x: nn.RNN(4, 4)(x),
        lambda x: nn.LSTMCell(4, 4)(x),
        lambda x: torch._VF.gru(x[None], x[None], CELL[2:], True, 1, 0.0, False, False, False),
        lambda x: list(map(torch.gru_cell, *([one] for one in CELL))),
    ],
    "distances": [
        lambda x: torch.cdist(x, x),
        lambda x: aten._euclidean_dist(x, x),
        lambda x: nn.PairwiseDistance()(x, x),
        lambda x: torch.pdist(x),
        lambda x: torch.dist(x, x),
        lambda x: functional.mse_loss(x, x, reduction="none"),
        lambda x: functional.huber_loss(x, x, delta=1e9),
        lambda x: scipy.spatial.distance.cdist(x, x, "sqeuclidean"),
    ],
    "autograd": [
        lambda x: gradient_of(torch.exp, x),
        lambda x: torch.autograd.functional.vjp(torch.exp, x, x),
        lambda x: jvp(torch.exp, (x,), (x,)),
        lambda x: x.detach().requires_grad_().exp().grad_fn(x),
        backward,
        dual,
        engine,
    ],
}
# What statements allow: the pieces, and what only sounds alike.
ALLOWED = [
    lambda x: (x - x.amax(-1, keepdim=True)).exp() / x.exp().sum(-1, keepdim=True).log(),
    lambda x: np.exp(x.numpy()) / np.add.reduce(np.exp(x.numpy()), -1, keepdims=True),
    lambda x: torch.sigmoid(x @ CELL[2].mT + CELL[4]).chunk(3, -1),
    lambda x: (x[:, None] - x[None]).square().sum(-1).sqrt() + torch.linalg.vector_norm(x),
    lambda x: nn.functional.one_hot(TARGET).mul(2).gather(1, TARGET[:, None]),
    lambda x: nn.utils.rnn.pad_sequence([x, x]).masked_fill(x > 0, -1.0),
    lambda x: (str(x), repr(x.numpy()), torch.equal(x, x), torch.einsum("ij,kj->ik", x, x)),
    lambda x: nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Dropout(0.5), nn.ReLU())(x),
    lambda x: torch.distributions.Normal(x, 1.0).log_prob(x).topk(2).values.cumsum(0),
    lambda x: functional.softplus(x) + vmap(torch.sort)(x).values,
]


def borrowed(answer, *avoid):
    return LocalSubmission(answer, avoid, ()).call({"x": X}).borrowed


@pytest.mark.parametrize("family", FAMILIES)
def test_family_is_noticed_in_every_way_of_calling_it(family):
    if family == "estimators":  # classes of statsmodels and scikit-learn, by their methods
        assert ForbiddenCalls([family]).entry_of("KNeighborsRegressor.fit") == family
        return
    # the compiler and these take seconds to import, in every process that collects this file
    import scipy.spatial.distance
    import scipy.special
    import scipy.stats  # noqa: F401

    ways = scripted() if family == SCRIPTED else WAYS[family]
    found = {number: borrowed(way, family) for number, way in enumerate(ways)}
    assert not [number for number, names in found.items() if not names]


@pytest.mark.parametrize("number", range(len(ALLOWED)))
def test_pieces_of_which_an_answer_is_written_are_no_family(number):
    assert borrowed(ALLOWED[number], *FAMILIES) == ()


def test_families_have_the_operators_of_torch_by_their_names():
    names = {schema.name.split(".")[0] for schema in torch._C._jit_get_all_schemas()}
    told = {name: ForbiddenCalls(FAMILIES).entry_of(name) for name in names}
    for family, words in {
        "softmax": ("softmax",),
        "log-sum-exp": ("logsumexp", "logcumsumexp", "logaddexp"),
        "cross entropy": ("cross_entropy", "nll_loss", "kl_div"),
        "attention": ("attention",),
        "recurrence": ("gru_cell", "lstm", "rnn_tanh"),
        "distances": ("cdist", "pdist", "mse_loss"),
    }.items():
        for word in words:
            found = {told[name] for name in names if word in name}
            assert found == {family}, word
    plain = ("exp", "sum", "amax", "bmm", "sigmoid", "square", "sub", "linalg_vector_norm", "tanh")
    assert {told[f"aten::{name}"] for name in plain} == {None}


def test_function_that_is_kept_by_its_own_name_is_no_family():
    assert borrowed(lambda x: nn.Linear(2, 2).parameters(), "parameters") == ("parameters",)
    assert borrowed(lambda x: x.cumsum(0), "cumsum") == ("cumsum",)
    assert borrowed(lambda x: x.cumsum(0), "sum") == ()


def test_noting_that_was_switched_off_is_noticed():
    autograd = torch._C._autograd
    for escape in (autograd._enable_record_function, lambda _: autograd._disable_profiler_legacy()):
        try:
            found = borrowed(lambda x, escape=escape: [*map(escape, [False]), x.softmax(-1)])
        finally:
            autograd._enable_record_function(True)
        assert {PROFILER, *UNWATCHED_CALLS} & {*found}


def test_profiler_of_the_caller_gives_way():
    with torch.profiler.profile():
        assert borrowed(lambda x: x.softmax(-1), "softmax") == ("softmax",)


def test_a_long_loop_is_watched_to_its_end():
    def loops(x):
        for _ in range(3000):
            x = x + 1
        return x.softmax(-1)

    assert borrowed(loops, "softmax") == ("softmax",)


class Later(torch.Tensor):
    """Fills an output when it is asked for anything."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunction():
            cls.output.copy_(cls.scores.softmax(-1))
        return False


def exchanges_the_class_of_an_argument(x):
    Later.scores, Later.output = x.clone(), torch.zeros_like(x)
    x.__class__ = Later
    return Later.output


def works_when_an_argument_is_let_go(x):
    scores, output = x.clone(), torch.zeros_like(x)
    weakref.finalize(x, lambda: output.copy_(scores.softmax(-1)))
    return output


@pytest.mark.parametrize(
    "answer", [exchanges_the_class_of_an_argument, works_when_an_argument_is_let_go]
)
def test_what_an_answer_does_after_its_call_is_noticed_and_changes_no_output(answer):
    outcome = LocalSubmission(answer, ("softmax",), ()).call({"x": X})
    assert outcome.borrowed == ("softmax",)
    assert not outcome.output.any()


def test_what_stands_for_a_method_of_tensors_is_not_asked_where_they_are_packed(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "numpy", lambda self: 1 / 0)
    monkeypatch.setattr(torch.Tensor, "dtype", property(lambda self: 1 / 0))
    form, body = pack({"value": X}, None)
    monkeypatch.undo()
    assert torch.equal(unpack(form, body, None)["value"], X)


def test_gradients_are_worked_out_by_what_the_answer_may_call():
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.exp()

        @staticmethod
        def backward(ctx, upstream):
            return upstream.softmax(-1)

    def gradients(answer):
        submission = LocalSubmission(answer, ("softmax", "autograd"), ())
        return submission.call({"x": X}, torch.ones_like(X), ("x",))

    assert gradients(lambda x: Own.apply(x)).borrowed == ("softmax",)
    assert gradients(lambda x: x.exp()).borrowed == ()
