"""Part D of problem set 10: biases with which an LSTM keeps a share of its memory over a distance.

Source: Gers et al. 2000 for the gate; Jozefowicz et al. 2015 for its bias.
"""

import math
from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Invariant,
    Mistakes,
    Plain,
    given,
    name_kind,
    then,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal

Biases = tuple[Tensor, Tensor]


def reference(bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int) -> Biases:
    return _put(bias_ih, bias_hh, _bias(share, distance))


def _bias(share: float, distance: int) -> float:
    """The logit of `share ** (1 / distance)`, even where that is 1 up to rounding."""
    log_gate = math.log(share) / distance
    return log_gate - math.log(-math.expm1(log_gate))


def _put(bias_ih: Tensor, bias_hh: Tensor, bias: float, gate: int = 1) -> Biases:
    """New biases in which one quarter is zero and the bias, and all others are as before."""
    bias_ih, bias_hh = bias_ih.clone(), bias_hh.clone()
    bias_ih.chunk(4)[gate][:] = 0
    bias_hh.chunk(4)[gate][:] = bias
    return bias_ih, bias_hh


def draw_biases(generator: Generator, d_hidden: int, share: float, distance: int) -> Inputs:
    return {
        "bias_ih": draw_normal(generator, 4 * d_hidden),
        "bias_hh": draw_normal(generator, 4 * d_hidden),
        "share": share,
        "distance": distance,
    }


def keeps_the_share(tolerance: float) -> Invariant:
    """The law that both biases of the forget gate sum to what keeps the share."""

    def judge(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | None:
        output, given = call(inputs), inputs["bias_ih"]
        if not isinstance(output, list | tuple) or len(output) != 2:
            return f"it is {name_kind(output)}; expected two tensors", "not two"
        for bias in output:
            if (bias.shape, bias.dtype) != (given.shape, given.dtype):
                return f"it has {name_kind(bias)}, {bias.dtype}; expected biases as given", "form"
        wanted = _bias(inputs["share"], inputs["distance"])
        found = (output[0] + output[1]).chunk(4)[1]
        wrong = ~((found - wanted).abs() <= tolerance * max(1.0, abs(wanted)))
        if not wrong.any():
            return None
        worst = found[wrong][0].item()
        log_kept = inputs["distance"] * -math.log1p(math.exp(min(-worst, 700.0)))
        kept, share = f"{math.exp(log_kept):.3g}", f"{inputs['share']:.3g}"
        if kept == share:  # the two differ in digits that a share does not show
            digits = 15 if found.dtype == torch.float64 else 8
            return f"the forget bias is {worst:.{digits}g} and should be {wanted:.{digits}g}", found
        said = f"a forget bias of {worst:.6g} keeps the share {kept}"
        return f"{said} over {inputs['distance']:,} steps, not {share}", found

    return judge


mistake = Mistakes()


def _open_it_twice_in_zeros(
    bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int
) -> Biases:
    return opens_it_twice(0 * bias_ih, 0 * bias_hh, share, distance)


@mistake(also=(_open_it_twice_in_zeros,))
def opens_it_twice(bias_ih, bias_hh, share, distance):
    """you put the bias into both vectors; a gate adds the two, so it gets twice as much"""
    bias_ih, bias_hh = reference(bias_ih, bias_hh, share, distance)
    bias_ih.chunk(4)[1][:] = _bias(share, distance)
    return bias_ih, bias_hh


@mistake
def leaves_the_other_bias(bias_ih, bias_hh, share, distance):
    """a gate adds its two biases, and what `bias_ih` held for the forget gate is still there; put
    zeros in its place"""
    return bias_ih.clone(), reference(bias_ih, bias_hh, share, distance)[1]


@mistake
def adds_to_what_is_there(bias_ih, bias_hh, share, distance):
    """you add to the biases that are there; put yours in their place"""
    bias_hh = bias_hh.clone()
    bias_hh.chunk(4)[1][:] += _bias(share, distance)
    return bias_ih.clone(), bias_hh


@mistake
def puts_the_gate_itself(bias_ih, bias_hh, share, distance):
    """you put the gate `f` itself into the biases; the gate is the sigmoid of what is there, so it
    takes `log(f / (1 - f))`"""
    return _put(bias_ih, bias_hh, share ** (1 / distance))


@mistake
def forgets_the_distance(bias_ih, bias_hh, share, distance):
    """your gate keeps the share over one step; over `distance` steps the gates multiply"""
    return _put(bias_ih, bias_hh, _bias(share, 1))


@mistake
def divides_the_share(bias_ih, bias_hh, share, distance):
    """you divide the share by the distance; gates of many steps multiply, so take the root: `share
    ** (1 / distance)`"""
    gate = share / distance
    return _put(bias_ih, bias_hh, math.log(gate / (1 - gate)))


@mistake
def divides_the_loss(bias_ih, bias_hh, share, distance):
    """you share out equally what is lost; each step loses a part of what is left, so the gate is
    the root `share ** (1 / distance)`"""
    loss = (1 - share) / distance
    return _put(bias_ih, bias_hh, math.log1p(-loss) - math.log(loss))


@mistake
def takes_the_power(bias_ih, bias_hh, share, distance):
    """you raise the share to the power of the distance; the gate raised to that power is the share,
    so take the root"""
    log_gate = math.log(share) * min(distance, 600)
    return _put(bias_ih, bias_hh, log_gate - math.log1p(-math.exp(log_gate)))


@mistake
def takes_the_logarithm_of_the_distance(bias_ih, bias_hh, share, distance):
    """the logarithm of the distance is a rule of thumb, which keeps about a third; the share that
    is asked has to come in"""
    return _put(bias_ih, bias_hh, math.log(distance))


@mistake(points=0.5)
def takes_the_gate_for_open(bias_ih, bias_hh, share, distance):
    """your bias is right for far distances only: you take `1 - f` for `-log f`, or the sigmoid for
    an exponential, which holds where the gate is nearly 1"""
    return _put(bias_ih, bias_hh, math.log(distance) - math.log(-math.log(share)))


@mistake
def divides_the_bias(bias_ih, bias_hh, share, distance):
    """you divide the bias by the distance; gates multiply, biases do not: take the root of the
    share first, and then the bias that makes this gate"""
    return _put(bias_ih, bias_hh, _bias(share, 1) / distance)


@mistake
def shuts_the_gate(bias_ih, bias_hh, share, distance):
    """your bias has the wrong sign: it shuts the gate as far as it should open it"""
    return _put(bias_ih, bias_hh, -_bias(share, distance))


@mistake
def keeps_the_rest(bias_ih, bias_hh, share, distance):
    """you keep what should be lost, and lose what should be kept"""
    return _put(bias_ih, bias_hh, _bias(1 - share, distance))


@mistake(points=2)
def never_shuts(bias_ih, bias_hh, share, distance):
    """you leave no bias below zero; where little should be left after few steps, the gate has to be
    less than half open"""
    return _put(bias_ih, bias_hh, max(_bias(share, distance), 0.0))


@mistake(slip=True)
def opens_the_input_gate(bias_ih, bias_hh, share, distance):
    """you set the first quarter, which belongs to the input gate; the order is input gate, forget
    gate, proposal, output gate"""
    return _put(bias_ih, bias_hh, _bias(share, distance), gate=0)


@mistake(slip=True)
def opens_the_third(bias_ih, bias_hh, share, distance):
    """you set the third quarter, which belongs to the proposal; the order is input gate, forget
    gate, proposal, output gate"""
    return _put(bias_ih, bias_hh, _bias(share, distance), gate=2)


@mistake(slip=True)
def opens_the_output_gate(bias_ih, bias_hh, share, distance):
    """you set the last quarter, which belongs to the output gate; the order is input gate, forget
    gate, proposal, output gate"""
    return _put(bias_ih, bias_hh, _bias(share, distance), gate=3)


@mistake
def opens_every_fourth(bias_ih, bias_hh, share, distance):
    """you set every fourth number; a gate has its numbers side by side, a quarter of them"""
    bias_ih, bias_hh = bias_ih.clone(), bias_hh.clone()
    bias_ih[1::4], bias_hh[1::4] = 0, _bias(share, distance)
    return bias_ih, bias_hh


@mistake(points=3)
def opens_all_gates(bias_ih, bias_hh, share, distance):
    """you set all four gates; the forget gate is the second quarter, and the others keep their
    biases"""
    return torch.zeros_like(bias_ih), torch.full_like(bias_hh, _bias(share, distance))


@mistake(points=3, computes=given(reference, bias_ih=torch.zeros_like, bias_hh=torch.zeros_like))
def clears_the_other_gates():
    """you lose the biases of the other three gates; begin with a copy of what is given"""


@mistake(points=3, computes=then(reference, lambda pair: pair[::-1]))
def swaps_the_two():
    """you return the two vectors in the wrong order: `bias_ih` first"""


@mistake(points=3, right="the sum is right")
def fills_the_other_bias(bias_ih, bias_hh, share, distance):
    """it should all be in `bias_hh`, with zeros in `bias_ih`"""
    bias_hh, bias_ih = _put(bias_hh, bias_ih, _bias(share, distance))
    return bias_ih, bias_hh


@mistake(points=3, right="the sum is right")
def halves_it(bias_ih, bias_hh, share, distance):
    """you share it out; it should all be in `bias_hh`, with zeros in `bias_ih`"""
    bias_ih, bias_hh = bias_ih.clone(), bias_hh.clone()
    for bias in (bias_ih, bias_hh):
        bias.chunk(4)[1][:] = _bias(share, distance) / 2
    return bias_ih, bias_hh


def _of_gate(bias: Callable[[float], float]) -> Callable[..., Biases]:
    """The answer that works the bias out of the gate."""

    def answer(bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int) -> Biases:
        return _put(bias_ih, bias_hh, bias(share ** (1 / distance)))

    return answer


def _of_log(bias: Callable[[float], float]) -> Callable[..., Biases]:
    """The answer that works the bias out of the logarithm of the gate."""

    def answer(bias_ih: Tensor, bias_hh: Tensor, share: float, distance: int) -> Biases:
        return _put(bias_ih, bias_hh, bias(math.log(share) / distance))

    return answer


@mistake(
    points=2.5,
    also=(
        _of_gate(lambda f: math.log(f / max(1 - f, 1e-300))),
        _of_gate(lambda f: math.log(f / max(1 - f, 1e-16))),
        _of_gate(lambda f: math.log(f) - math.log1p(-f)),
        _of_gate(lambda f: math.log(f / max(1 - f, 2**-53))),
        _of_log(lambda log_f: log_f - math.log(1 - math.exp(log_f))),
    ),
)
def loses_what_is_missing_to_one(bias_ih, bias_hh, share, distance):
    """where the gate is nearly 1, it has lost most digits of `1 - f`, or all. Do not go through the
    gate: `log f` is `log(share) / distance`, and `1 - f` is `-expm1(log f)`"""
    gate = share ** (1 / distance)
    return _put(bias_ih, bias_hh, math.log(gate / (1 - gate)))


@mistake(points=0.5, computes=_of_log(lambda log_f: -math.log(-math.expm1(log_f))))
def leaves_the_logarithm_of_the_gate_out():
    """`log f` is missing: `b = log f - log(1 - f)`. Your bias is right for far distances only,
    where `log f` is nearly 0"""


@mistake(points=0.5, computes=_of_log(lambda log_f: log_f - math.log(math.expm1(-log_f))))
def turns_the_sign_within():
    """`expm1(-log f)` is `1 / f - 1`, and not `1 - f`; that is `-expm1(log f)`, with the sign in
    front"""


@mistake(points=2.5)
def takes_the_logit_of_one(bias_ih, bias_hh, share, distance):
    """you take the logit of a gate that is nearly 1: most digits of `1 - f` are lost, and where the
    gate is rounded to 1, the logit is infinite. Work with the logarithm of the gate: `1 - f` is
    `-expm1(log f)`"""
    gate = torch.tensor(share, dtype=torch.float64) ** (1 / distance)
    return _put(bias_ih, bias_hh, torch.logit(gate).item())


@mistake(points=2.5)
def switches_far_off(bias_ih, bias_hh, share, distance):
    """one formula loses digits where the gate is near 1, the other is right at infinity only, and
    between the two neither is; `-expm1(log f)` is right everywhere"""
    near = distance <= 10**6
    return (loses_what_is_missing_to_one if near else takes_the_gate_for_open)(
        bias_ih, bias_hh, share, distance
    )


@mistake(points=2.5)
def stays_away_from_one(bias_ih, bias_hh, share, distance):
    """you keep the gate away from 1 by hand, and with it the distance; work with the logarithm of
    the gate: `1 - f` is `-expm1(log f)`"""
    gate = min(share ** (1 / distance), 1 - 1e-9)
    return _put(bias_ih, bias_hh, math.log(gate / (1 - gate)))


@mistake(points=2)
def works_in_single_precision(bias_ih, bias_hh, share, distance):
    """you compute the gate in float32, which has seven digits, and most of them are spent on nines;
    use Python's own numbers, and `math.log` and `math.expm1`"""
    gate = torch.tensor(share) ** (1 / distance)
    return _put(bias_ih, bias_hh, torch.logit(gate).item())


@mistake
def adds_to_what_was_there(bias_ih, bias_hh, share, distance):
    """you add to the biases of the forget gate that were there; put the new ones in their place"""
    new_ih, new_hh = reference(bias_ih, bias_hh, share, distance)
    new_hh.chunk(4)[1][:] += bias_hh.chunk(4)[1]
    return new_ih, new_hh


@mistake(points=3)
def leaves_the_first_bias(bias_ih, bias_hh, share, distance):
    """your sum is right, but the first vector keeps its biases of the forget gate; they must be
    zero there, and all of $b$ in the second"""
    new_ih, new_hh = reference(bias_ih, bias_hh, share, distance)
    new_ih.chunk(4)[1][:] = bias_ih.chunk(4)[1]
    new_hh.chunk(4)[1][:] -= bias_ih.chunk(4)[1]
    return new_ih, new_hh


@mistake
def takes_the_logarithm_of_the_gate(bias_ih, bias_hh, share, distance):
    """your bias is the logarithm of the gate alone; take the logarithm of `1 - f` off"""
    return _put(bias_ih, bias_hh, math.log(share) / distance)


@mistake(computes=then(reference, lambda biases: biases[1]), also=(then(reference, sum),))
def returns_one_vector():
    """you return one vector; two are asked for, `bias_ih` and `bias_hh`"""


@mistake(points=2.5)
def keeps_the_gate_below_one(bias_ih, bias_hh, share, distance):
    """you cut the gate off a little below 1, and all long distances get the same bias; compute `1 -
    f` from the logarithm of `f`: `expm1`"""
    gate = min(share ** (1 / distance), 1 - 1e-12)
    return _put(bias_ih, bias_hh, math.log(gate / (1 - gate)))


EXERCISE = Exercise(
    function="open_forget_gate",
    reference=reference,
    title="a gate that stays open, and a half-truth refuted",
    minutes=20,
    axes={"d_hidden": 31},
    contract=Contract(exempts={"squeezes": "vectors of four gates have no axis of length 1"}),
    checks=(
        Check(
            "the two biases of the forget gate sum to what keeps the share over the distance",
            2,
            draw_biases,
            sizes=(
                {"d_hidden": 3, "share": 0.5, "distance": 20},
                {"d_hidden": 5, "share": 0.1, "distance": 2},
                {"d_hidden": 2, "share": 0.05, "distance": 1},
            ),
            hidden_sizes=(
                {"d_hidden": 7, "share": 0.8, "distance": 50},
                {"d_hidden": 1, "share": 0.5, "distance": 1},
            ),
            invariant=keeps_the_share(1e-5),
        ),
        Check(
            "the other three gates keep their biases; the forget gate's is all in `bias_hh`",
            0.5,
            draw_biases,
            sizes=(
                {"d_hidden": 3, "share": 0.6, "distance": 10**5},
                {"d_hidden": 1, "share": 0.2, "distance": 10**5},
            ),
            hidden_sizes=({"d_hidden": 5, "share": 0.7, "distance": 2 * 10**5},),
        ),
        Check(
            "in float64 twelve digits are right, even where the gate is 1 up to rounding",
            1,
            draw_biases,
            sizes=(
                {"d_hidden": 2, "share": 0.5, "distance": 10**14},
                {"d_hidden": 2, "share": 0.9, "distance": 10**17},
                {"d_hidden": 3, "share": 0.6, "distance": 10**6},
            ),
            hidden_sizes=(
                {"d_hidden": 3, "share": 0.3, "distance": 10**15},
                {"d_hidden": 1, "share": 0.99, "distance": 10**18},
                {"d_hidden": 2, "share": 0.2, "distance": 10**4},
                {"d_hidden": 2, "share": 0.2, "distance": 10**8},
            ),
            dtype=torch.float64,
            invariant=keeps_the_share(1e-12),
        ),
    ),
    mistakes=mistake.collected,
)
