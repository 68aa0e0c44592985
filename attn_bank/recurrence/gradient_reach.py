"""Part B of problem set 10: a probe of how far back a gradient reaches, for any layer.

The layers that it is tried on come from `attn_bank.sequence_layers`.
"""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    same,
    then,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight
from attn_bank.sequence_layers import SequenceLayer


def reference(layer: SequenceLayer, tokens: Tensor, direction: Tensor) -> Tensor:
    return _norms(_gradient(layer, tokens, direction)).mean(0).flip(0)


def _gradient(layer: SequenceLayer, tokens: Tensor, direction: Tensor) -> Tensor:
    """The gradient of each sequence's number, of the shape of the tokens."""
    return _gradient_of(lambda given: (layer(given)[:, -1] @ direction).sum(), tokens)


def _gradient_of(number: Callable[[Tensor], Tensor], tokens: Tensor) -> Tensor:
    tokens = tokens.detach().requires_grad_()
    return torch.autograd.grad(number(tokens), tokens, materialize_grads=True)[0]


def _norms(gradient: Tensor) -> Tensor:
    return gradient.norm(dim=-1)


def give_layer(
    generator: Generator, layer: str, length: int, d_in: int, d_out: int, batch: int = 1
) -> Inputs:
    weights = [draw_weight(generator, d_in, d_out), 0.7 * draw_weight(generator, d_out, d_out)]
    return {
        "layer": SequenceLayer(layer, *(weight.requires_grad_() for weight in weights)),
        "tokens": draw_normal(generator, batch, length, d_in),
        "direction": draw_normal(generator, d_out),
    }


def leaves_the_layer_alone(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | None:
    weights = inputs["layer"].weights
    wanted = reference(**inputs)
    for weight in weights:
        weight.grad = None
    found = call(inputs)
    if not same(found, wanted):
        return "what it returns has to be right as well", found
    if any(weight.grad is not None for weight in weights):
        return "gradients have piled up in the weights of the layer, in their `.grad`", "piled up"
    return None


mistake = Mistakes()


@mistake(points=1, computes=then(reference, lambda output: output.flip(0)))
def begins_with_the_first():
    """your first entry belongs to the first token; it should belong to the last, which is at
    distance 0. Turn the order round: `flip(0)`"""


@mistake(points=4)
def averages_the_gradients(layer, tokens, direction):
    """you take the mean over the batch before the norm; gradients that point in opposite
    directions cancel there. Take the norm of each first"""
    return _norms(_gradient(layer, tokens, direction).mean(0)).flip(0)


@mistake(points=2.5)
def adds_the_batch_up(layer, tokens, direction):
    """you add the norms of all sequences up; take their mean"""
    return len(tokens) * reference(layer, tokens, direction)


@mistake(points=2.5)
def divides_by_the_batch_twice(layer, tokens, direction):
    """you divide by the number of sequences twice: add the norms up for the gradient of a mean;
    take their mean for the gradient of a sum"""
    return reference(layer, tokens, direction) / len(tokens)


def _measure_as_one_and_divide(layer: SequenceLayer, tokens: Tensor, direction: Tensor) -> Tensor:
    return measures_the_batch_as_one(layer, tokens, direction) / len(tokens)


@mistake(points=2.5, also=(_measure_as_one_and_divide,))
def measures_the_batch_as_one(layer, tokens, direction):
    """you measure the gradients of all sequences as one long vector; each has its own norm, and
    their mean is asked"""
    return _gradient(layer, tokens, direction).norm(dim=(0, 2)).flip(0)


@mistake(points=4)
def takes_the_root_last(layer, tokens, direction):
    """you take the mean of the squares, and the root at the end; take the root for each sequence,
    and the mean of the norms"""
    return _norms(_gradient(layer, tokens, direction)).square().mean(0).sqrt().flip(0)


@mistake(points=4, computes=given(reference, tokens=lambda tokens: tokens[:1]))
def measures_the_first_sequence():
    """you measure the first sequence only; the mean over all is asked"""


@mistake
def returns_every_sequence(layer, tokens, direction):
    """you return the norms of every sequence; take their mean over the batch, so that one number is
    left for each distance"""
    return _norms(_gradient(layer, tokens, direction)).flip(1)


@mistake(points=1)
def forgets_the_root(layer, tokens, direction):
    """you return squares of norms; the root is missing"""
    return _gradient(layer, tokens, direction).square().sum(-1).mean(0).flip(0)


@mistake(points=1)
def adds_absolute_values(layer, tokens, direction):
    """you add the sizes of the features up; the norm of a vector is the root of the sum of squares,
    `norm(dim=-1)`"""
    return _gradient(layer, tokens, direction).abs().sum(-1).mean(0).flip(0)


@mistake(points=1)
def takes_the_largest_feature(layer, tokens, direction):
    """you take the largest feature of a gradient; its norm is asked, `norm(dim=-1)`"""
    return _gradient(layer, tokens, direction).abs().amax(-1).mean(0).flip(0)


@mistake(points=1)
def averages_over_the_features(layer, tokens, direction):
    """you take the mean of the squares of the features; their sum is under the root"""
    return reference(layer, tokens, direction) / tokens.shape[-1] ** 0.5


@mistake
def measures_along_the_sequence(layer, tokens, direction):
    """you take norms along the sequence, and return a number for each feature; take them along the
    features, axis -1"""
    return _gradient(layer, tokens, direction).norm(dim=1).mean(0).flip(0)


@mistake(points=1)
def begins_at_the_last_sequence(layer, tokens, direction):
    """`[-1]` takes the last sequence, with all its outputs; take the last output of every sequence,
    `[:, -1]`"""
    gradient = _gradient_of(lambda given: (layer(given)[-1] @ direction).sum(), tokens)
    return _norms(gradient).mean(0).flip(0)


def _begin_in(sequence: int) -> Callable[..., Tensor]:
    def answer(layer: SequenceLayer, tokens: Tensor, direction: Tensor) -> Tensor:
        gradient = _gradient_of(lambda given: layer(given)[sequence, -1] @ direction, tokens)
        return _norms(gradient).mean(0).flip(0)

    return answer


@mistake(points=2.5, computes=_begin_in(0), also=(_begin_in(-1),))
def begins_in_one_sequence():
    """you begin at the number of one sequence; begin at the sum of all, `(layer(tokens)[:, -1] @
    direction).sum()`"""


@mistake(points=1)
def begins_at_every_output(layer, tokens, direction):
    """you begin at all outputs together; begin at the last, `[:, -1]`"""
    gradient = _gradient_of(lambda given: (layer(given) @ direction).sum(), tokens)
    return _norms(gradient).mean(0).flip(0)


@mistake(points=1)
def begins_at_the_first_output(layer, tokens, direction):
    """you begin at the first output; begin at the last, `[:, -1]`"""
    gradient = _gradient_of(lambda given: (layer(given)[:, 0] @ direction).sum(), tokens)
    return _norms(gradient).mean(0).flip(0)


@mistake(points=1)
def forgets_the_direction(layer, tokens, direction):
    """you add the features of the last output up; take its product with `direction`"""
    gradient = _gradient_of(lambda given: layer(given)[:, -1].sum(), tokens)
    return _norms(gradient).mean(0).flip(0)


@mistake(points=1)
def begins_at_a_length(layer, tokens, direction):
    """you begin at the norm of the last output; take its product with `direction`"""
    gradient = _gradient_of(lambda given: layer(given)[:, -1].norm(dim=-1).sum(), tokens)
    return _norms(gradient).mean(0).flip(0)


@mistake
def compares_with_the_nearest(layer, tokens, direction):
    """you divide by the first entry; the norms are asked as they are"""
    reach = reference(layer, tokens, direction)
    return reach / reach[0]


@mistake(points=1)
def multiplies_with_the_tokens(layer, tokens, direction):
    """you multiply the gradient with the tokens; its norm alone is asked"""
    gradient = _gradient(layer, tokens, direction)
    return (gradient * tokens).sum(-1).abs().mean(0).flip(0)


@mistake(points=2.5, computes=given(reference, tokens=torch.zeros_like))
def measures_at_zero():
    """you take the gradient at tokens of your own; a layer that is not linear has another gradient
    at each sequence, so take it at the tokens that you are given"""


@mistake(points=4)
def wants_every_token_used(layer, tokens, direction):
    """you stumble over a layer that does not use its tokens: `torch.autograd.grad` raises an error
    then, and after `backward` the `.grad` is `None`. Its reach is zero; `materialize_grads=True`
    asks for zeros"""
    tokens = tokens.detach().requires_grad_()
    number = (layer(tokens)[:, -1] @ direction).sum()
    return _norms(torch.autograd.grad(number, tokens)[0]).mean(0).flip(0)


def _average_everything(layer: SequenceLayer, tokens: Tensor, direction: Tensor) -> Tensor:
    return _norms(_gradient(layer, tokens, direction)).mean().flip(0)


@mistake(also=(_average_everything,))
def averages_over_the_tokens(layer, tokens, direction):
    """your mean is over the tokens; take it over the batch alone, `mean(0)`, so that one number is
    left for each distance"""
    return _norms(_gradient(layer, tokens, direction)).mean(1).flip(0)


@mistake(points=3.5)
def squeezes_single_axes_away(layer, tokens, direction):
    """you `squeeze`: an axis of size 1 is still an axis; name the axes that you mean"""
    return _norms(_gradient(layer, tokens, direction).squeeze()).mean(0).flip(0)


@mistake(points=4)
def piles_up_in_the_layer(layer, tokens, direction):
    """`backward` adds to `.grad` of all that it meets, the weights of the layer as well, and a next
    step of training would use it; `torch.autograd.grad` with respect to the tokens adds to
    nothing"""
    tokens = tokens.detach().requires_grad_()
    (layer(tokens)[:, -1] @ direction).sum().backward()
    gradient = torch.zeros_like(tokens) if tokens.grad is None else tokens.grad
    return _norms(gradient).mean(0).flip(0)


@mistake(points=3)
def piles_up_and_wants_every_token_used(layer, tokens, direction):
    """`backward` adds to `.grad` of all that it meets, the weights of the layer as well; and where
    it does not meet the tokens, their `.grad` stays `None`. Use `torch.autograd.grad` with
    `materialize_grads=True`"""
    tokens = tokens.detach().requires_grad_()
    (layer(tokens)[:, -1] @ direction).sum().backward()
    return _norms(tokens.grad).mean(0).flip(0)


@mistake(points=4)
def casts_to_float32(layer, tokens, direction):
    """you return float32 whatever the tokens are; keep their dtype, or small gradients are zero
    before they are"""
    reach = torch.zeros(tokens.shape[1], device=tokens.device)
    return reach.copy_(reference(layer, tokens, direction))


@mistake(points=3)
def adds_a_little(layer, tokens, direction):
    """you add a small number under the root, and no gradient falls below it; leave it out"""
    return (_gradient(layer, tokens, direction).square().sum(-1) + 1e-20).sqrt().mean(0).flip(0)


def layers(*names: str, **sizes: int) -> tuple[dict[str, int | str], ...]:
    return tuple({"layer": name, **sizes} for name in names)


@mistake(points=1)
def takes_the_mean_size_of_the_features(layer, tokens, direction):
    """you take the mean size of the features; the norm of a gradient is the root of the sum of
    their squares"""
    return _gradient(layer, tokens, direction).abs().mean((0, -1)).flip(0)


@mistake(points=1)
def takes_a_unit_direction(layer, tokens, direction):
    """you divide the direction by its norm; multiply with it as it is"""
    return reference(layer, tokens, direction / direction.norm())


@mistake(points=1)
def adds_up_the_features(layer, tokens, direction):
    """you add up the features of a gradient, which cancel each other; its norm is the root of the
    sum of their squares"""
    return _gradient(layer, tokens, direction).sum(-1).abs().mean(0).flip(0)


@mistake(points=1)
def adds_up_the_features_with_their_signs(layer, tokens, direction):
    """you add up the features of a gradient and take the mean over the sequences, and both cancel;
    take the norm of each gradient first"""
    return _gradient(layer, tokens, direction).sum((0, -1)).flip(0) / len(tokens)


@mistake(points=4)
def takes_the_longest(layer, tokens, direction):
    """you take the largest norm of the batch; the mean of the norms is wanted"""
    return _norms(_gradient(layer, tokens, direction)).amax(0).flip(0)


@mistake(points=1)
def measures_along_the_batch(layer, tokens, direction):
    """your norms run over the sequences and your mean over the features; a norm is over the
    features, and the mean over the sequences"""
    return _gradient(layer, tokens, direction).norm(dim=0).mean(-1).flip(0)


@mistake(computes=then(reference, torch.log))
def takes_the_logarithm():
    """you return logarithms; the norms themselves are wanted"""


EXERCISE = Exercise(
    function="gradient_reach",
    reference=reference,
    title="a probe for gradients",
    minutes=25,
    axes={"length": 23, "d_in": 23, "d_out": 23},
    may_use=("attn_bank.sequence_layers.__call__",),
    equivalent_mutants={
        "0 -> -1 (2)": "one axis is left once the mean is taken: the first is the last",
    },
    contract=Contract(
        batch=("tokens",),
        exempts={"cuts off": "what it returns is read, and nothing is learned through it"},
    ),
    checks=(
        Check(
            "one sequence: the norm of the gradient at each token, the last token first",
            1,
            give_layer,
            sizes=(
                *layers("feeds_its_state_back", "attends", length=5, d_in=3, d_out=4),
                *layers("feeds_its_state_back", length=1, d_in=4, d_out=2),
            ),
            hidden_sizes=(
                *layers("sees_the_first_only", length=7, d_in=1, d_out=5),
                *layers("attends", length=4, d_in=5, d_out=2),
                *layers("feeds_its_state_back", length=1, d_in=2, d_out=3),
            ),
        ),
        Check(
            "many sequences: the mean of the norms of their gradients",
            1,
            give_layer,
            sizes=layers("feeds_its_state_back", batch=3, length=5, d_in=4, d_out=2),
            hidden_sizes=layers("attends", batch=7, length=4, d_in=3, d_out=5),
        ),
        Check(
            "a layer that does not use its tokens has a reach of zero",
            1,
            give_layer,
            sizes=layers("is_deaf", batch=2, length=4, d_in=3, d_out=5),
            hidden_sizes=layers("is_deaf", batch=3, length=5, d_in=2, d_out=4),
        ),
        Check(
            "the layer is left as it was: nothing is added to the gradients of its weights",
            1,
            give_layer,
            sizes=layers("fades", batch=2, length=4, d_in=3, d_out=5),
            hidden_sizes=layers("fades", batch=3, length=5, d_in=2, d_out=3),
            invariant=leaves_the_layer_alone,
        ),
        Check(
            "in float64 a gradient is followed down to 1e-50",
            0.5,
            give_layer,
            sizes=layers("fades", batch=2, length=130, d_in=3, d_out=2),
            hidden_sizes=layers("fades", batch=3, length=135, d_in=2, d_out=4),
            dtype=torch.float64,
        ),
    ),
    mistakes=mistake.collected,
)
