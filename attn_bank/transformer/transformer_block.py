"""Part A of problem set 11: a block, whose parts read from the stream and add to it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, mistaking, using
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.draws import draw_normal, draw_weight, in_front
from attn_course.scaled_dot_product import attention, causal_mask

Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer that shows itself by its name.

    Args:
        name: Its name.
        apply: The function of the tokens and, in their dtype, the weights.
        weights: What the layer has learned.
    """

    name: str
    apply: Callable[..., Tensor]
    weights: tuple[Tensor, ...]

    def __call__(self, tokens: Tensor) -> Tensor:
        """Apply the layer to the tokens."""
        return self.apply(tokens, *(weight.to(tokens) for weight in self.weights))

    def __repr__(self) -> str:
        return self.name


def reference(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    stream = stream + attend(norm_attention(stream))
    return stream + narrow(torch.relu(widen(norm_maps(stream))))


def draw_block(
    generator: Generator,
    length: int,
    d_model: int,
    d_hidden: int,
    batch: int | None = None,
    texts: int | None = None,
) -> Inputs:
    """A stream that other blocks have added to, and the layers of one more."""
    mean = draw_normal(generator, d_model)
    return {
        "stream": mean + 3 * draw_normal(generator, *in_front(batch, texts), length, d_model),
        "norm_attention": _draw_norm(generator, "norm_attention", d_model),
        "attend": Layer("attend", _look_back, (2 * draw_weight(generator, d_model, d_model),)),
        "norm_maps": _draw_norm(generator, "norm_maps", d_model),
        "widen": _draw_map(generator, "widen", d_hidden, d_model),
        "narrow": _draw_map(generator, "narrow", d_model, d_hidden),
    }


def draw_silent_maps(generator: Generator, **sizes: int) -> Inputs:
    """The same with a second map that returns 0, whatever it is given."""
    inputs = draw_block(generator, **sizes)
    silent = tuple(torch.zeros_like(weight) for weight in inputs["narrow"].weights)
    return inputs | {"narrow": Layer("narrow", functional.linear, silent)}


def _draw_norm(generator: Generator, name: str, d_model: int) -> Layer:
    gain = 1 + 0.3 * draw_normal(generator, d_model)
    return Layer(name, _normalize, (gain, 0.3 * draw_normal(generator, d_model)))


def _draw_map(generator: Generator, name: str, d_output: int, d_input: int) -> Layer:
    weight = draw_weight(generator, d_output, d_input)
    return Layer(name, functional.linear, (weight, 0.5 * draw_normal(generator, d_output)))


def _normalize(tokens: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    return functional.layer_norm(tokens, gain.shape, gain, shift)


def _look_back(tokens: Tensor, weight: Tensor) -> Tensor:
    seen = causal_mask(tokens.shape[-2])
    return attention(tokens @ weight.mT, tokens, tokens @ weight, seen)


mistake = Mistakes()


def _normalize_the_first_sum(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    stream = norm_attention(stream + attend(stream))
    return stream + narrow(torch.relu(widen(norm_maps(stream))))


def _normalize_the_second_sum(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    stream = stream + attend(norm_attention(stream))
    return norm_maps(stream + narrow(torch.relu(widen(stream))))


def _normalize_the_last_sum_as_well(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    return norm_maps(reference(stream, norm_attention, attend, norm_maps, widen, narrow))


@mistake(
    also=(
        _normalize_the_first_sum,
        _normalize_the_second_sum,
        _normalize_the_last_sum_as_well,
    )
)
def normalizes_the_sums(stream, norm_attention, attend, norm_maps, widen, narrow):
    """you normalize a sum, as the Transformer of 2017 did with each; here the stream is never
    normalized, only what a part reads of it: `attend(norm_attention(stream))`"""
    stream = norm_attention(stream + attend(stream))
    return norm_maps(stream + narrow(torch.relu(widen(stream))))


def _normalize_the_stream_at_first(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    stream = norm_attention(stream)
    stream = stream + attend(stream)
    return stream + narrow(torch.relu(widen(norm_maps(stream))))


def _normalize_the_stream_before_the_maps(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    stream = stream + attend(norm_attention(stream))
    stream = norm_maps(stream)
    return stream + narrow(torch.relu(widen(stream)))


@mistake(also=(_normalize_the_stream_at_first, _normalize_the_stream_before_the_maps))
def normalizes_the_stream(stream, norm_attention, attend, norm_maps, widen, narrow):
    """you add to the normalized stream; the sum is with the stream as it came. Give the normalized
    one a name of its own, or none"""
    stream = norm_attention(stream)
    stream = stream + attend(stream)
    stream = norm_maps(stream)
    return stream + narrow(torch.relu(widen(stream)))


@mistake
def normalizes_what_is_added(stream, norm_attention, attend, norm_maps, widen, narrow):
    """you normalize what the parts return; normalize what they read: the norm comes first"""
    stream = stream + norm_attention(attend(stream))
    return stream + norm_maps(narrow(torch.relu(widen(stream))))


@mistake
def adds_nothing(stream, norm_attention, attend, norm_maps, widen, narrow):
    """neither part adds to the stream in yours: what they return replaces it. Add it instead,
    `stream + ...`, twice"""
    looked = attend(norm_attention(stream))
    return narrow(torch.relu(widen(norm_maps(looked))))


@mistake
def replaces_the_stream_by_attention(stream, norm_attention, attend, norm_maps, widen, narrow):
    """what attention returns replaces the stream in yours; add it"""
    looked = attend(norm_attention(stream))
    return looked + narrow(torch.relu(widen(norm_maps(looked))))


@mistake
def replaces_the_stream_by_the_maps(stream, norm_attention, attend, norm_maps, widen, narrow):
    """what the maps return replaces the stream in yours; add it"""
    stream = stream + attend(norm_attention(stream))
    return narrow(torch.relu(widen(norm_maps(stream))))


@mistake(points=1)
def lets_the_maps_read_the_old_stream(stream, norm_attention, attend, norm_maps, widen, narrow):
    """your maps read the stream as it was before attention; they come after it, and read the sum"""
    looked = attend(norm_attention(stream))
    return stream + looked + narrow(torch.relu(widen(norm_maps(stream))))


@mistake(points=1)
def lets_the_maps_read_attention_alone(stream, norm_attention, attend, norm_maps, widen, narrow):
    """your maps read what attention returned, by itself; they read the stream to which it has been
    added"""
    looked = attend(norm_attention(stream))
    return stream + looked + narrow(torch.relu(widen(norm_maps(looked))))


@mistake
def forgets_what_attention_added(stream, norm_attention, attend, norm_maps, widen, narrow):
    """you add what the maps return to the stream as it came, so what attention had added is lost;
    add it to the sum that the maps read"""
    looked = stream + attend(norm_attention(stream))
    return stream + narrow(torch.relu(widen(norm_maps(looked))))


@mistake(points=1)
def lets_the_maps_go_first(stream, norm_attention, attend, norm_maps, widen, narrow):
    """your maps come before attention; they come after it"""
    stream = stream + narrow(torch.relu(widen(norm_maps(stream))))
    return stream + attend(norm_attention(stream))


@mistake(points=1, computes=mistaking(reference, norm_maps="norm_attention"))
def uses_the_first_norm_twice():
    """`norm_attention` is before both parts in yours; what the maps read comes from `norm_maps`"""


@mistake(computes=mistaking(reference, norm_attention="norm_maps"))
def uses_the_second_norm_twice():
    """`norm_maps` is before both parts in yours; what attention reads comes from
    `norm_attention`"""


@mistake(computes=mistaking(reference, norm_attention="norm_maps", norm_maps="norm_attention"))
def exchanges_the_norms():
    """your two norms have changed places: `norm_attention` is for what attention reads"""


@mistake
def normalizes_nothing(stream, norm_attention, attend, norm_maps, widen, narrow):
    """both parts read the stream as it is in yours; each reads it through its norm"""
    stream = stream + attend(stream)
    return stream + narrow(torch.relu(widen(stream)))


def _normalize_twice_before_the_maps(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    stream = stream + attend(stream)
    return stream + narrow(torch.relu(widen(norm_maps(norm_attention(stream)))))


@mistake(also=(_normalize_twice_before_the_maps,))
def forgets_the_norm_of_attention(stream, norm_attention, attend, norm_maps, widen, narrow):
    """attention reads the stream as it is in yours; it reads `norm_attention(stream)`"""
    stream = stream + attend(stream)
    return stream + narrow(torch.relu(widen(norm_maps(stream))))


@mistake(points=1)
def forgets_the_norm_of_the_maps(stream, norm_attention, attend, norm_maps, widen, narrow):
    """the maps read the stream as it is in yours; they read `norm_maps(stream)`"""
    stream = stream + attend(norm_attention(stream))
    return stream + narrow(torch.relu(widen(stream)))


@mistake
def normalizes_attention_twice(stream, norm_attention, attend, norm_maps, widen, narrow):
    """what you add to the stream has been normalized after attention as well; one norm is enough,
    before it"""
    stream = stream + norm_attention(attend(norm_attention(stream)))
    return stream + narrow(torch.relu(widen(norm_maps(stream))))


@mistake(points=1, computes=using(reference, "relu", lambda tokens: tokens))
def leaves_the_relu_out():
    """there is no ReLU between your two maps, and without it they are one linear map; what
    `widen` returns goes through `torch.relu`"""


@mistake(points=1)
def bends_before_the_maps(stream, norm_attention, attend, norm_maps, widen, narrow):
    """the ReLU stands before both maps in yours; it comes between them"""
    stream = stream + attend(norm_attention(stream))
    return stream + narrow(widen(torch.relu(norm_maps(stream))))


def _bend_twice(
    stream: Tensor, norm_attention: Map, attend: Map, norm_maps: Map, widen: Map, narrow: Map
) -> Tensor:
    stream = stream + attend(norm_attention(stream))
    return stream + torch.relu(narrow(torch.relu(widen(norm_maps(stream)))))


@mistake(points=1, also=(_bend_twice,))
def bends_after_the_maps(stream, norm_attention, attend, norm_maps, widen, narrow):
    """a ReLU stands behind both maps in yours, so that they can only add; there is one ReLU, and it
    comes between them"""
    stream = stream + attend(norm_attention(stream))
    return stream + torch.relu(narrow(widen(norm_maps(stream))))


@mistake
def bends_the_stream(stream, norm_attention, attend, norm_maps, widen, narrow):
    """what your block returns has no number below zero: the ReLU stands behind the sum. It comes
    between the two maps"""
    stream = stream + attend(norm_attention(stream))
    return torch.relu(stream + narrow(widen(norm_maps(stream))))


@mistake(
    points=1,
    computes=using(reference, "relu", functional.gelu),
    also=(using(reference, "relu", functional.silu),),
)
def bends_smoothly():
    """between your maps stands a function like a ReLU, and none: a ReLU leaves every number above
    zero as it is, and makes the others 0"""


@mistake
def returns_what_the_maps_add_alone(stream, norm_attention, attend, norm_maps, widen, narrow):
    """you return what the two parts add, without the stream; the stream goes on through the
    block"""
    looked = attend(norm_attention(stream))
    return looked + narrow(torch.relu(widen(norm_maps(stream + looked))))


@mistake
def adds_the_stream_twice(stream, norm_attention, attend, norm_maps, widen, narrow):
    """the stream as it came is in your sum twice; the sum with attention has it already"""
    looked = stream + attend(norm_attention(stream))
    return stream + looked + narrow(torch.relu(widen(norm_maps(looked))))


@mistake(points=1)
def stops_after_attention(stream, norm_attention, attend, norm_maps, widen, narrow):
    """you return the stream after attention; the two maps are still to come"""
    return stream + attend(norm_attention(stream))


EXERCISE = Exercise(
    function="transformer_block",
    reference=reference,
    title="a block that adds to the stream",
    minutes=10,
    axes={"batch": 13, "length": 31, "d_model": 31, "d_hidden": 47},
    may_use=("attn_bank.transformer.transformer_block.__call__",),
    goes_on=("stream",),
    contract=Contract(
        batch=("stream",),
        any_axes=True,
        like=1,
        exempts={
            "fills with": "attention is given, and no answer masks a score",
            "cuts off": "a block through which no gradient comes learns nothing in part E",
        },
    ),
    checks=(
        Check(
            "attention reads the stream through its norm, and adds to it; the maps return 0 here",
            1,
            draw_silent_maps,
            sizes=({"length": 5, "d_model": 7, "d_hidden": 11},),
            hidden_sizes=({"batch": 2, "length": 3, "d_model": 5, "d_hidden": 7},),
            easier=True,
        ),
        Check(
            "then the two maps read the new stream through theirs, and add to it; any number of"
            " axes may come in front",
            1.5,
            draw_block,
            sizes=(
                {"length": 5, "d_model": 7, "d_hidden": 11},
                {"batch": 2, "length": 3, "d_model": 5, "d_hidden": 13},
            ),
            hidden_sizes=(
                {"batch": 3, "length": 7, "d_model": 5, "d_hidden": 17},
                {"batch": 2, "texts": 3, "length": 2, "d_model": 3, "d_hidden": 7},
            ),
        ),
    ),
    mistakes=mistake.collected,
)
