"""Part B of problem set 11: a whole model, whose logits are those of the weights that are given."""

from collections.abc import Callable
from functools import lru_cache

import torch
from hintgrader.exercise import (
    Altered,
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    given,
    then,
    using,
)
from torch import Generator, Tensor
from torch.func import functional_call
from torch.nn import functional

from attn_bank.draws import draw_normal
from attn_bank.transformer import transformer_block as part_a
from attn_course.multi_head import merge_heads, split_heads
from attn_course.scaled_dot_product import attention, causal_mask
from attn_course.self_attention import rotate_by_position, sinusoidal_positions
from attn_course.transformer import LanguageModel

State = dict[str, Tensor]


def reference(
    tokens: Tensor, state: State, num_heads: int, num_layers: int, input_scale: float
) -> Tensor:
    vocab_size, d_model = state["embedding.weight"].shape
    d_hidden = len(state["blocks.0.widen.weight"])
    model = _empty(vocab_size, d_model, num_heads, d_hidden, num_layers, input_scale)
    return functional_call(model, state, (tokens,))


@lru_cache
def _empty(
    vocab_size: int, d_model: int, num_heads: int, d_hidden: int, num_layers: int, scale: float
) -> LanguageModel:
    """The model of the course, for texts of any length; its numbers are others' to give."""
    sizes = (vocab_size, d_model, num_heads, d_hidden, num_layers)
    # to draw on the meta device would import what compiles: seconds, in every process
    with torch.random.fork_rng(devices=[]):
        return LanguageModel(*sizes, context=1000, input_scale=scale)


def draw_model(
    generator: Generator,
    batch: int,
    length: int,
    vocab_size: int,
    num_heads: int,
    d_head: int,
    d_hidden: int,
    num_layers: int,
    input_scale: float,
) -> Inputs:
    """A text, and weights as if learned: gains beside 1, shifts and biases beside 0."""
    sizes = (vocab_size, num_heads * d_head, num_heads, d_hidden, num_layers)
    empty = _empty(*sizes, input_scale).state_dict()
    return {
        "tokens": torch.randint(vocab_size, (batch, length), generator=generator),
        "state": {name: _draw_weight(generator, name, kept.shape) for name, kept in empty.items()},
        "num_heads": num_heads,
        "num_layers": num_layers,
        "input_scale": input_scale,
    }


def _draw_weight(generator: Generator, name: str, shape: torch.Size) -> Tensor:
    drawn = draw_normal(generator, *shape)
    if len(shape) == 2:
        return drawn / shape[1] ** 0.5
    return 0.5 * drawn + ("norm" in name and name.endswith("weight"))


def _norm(tokens: Tensor, state: State, name: str) -> Tensor:
    gain = state[f"{name}.weight"]
    return functional.layer_norm(tokens, gain.shape, gain, state[f"{name}.bias"])


def _linear(tokens: Tensor, state: State, name: str) -> Tensor:
    return functional.linear(tokens, state[f"{name}.weight"], state[f"{name}.bias"])


def _look(tokens: Tensor, state: State, number: int, num_heads: int) -> Tensor:
    name = f"blocks.{number}.attention.project_"
    query, key, value = (
        split_heads(_linear(tokens, state, name + part), num_heads)
        for part in ("query", "key", "value")
    )
    seen = causal_mask(tokens.shape[1])
    heads = attention(rotate_by_position(query), rotate_by_position(key), value, seen)
    return _linear(merge_heads(heads), state, name + "output")


def _block(stream: Tensor, state: State, number: int, num_heads: int) -> Tensor:
    name = f"blocks.{number}."
    stream = stream + _look(_norm(stream, state, name + "norm_attention"), state, number, num_heads)
    hidden = torch.relu(_linear(_norm(stream, state, name + "norm_maps"), state, name + "widen"))
    return stream + _linear(hidden, state, name + "narrow")


def _normalize_sums(stream: Tensor, state: State, number: int, num_heads: int) -> Tensor:
    name = f"blocks.{number}."
    stream = stream + _look(stream, state, number, num_heads)
    stream = _norm(stream, state, name + "norm_attention")
    hidden = torch.relu(_linear(stream, state, name + "widen"))
    return _norm(stream + _linear(hidden, state, name + "narrow"), state, name + "norm_maps")


def _model(
    tokens: Tensor,
    state: State,
    num_heads: int,
    num_layers: int,
    input_scale: float,
    *,
    enter: Callable[[Tensor, float], Tensor] = lambda embedded, scale: scale * embedded,
    block: Callable[..., Tensor] = _block,
    finish: Callable[[Tensor, State], Tensor] = lambda stream, state: _norm(stream, state, "norm"),
    read: Callable[[Tensor, Tensor], Tensor] = lambda output, embedding: output @ embedding.mT,
) -> Tensor:
    """The logits, in one of many ways: right is what the arguments are if nobody says otherwise."""
    embedding = state["embedding.weight"]
    stream = enter(embedding[tokens], input_scale)
    for number in range(num_layers):
        stream = block(stream, state, number, num_heads)
    return read(finish(stream, state), embedding)


def _with(**parts: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A model with other parts."""

    def answer(**inputs: Tensor) -> Tensor:
        return _model(**inputs, **parts)

    return answer


def _with_state(change: Callable[[str, State], Tensor]) -> Altered:
    """The reference with each weight replaced by what this makes of its name and all weights."""
    return given(reference, state=lambda state: {name: change(name, state) for name in state})


def _plain(name: str, state: State, *starts: str) -> Tensor:
    """The weight; of a norm with such a name a gain of 1 or a shift of 0."""
    if "norm" not in name or not name.startswith(starts):
        return state[name]
    return torch.full_like(state[name], float(name.endswith("weight")))


def _as_in_part_a(answer: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A model with the blocks that an answer to part A makes."""

    def block(stream: Tensor, state: State, number: int, num_heads: int) -> Tensor:
        def layer(apply: Callable[..., Tensor], name: str) -> Callable[[Tensor], Tensor]:
            return lambda tokens: apply(tokens, state, f"blocks.{number}.{name}")

        return answer(
            stream,
            norm_attention=layer(_norm, "norm_attention"),
            attend=lambda tokens: _look(tokens, state, number, num_heads),
            norm_maps=layer(_norm, "norm_maps"),
            widen=layer(_linear, "widen"),
            narrow=layer(_linear, "narrow"),
        )

    return _with(block=block)


def _with_blocks(number: Callable[[int, int], int], *parts: str) -> Altered:
    """The reference in which each block has the weights of another: of its number and the last.

    With `parts`, the weights whose names begin so behind the number; else all of them.
    """

    def how(answer: Callable[..., Tensor], **inputs: Tensor) -> Tensor:
        def moved(name: str, state: State) -> Tensor:
            if not name.startswith("blocks."):
                return state[name]
            start, own, rest = name.split(".", 2)
            if not rest.startswith(parts or ""):
                return state[name]
            return state[f"{start}.{number(int(own), inputs['num_layers'] - 1)}.{rest}"]

        return _with_state(moved).of(answer)(**inputs)

    return Altered(reference, how)


mistake = Mistakes()


def _scale_by_the_width(**inputs: Tensor) -> Tensor:
    width = inputs["state"]["embedding.weight"].shape[1]
    return reference(**inputs | {"input_scale": width**0.5})


@mistake(
    points=1.5,
    computes=given(reference, input_scale=lambda scale: 1 / scale),
    also=(_scale_by_the_width, given(reference, input_scale=1.0)),
)
def scales_by_another_number():
    """the vectors of the tokens enter your stream with another factor than `input_scale`, such as
    1, the root of `d_model`, or 1 over `input_scale`; the factor is `input_scale`, whatever it
    is"""


def _scale_at_the_end_alone(**inputs: Tensor) -> Tensor:
    return inputs["input_scale"] * reference(**inputs | {"input_scale": 1.0})


@mistake(points=1.5, also=(_scale_at_the_end_alone,))
def scales_the_readout(**inputs):
    """the readout has the factor `input_scale` in yours, which belongs where the tokens enter, and
    there alone. Scale the vectors, not the table: the readout is that table, and `*=` scales it for
    both"""
    return inputs["input_scale"] * reference(**inputs)


@mistake(points=1.5)
def scales_in_each_block(**inputs):
    """you multiply the stream by `input_scale` in each block; it is multiplied once, where the
    tokens enter"""

    def block(stream, *rest):
        return _block(inputs["input_scale"] * stream, *rest)

    return _model(**inputs, block=block, enter=lambda embedded, scale: embedded)


def _adding_places(places: Callable[[Tensor, float], Tensor]) -> Callable[..., Tensor]:
    """The reference with a vector for each position added, of the sinusoids and the scale."""

    def enter(embedded: Tensor, scale: float) -> Tensor:
        sinusoids = sinusoidal_positions(*embedded.shape[1:])
        return scale * embedded + places(sinusoids, scale).to(embedded)

    return _with(enter=enter)


def _halves(sinusoids: Tensor) -> Tensor:
    """All sines in front of all cosines."""
    return torch.cat([sinusoids[:, 0::2], sinusoids[:, 1::2]], -1)


@mistake(
    computes=_adding_places(lambda sinusoids, scale: sinusoids),
    also=(
        _adding_places(lambda sinusoids, scale: scale * sinusoids),
        _adding_places(lambda sinusoids, scale: _halves(sinusoids)),
        _adding_places(lambda sinusoids, scale: scale * _halves(sinusoids)),
    ),
)
def adds_positions():
    """you add a vector for the position to each token's; this model has none: `look_back` turns
    queries and keys by their positions, and the stream knows nothing of them"""


@mistake(computes=_with(finish=lambda stream, state: stream))
def forgets_the_last_norm():
    """you read the stream as it leaves the last block; it goes through `norm` first"""


def _norm_as_in_the_last_block(**inputs: Tensor) -> Tensor:
    name = f"blocks.{inputs['num_layers'] - 1}.norm_maps"
    return _model(**inputs, finish=lambda stream, state: _norm(stream, state, name))


@mistake(
    computes=_with_state(lambda name, state: _plain(name, state, "norm.")),
    also=(
        _with_state(lambda name, state: _plain(name, state, "norm.", "blocks.")),
        _norm_as_in_the_last_block,
    ),
)
def leaves_the_last_norm_without_its_weights():
    """your last norm lacks its own gain and shift: `norm.weight` multiplies what it returns, and
    `norm.bias` is added. Each norm within the blocks has such weights, too"""


def _with_norm(norm: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    """The reference in which another function makes what the gain multiplies."""

    def layer_norm(tokens: Tensor, *_: object, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        return norm(tokens - tokens.mean(-1, keepdim=True)) * weight + bias

    return using(reference, "layer_norm", layer_norm)


@mistake(
    computes=_with_norm(lambda apart: apart / (apart.std(-1, keepdim=True) + 1e-5)),
    also=(
        _with_norm(lambda apart: apart / apart.std(-1, keepdim=True)),
        _with_norm(lambda apart: apart / (apart.var(-1, keepdim=True) + 1e-5).sqrt()),
    ),
)
def divides_by_one_less():
    """your norms divide by `std` or `var` as torch has them, which share the squares among one
    less than `d_model`; a layer norm takes their mean: `correction=0`"""


def _normalize_the_text(
    tokens: Tensor, *_: object, weight: Tensor, bias: Tensor, eps: float
) -> Tensor:
    return functional.layer_norm(tokens, tokens.shape[1:]) * weight + bias


@mistake(computes=using(reference, "layer_norm", _normalize_the_text))
def normalizes_over_the_text():
    """your norms take mean and variance over all tokens of a text together; each token has its own,
    over `d_model`"""


def _norm_in_front(**inputs: Tensor) -> Tensor:
    state = inputs["state"]
    return _model(**inputs, enter=lambda embedded, scale: _norm(scale * embedded, state, "norm"))


def _norm_in_front_alone(**inputs: Tensor) -> Tensor:
    return _norm_in_front(**inputs, finish=lambda stream, state: stream)


@mistake(also=(_norm_in_front_alone,))
def normalizes_what_enters(**inputs):
    """you normalize the vectors of the tokens where they enter; the only norms are those within the
    blocks and the one behind them"""
    return _norm_in_front(**inputs)


@mistake(points=1.5)
def normalizes_after_each_block(**inputs):
    """the last norm is applied behind each block in yours; it comes once, behind all of them"""

    def block(stream, state, number, num_heads):
        return _norm(_block(stream, state, number, num_heads), state, "norm")

    return _model(**inputs, block=block, finish=lambda stream, state: stream)


@mistake(points=1.5, computes=_with_blocks(lambda own, last: last - own))
def begins_with_the_last_block():
    """your blocks are in the reverse order; `blocks.0` comes first"""


_PARTS = ((), ("attention",), ("widen", "narrow"), ("norm",))


@mistake(
    points=1.5,
    computes=_with_blocks(lambda own, last: 0),
    also=tuple(
        _with_blocks(number, *names)
        for number in (lambda own, last: 0, lambda own, last: last)
        for names in _PARTS
    ),
)
def repeats_a_block():
    """all your blocks have the weights of a single one, the first or the last, in the attention,
    the maps or the norms at least; each has its own number in the names. A `lambda` looks its
    number up when it is called: one that is made in a loop has to keep it, `lambda x, i=i: ...`"""


def _pass_the_first(stream: Tensor, state: State, number: int, num_heads: int) -> Tensor:
    return _block(stream, state, number, num_heads) if number else stream


@mistake(
    computes=given(_model, num_layers=lambda number: number - 1),
    also=(
        given(_model, num_layers=lambda number: max(number - 1, 1)),
        _with(block=_pass_the_first),
        _with_blocks(lambda own, last: min(own + 1, last)),
    ),
)
def leaves_a_block_out():
    """one block is missing, the first or the last: there are `num_layers` of them, and the first is
    `blocks.0`"""


@mistake(points=1.5, computes=given(_model, num_layers=1))
def has_one_block():
    """your stream goes through the first block alone; there are `num_layers`. Is the `return`
    inside the loop? And does each block get what the one before it has returned?"""


@mistake(points=1.5)
def gives_every_block_the_input(**inputs):
    """only your last block counts: the others are never called, or each reads what entered the
    first one. Call all of them, and let each read what the block before it has returned"""
    last = inputs["num_layers"] - 1

    def block(stream, state, number, num_heads):
        return _block(stream, state, number, num_heads) if number == last else stream

    return _model(**inputs, block=block)


@mistake(
    points=1.5, computes=_with_blocks(lambda own, last: int(sorted(map(str, range(last + 1)))[own]))
)
def sorts_the_blocks_by_their_names():
    """your blocks are in the order of their names, in which `blocks.10` comes before `blocks.2`;
    count their numbers"""


@mistake(
    points=1.5, computes=_with_blocks(lambda own, last: 10 if own == 1 and last >= 10 else own)
)
def takes_block_ten_for_block_one():
    """block 1 has the weights of block 10 in yours: their names both begin with `blocks.1`; the
    full stop behind the number belongs to the name"""


def _swap(name: str, state: State) -> Tensor:
    one, other = "norm_attention", "norm_maps"
    return state[name.replace(one, other) if one in name else name.replace(other, one)]


@mistake(
    computes=_with_state(_swap),
    also=(
        _with_state(lambda name, state: state[name.replace("norm_maps", "norm_attention")]),
        _with_state(lambda name, state: state[name.replace("norm_attention", "norm_maps")]),
    ),
)
def exchanges_the_norms():
    """a part of your blocks reads the stream through the norm of the other, or both do:
    `norm_attention` is for what attention reads, `norm_maps` for what the maps read"""


@mistake(
    computes=_as_in_part_a(part_a.adds_nothing),
    also=(
        _as_in_part_a(part_a.replaces_the_stream_by_attention),
        _as_in_part_a(part_a.replaces_the_stream_by_the_maps),
    ),
)
def replaces_the_stream():
    """what a part of your blocks returns replaces the stream; add it, twice, as in part A"""


@mistake(
    computes=_as_in_part_a(part_a.normalizes_nothing),
    also=(
        _as_in_part_a(part_a.forgets_the_norm_of_attention),
        _as_in_part_a(part_a.forgets_the_norm_of_the_maps),
    ),
)
def forgets_a_norm():
    """a part of your blocks reads the stream as it is; attention and the maps each read it through
    a norm, as in part A"""


@mistake(
    computes=_as_in_part_a(part_a.lets_the_maps_read_the_old_stream),
    also=(
        _as_in_part_a(part_a.lets_the_maps_read_attention_alone),
        _as_in_part_a(part_a.lets_the_maps_go_first),
        _as_in_part_a(part_a.forgets_what_attention_added),
    ),
)
def begins_the_maps_elsewhere():
    """the maps of your blocks come after attention: they read the sum of it and the stream, through
    their norm, and add to that sum, as in part A; one of the three is not so in yours"""


@mistake(computes=_with(block=_normalize_sums))
def normalizes_the_sums():
    """your blocks normalize each sum; in these only what a part reads is normalized, as in part
    A"""


def _without(*names: str) -> Altered:
    return _with_state(lambda name, state: state[name] * (not name.endswith(names)))


@mistake(
    computes=_without("widen.bias", "narrow.bias"),
    also=(_without("widen.bias"), _without("narrow.bias")),
)
def leaves_a_bias_of_the_maps_out():
    """a bias of your two maps is missing, or both are; `widen.bias` and `narrow.bias` are added"""


@mistake(computes=using(reference, "relu", lambda tokens: tokens))
def leaves_the_relu_out():
    """there is no ReLU between the two maps of your blocks, as in part A"""


@mistake(computes=using(reference, "relu", functional.gelu))
def bends_smoothly():
    """between your maps stands a function like a ReLU, and none: a ReLU leaves every number above
    zero as it is, and makes the others 0"""


@mistake(computes=given(reference, num_heads=1))
def has_one_head():
    """your attention has one head; there are `num_heads`"""


@mistake(
    computes=then(reference, lambda logits: logits.softmax(-1)),
    also=(then(reference, lambda logits: logits.log_softmax(-1)),),
)
def returns_probabilities():
    """you take a softmax at the end; return the logits themselves, which the loss and part D
    expect"""


@mistake(
    computes=then(reference, lambda logits: logits[:, -1:]),
    also=(then(reference, lambda logits: logits[:, -1]),),
)
def answers_for_the_last_token_alone():
    """you return logits at the last token alone; each token has some, `(batch, length,
    vocab_size)`"""


@mistake(computes=_with(read=lambda output, embedding: output))
def does_not_read_out():
    """you return the stream; the dot product of each vector with each row of the embedding is its
    logit: `@ embedding.mT`"""


@mistake(computes=_with(read=lambda output, embedding: output @ functional.normalize(embedding).mT))
def compares_with_rows_of_length_one():
    """you make the rows of the embedding equally long before you read out; the readout is the
    embedding as it is"""


_SMALL = {"batch": 2, "length": 5, "vocab_size": 7, "num_heads": 2, "d_head": 4, "d_hidden": 11}
_OTHER = {"batch": 3, "length": 7, "vocab_size": 11, "num_heads": 3, "d_head": 2, "d_hidden": 5}

EXERCISE = Exercise(
    function="language_model",
    reference=reference,
    title="a whole model, from weights that are given",
    minutes=25,
    axes={"batch": 13, "length": 29, "vocab_size": 43, "d_hidden": 31},
    may_use=(
        "attn_course.multi_head.merge_heads",
        "attn_course.multi_head.split_heads",
        "attn_course.scaled_dot_product.attention",
        "attn_course.scaled_dot_product.causal_mask",
        "attn_course.self_attention.rotate_by_position",
    ),
    contract=Contract(
        batch=("tokens",),
        like=0,
    ),
    checks=(
        Check(
            "one block: the embedding, the block, the last norm, and the embedding as the readout;"
            " `input_scale` is 1",
            1,
            draw_model,
            sizes=({**_SMALL, "num_layers": 1, "input_scale": 1.0},),
            hidden_sizes=({**_OTHER, "num_layers": 1, "input_scale": 1.0},),
            easier=True,
        ),
        Check(
            "several blocks, each with its own weights, in the order of their numbers, and a scale"
            " where the tokens enter",
            2.5,
            draw_model,
            sizes=(
                {**_SMALL, "num_layers": 3, "input_scale": 2.5},
                {**_SMALL, "num_layers": 11, "input_scale": 1.5},
            ),
            hidden_sizes=({**_OTHER, "num_layers": 11, "input_scale": 2.0},),
        ),
    ),
    mistakes=mistake.collected,
)
