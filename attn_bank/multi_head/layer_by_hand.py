"""Part F of problem set 09: a layer whose matrices are set by hand, and what one head cannot."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, leafwise
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.multi_head import multi_head_attention, split

Layer = tuple[Tensor, Tensor, Tensor, Tensor]
NAMES = "w_query", "w_key", "w_value", "w_output"
# The best that one head can is 0.5. On 3000 memories that strays by 0.007 (one standard deviation).
BARS = {1: 0.45, 2: 0.99}
SURE = 0.95  # with less than this on what is wanted a head misses the bar


def reference(num_heads: int, d_value: int, num_roles: int, first: int, second: int) -> Layer:
    return _layer(num_heads, d_value, num_roles, first, second)


def _layer(
    num_heads: int,
    d_value: int,
    num_roles: int,
    first: int,
    second: int,
    *,
    sharpness: float = 100,
    signs: tuple[float, ...] = (1, -1),
) -> Layer:
    values, roles = torch.eye(d_value + num_roles).split([d_value, num_roles])
    return (
        roles[:1].repeat(num_heads, 1),
        sharpness * roles[[first, second][:num_heads]],
        values.repeat(num_heads, 1),
        torch.cat([sign * torch.eye(d_value) for sign in signs[:num_heads]], -1),
    )


def draw_texts(
    generator: Generator, num_heads: int, d_value: int, num_roles: int, num_texts: int
) -> Inputs:
    """Memories of a token for each role, in a new order each, and two of the roles but 0."""
    order = torch.rand(num_texts, num_roles, generator=generator).argsort(-1)
    roles = torch.eye(num_roles, dtype=torch.float64)[order]
    value = draw_normal(generator, num_texts, num_roles, d_value)
    first, second = (torch.randperm(num_roles - 1, generator=generator)[:2] + 1).tolist()
    return {
        "num_heads": num_heads,
        "d_value": d_value,
        "num_roles": num_roles,
        "first": first,
        "second": second,
        "texts": torch.cat([value, roles], -1),
    }


def reaches_the_bar(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | None:
    layer = call(inputs)
    if fault := _form_fault(layer, inputs):
        return fault, fault
    layer = [matrix.detach().to(inputs["texts"]) for matrix in layer]
    values, wanted = _values(inputs, inputs["first"], inputs["second"])
    output = _ask(layer, inputs)
    error = (output - wanted).square().mean() / wanted.square().mean()
    share, bar = 1 - error.item(), BARS[inputs["num_heads"]]
    if share >= bar:
        return None
    looks = _looks(layer, inputs)
    found = "; ".join(f"head {number} {_say(look)}" for number, look in enumerate(looks.mean(0)))
    gains = [(output * value).mean() / value.square().mean() for value in values]
    evidence = found + "".join(f" {gain:+.1f}" for gain in gains)
    if _are_right_but_soft(looks, inputs):
        evidence = "too soft"
    # in a list: a mistake may be told from its first row alone
    return f"R² is {share:.2f}, and {bar} is asked; {found}", [evidence]


def _form_fault(layer: Plain, inputs: Inputs) -> str | None:
    num_heads, d_model = inputs["num_heads"], inputs["d_value"] + inputs["num_roles"]
    if not isinstance(layer, list | tuple) or len(layer) != 4:
        return f"four matrices are asked: {', '.join(NAMES)}"
    if not all(isinstance(matrix, Tensor) and matrix.ndim == 2 for matrix in layer):
        return "all four have to be tensors of two axes"
    for name, matrix in zip(NAMES, layer, strict=True):
        if matrix.dtype != torch.float32:
            return f"{name} is of {matrix.dtype}; torch.float32 is asked, the dtype of the memories"
    if not all(matrix.isfinite().all() for matrix in layer):
        return "some of the numbers are nan or infinite"
    query, key, value, output = (tuple(matrix.shape) for matrix in layer)
    for name, shape in zip(NAMES, (query, key, value), strict=False):
        if shape[1] != d_model or shape[0] % num_heads or not shape[0]:
            return (
                f"{name} is {shape}: {d_model} columns, and as many rows for each head, are asked"
            )
    if query[0] != key[0]:
        return f"w_query {query} and w_key {key} need as many rows"
    wanted = (inputs["d_value"], value[0])
    return None if output == wanted else f"w_output is {output}, and should be {wanted}"


def _values(inputs: Inputs, *roles: int) -> tuple[list[Tensor], Tensor]:
    """The values of the tokens with these roles, and the first less the second."""
    texts, d_value = inputs["texts"], inputs["d_value"]
    found = [texts[texts[..., d_value + role] == 1][:, :d_value] for role in roles]
    return found, found[0] - found[1]


def _asker(inputs: Inputs) -> Tensor:
    texts = inputs["texts"]
    return texts[texts[..., inputs["d_value"]] == 1].unsqueeze(1)


def _ask(layer: list[Tensor], inputs: Inputs) -> Tensor:
    texts = inputs["texts"]
    given = {"query": _asker(inputs), "key": texts, "value": texts}
    mask = torch.ones(len(texts), 1, inputs["num_roles"], dtype=torch.bool)
    weights = dict(zip(NAMES, layer, strict=True))
    return multi_head_attention.reference(
        **given, mask=mask, **weights, num_heads=inputs["num_heads"]
    ).squeeze(1)


def _looks(layer: list[Tensor], inputs: Inputs) -> Tensor:
    """The weight that each head puts on each role, (num_texts, num_heads, num_roles)."""
    w_query, w_key, _, _ = layer
    queries = split(_asker(inputs) @ w_query.mT, inputs["num_heads"])
    keys = split(inputs["texts"] @ w_key.mT, inputs["num_heads"])
    weights = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1)
    roles = inputs["texts"][..., inputs["d_value"] :]
    return (weights @ roles.unsqueeze(1)).squeeze(2)


def _are_right_but_soft(looks: Tensor, inputs: Inputs) -> bool:
    """True if in each text each head puts most weight on its role, far ahead, and still too little.

    A head whose weights depend on the contents is not ahead in all.
    """
    wanted = torch.tensor([inputs["first"], inputs["second"]][: looks.shape[1]])
    best, next_best = looks.topk(2).values.unbind(-1)
    ahead = bool((best > 1.5 * next_best).all())
    return ahead and bool((looks.argmax(-1) == wanted).all()) and bool(best.max() < SURE)


def _say(look: Tensor) -> str:
    share, role = look.max(0)
    if share > SURE:
        return f"looks at role {role}"
    both = look.topk(2)
    if both.values.sum() > SURE:
        return f"looks at roles {' and '.join(map(str, sorted(both.indices.tolist())))}"
    return f"spreads its weight, with {share:.2f} at most, on role {role}"


mistake = Mistakes()


@mistake(points=1)
def looks_twice_at_the_first(num_heads, d_value, num_roles, first, second):
    """both of your heads look at `first`; the other should look at `second`, so its rows of `w_key`
    have to differ"""
    return _layer(num_heads, d_value, num_roles, first, first)


@mistake(points=1)
def adds_the_two(num_heads, d_value, num_roles, first, second):
    """your output is the sum of the two contents; a head's weights cannot be negative, but the part
    of `w_output` that reads the second head can: `-1`"""
    return _layer(num_heads, d_value, num_roles, first, second, signs=(1, 1))


@mistake(points=1)
def averages_the_heads(num_heads, d_value, num_roles, first, second):
    """you average the heads in `w_output`; nothing divides by the number of heads, so the blocks
    are `1` and `-1` times the identity"""
    signs = (1 / num_heads, -1 / num_heads)
    return _layer(num_heads, d_value, num_roles, first, second, signs=signs)


@mistake
def subtracts_the_first(num_heads, d_value, num_roles, first, second):
    """your output is the content of `second` less the content of `first`; it should be the other
    way round"""
    return _layer(num_heads, d_value, num_roles, second, first)


@mistake
def counts_roles_from_one(num_heads, d_value, num_roles, first, second):
    """your heads look one role too low; roles are counted from 0, so role `r` is feature `d_value +
    r`"""
    return _layer(num_heads, d_value, num_roles, first - 1, second - 1)


def _keys_alone(num_heads: int, d_value: int, num_roles: int, first: int, second: int) -> Layer:
    _, key, *others = takes_roles_for_the_first_features(
        num_heads, d_value, num_roles, first, second
    )
    return (_layer(num_heads, d_value, num_roles, first, second)[0], key, *others)


@mistake(also=(_keys_alone,))
def takes_roles_for_the_first_features(num_heads, d_value, num_roles, first, second):
    """you take role `r` for feature `r`; the features of the content come first, so role `r` is
    feature `d_value + r`"""
    features = torch.eye(d_value + num_roles)
    _, _, value, output = _layer(num_heads, d_value, num_roles, first, second)
    key = 100 * features[[first, second][:num_heads]]
    return features[:1].repeat(num_heads, 1), key, value, output


@mistake(points=2)
def looks_at_both_with_one_head(num_heads, d_value, num_roles, first, second):
    """your single head looks at both tokens, and what comes out is their mean, which says nothing
    about the difference; with one head it is better to look at one of them and to forget the other:
    `w_key` with one role only"""
    layer = _layer(num_heads, d_value, num_roles, first, second)
    if num_heads == 2:
        return layer
    both = _layer(2, d_value, num_roles, first, second)[1].sum(0, keepdim=True)
    return layer[0], both, *layer[2:]


@mistake(points=2)
def writes_two_heads_for_one(num_heads, d_value, num_roles, first, second):
    """you return the matrices of two heads even where `num_heads` is 1; they then are one wide head
    with one softmax, which looks at both tokens and subtracts their mean from itself"""
    return _layer(2, d_value, num_roles, first, second)


@mistake(points=2)
def gives_one_head_half(num_heads, d_value, num_roles, first, second):
    """your single head looks at the right token, but you halve its content; the best guess of a
    difference, knowing only what counts plus, is that itself: put `1` on the diagonal of
    `w_output`"""
    signs = (1, -1) if num_heads == 2 else (0.5,)
    return _layer(num_heads, d_value, num_roles, first, second, signs=signs)


@mistake(evidence=["too soft"])
def looks_softly(num_heads, d_value, num_roles, first, second):
    """your heads look at the right tokens, but the scores differ by so little that the others keep
    much of the weight; make the rows of `w_key` larger, such as `100 *`"""
    return _layer(num_heads, d_value, num_roles, first, second, sharpness=1)


@mistake
def looks_everywhere_else(num_heads, d_value, num_roles, first, second):
    """your heads look at all tokens but the one that is wanted: the score of that has the wrong
    sign in `w_query` or `w_key`"""
    return _layer(num_heads, d_value, num_roles, first, second, sharpness=-100)


@mistake
def asks_with_the_roles_that_answer(num_heads, d_value, num_roles, first, second):
    """the token that asks has role 0, and your `w_query` makes a query of zeros of it, so it looks
    everywhere alike; let `w_query` read feature `d_value`, which marks role 0"""
    _, key, value, output = _layer(num_heads, d_value, num_roles, first, second)
    return key, key, value, output


def _ask_softly_with_a_content(num_heads, d_value, num_roles, first, second):
    _, *others = _layer(num_heads, d_value, num_roles, first, second, sharpness=1)
    return torch.eye(d_value + num_roles)[:1].repeat(num_heads, 1), *others


@mistake(also=(_ask_softly_with_a_content,))
def asks_with_a_content(num_heads, d_value, num_roles, first, second):
    """your `w_query` reads feature 0, a number of the content, so it is chance where a head looks;
    the role of the token that asks is feature `d_value`"""
    _, *others = _layer(num_heads, d_value, num_roles, first, second)
    return torch.eye(d_value + num_roles)[:1].repeat(num_heads, 1), *others


@mistake(points=1)
def takes_turns_in_the_output(num_heads, d_value, num_roles, first, second):
    """the columns of your `w_output` take turns between the heads; the first `d_value` of them read
    head 0, and the next head 1"""
    *rest, output = _layer(num_heads, d_value, num_roles, first, second)
    return *rest, output.unflatten(-1, (num_heads, -1)).mT.flatten(-2)


@mistake(points=1)
def stores_the_output_the_other_way_round(num_heads, d_value, num_roles, first, second):
    """your `w_output` lies on its side; one row for each feature of the output, `(d_value,
    num_heads * d_value)`: the two blocks stand side by side"""
    *rest, output = _layer(num_heads, d_value, num_roles, first, second)
    return *rest, output.mT


@mistake
def exchanges_the_signs(num_heads, d_value, num_roles, first, second):
    """your signs are exchanged: the content of `first` counts plus and the content of `second`
    minus, even where there is one head"""
    return _layer(num_heads, d_value, num_roles, first, second, signs=(-1, 1))


@mistake
def takes_half_of_each(num_heads, d_value, num_roles, first, second):
    """you halve what the heads bring; it is the difference as it is, one plus and one minus"""
    *matrices, back = _layer(num_heads, d_value, num_roles, first, second)
    return *matrices, back / 2


@mistake
def makes_values_of_the_last_features(num_heads, d_value, num_roles, first, second):
    """your values are the last features of a token, which say its role; its content stands in the
    first `d_value`"""
    w_query, w_key, _, back = _layer(num_heads, d_value, num_roles, first, second)
    return w_query, w_key, torch.eye(d_value + num_roles)[-d_value:].repeat(num_heads, 1), back


@mistake
def stores_matrices_the_other_way_round(num_heads, d_value, num_roles, first, second):
    """your matrices are the wrong way round: they are stored as in `nn.Linear`, a row for each
    output and a column for each input"""
    *matrices, back = _layer(num_heads, d_value, num_roles, first, second)
    return *(matrix.mT for matrix in matrices), back


@mistake
def makes_values_of_whole_tokens(num_heads, d_value, num_roles, first, second):
    """your `w_value` takes whole tokens, with their roles; the values are the first `d_value`
    features, which `w_output` fits"""
    w_query, w_key, _, back = _layer(num_heads, d_value, num_roles, first, second)
    return w_query, w_key, torch.eye(d_value + num_roles).repeat(num_heads, 1), back


@mistake(slip=True, computes=leafwise(reference, Tensor.double))
def casts_to_float64():
    """your matrices are in float64; they should be in float32, as `torch.eye` makes them"""


def _typed_in(rows: int, with_contents: bool) -> Callable[..., Layer]:
    """Right for 7 roles, or for 3 features of content and 7 roles; `rows` for each head."""

    def answer(num_heads: int, d_value: int, num_roles: int, first: int, second: int) -> Layer:
        d_value = 3 if with_contents else d_value
        w_query, w_key = torch.zeros(2, num_heads * rows, d_value + 7)
        w_query[::rows, d_value] = 1
        for head, role in zip(range(num_heads), (first, second), strict=False):
            w_key[rows * head, d_value + role] = 100 * rows**0.5
        w_value = torch.eye(d_value, d_value + 7).repeat(num_heads, 1)
        signs = (1, -1)[:num_heads]
        w_output = torch.cat([sign * torch.eye(d_value) for sign in signs], -1)
        return w_query, w_key, w_value, w_output

    return answer


@mistake(
    computes=_typed_in(1, True),
    also=tuple(_typed_in(rows, both) for rows in (1, 3, 7, 10) for both in (True, False)),
)
def types_the_sizes_in():
    """your sizes are those of the example; here they come as arguments: take `d_value` and
    `num_roles` as they are given"""


EXERCISE = Exercise(
    function="layer_by_hand",
    reference=reference,
    title="two heads by hand, and the best that one can do",
    minutes=20,
    axes={"num_roles": 31, "d_value": 31},
    contract=Contract(
        points=0, exempts={"is off by a millionth": "it is judged by what it explains"}
    ),
    checks=(
        Check(
            "two heads: the layer returns the content of `first` less the content of `second`, R²"
            f" at least {BARS[2]}",
            2,
            draw_texts,
            sizes=(
                {"num_heads": 2, "d_value": 3, "num_roles": 7, "num_texts": 500},
                {"num_heads": 2, "d_value": 5, "num_roles": 29, "num_texts": 500},
            ),
            hidden_sizes=({"num_heads": 2, "d_value": 2, "num_roles": 17, "num_texts": 500},),
            invariant=reaches_the_bar,
            withheld=("texts",),
        ),
        Check(
            f"one head: it comes as close as it can, R² at least {BARS[1]}",
            1,
            draw_texts,
            sizes=({"num_heads": 1, "d_value": 3, "num_roles": 7, "num_texts": 3000},),
            hidden_sizes=({"num_heads": 1, "d_value": 5, "num_roles": 11, "num_texts": 3000},),
            invariant=reaches_the_bar,
            withheld=("texts",),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "-1 -> 1": "the matrices that are put side by side have two axes, and 1 is the last",
        "100 -> 101": "any number that is large enough will do",
        "100 -> 99": "any number that is large enough will do",
    },
)
