"""Part B of problem set 12: two layers whose matrices are set by hand, and which look up."""

from collections.abc import Callable
from itertools import permutations

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, leafwise
from torch import Generator, Tensor

Layer = tuple[Tensor, Tensor, Tensor, Tensor]
NAMES = "w_query", "w_key", "w_value", "w_output"
ROOMS = "token", "place", "label", "answer"
AHEAD = 0.5  # so far the largest number of an answer has to be ahead of the next
SURE = 0.9  # of the weight, or of the queries
SEEN = 1e-3  # less weight than this is none
RIGHT = (
    "layer 0 looks at one place back and writes into label",
    "layer 1 looks at what came next",
    "layer 1 writes into answer",
    "the answer is what is wanted",
)


def reference(vocab_size: int, length: int) -> list[Layer]:
    return _layers(vocab_size, length)


def _layers(
    vocab_size: int,
    length: int,
    *,
    shift: int = 1,
    first_room: str = "place",
    value: str = "token",
    write: str = "label",
    ask: str = "token",
    key: str = "label",
    tell: str = "token",
    answer: str = "answer",
    sharpness: tuple[float, float] = (100, 100),
    order: tuple[str, ...] = ROOMS,
) -> list[Layer]:
    """The first four choices are of layer 0, the next four of layer 1."""
    room = _rooms(vocab_size, length, order)
    look, find = sharpness
    return [
        (look * room[first_room].roll(-shift, 0), room[first_room], room[value], room[write].mT),
        (find * room[ask], room[key], room[tell], room[answer].mT),
    ]


def _rooms(vocab_size: int, length: int, order: tuple[str, ...] = ROOMS) -> dict[str, Tensor]:
    sizes = [length if name == "place" else vocab_size for name in order]
    return dict(zip(order, torch.eye(sum(sizes)).split(sizes), strict=True))


def draw_once(generator: Generator, vocab_size: int, length: int, num_texts: int) -> Inputs:
    """Texts of different tokens after a 0, but the last, which is one of those before."""
    texts = torch.zeros(num_texts, length, dtype=torch.long)
    for text in texts:
        text[1:] = torch.randperm(vocab_size - 1, generator=generator)[: length - 1] + 1
        text[-1] = text[int(torch.randint(1, length - 2, (), generator=generator))]
    return {"vocab_size": vocab_size, "length": length, "texts": texts}


def draw_twice(generator: Generator, vocab_size: int, length: int, num_texts: int) -> Inputs:
    """Texts in which tokens stand once or twice after a 0, some of them side by side."""
    texts = torch.zeros(num_texts, length, dtype=torch.long)
    for text in texts:
        order = torch.randperm(2 * (vocab_size - 1), generator=generator) // 2 + 1
        text[1:] = order[: length - 1]
    texts[0, 1:3] = 1
    texts[0, 3:] = order[order != 1][: length - 3]
    return {"vocab_size": vocab_size, "length": length, "texts": texts}


def looks_it_up(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | None:
    layers = call(inputs)
    if fault := _form_fault(layers, inputs):
        return fault, fault
    layers = [[matrix.detach().double() for matrix in layer] for layer in layers]
    texts = inputs["texts"]
    tables, streams = _run(layers, texts, inputs["vocab_size"], inputs["length"])
    same = (texts.unsqueeze(-1) == texts.unsqueeze(-2)).tril(-1)
    asked, earlier = same.sum(-1) == 1, same.int().argmax(-1)
    wanted = texts.gather(1, earlier + 1)[asked]
    answers = streams[-1][asked][:, -inputs["vocab_size"] :]
    best = answers.topk(2).values
    ahead = best[:, 0] - best[:, 1] >= AHEAD
    right = ahead & (answers.argmax(-1) == wanted)
    if right.all():
        return None
    told = [
        _tell_layer_0(tables[0], streams, inputs),
        *_tell_layer_1(tables[1], streams, inputs, asked, earlier),
        _say_answer(answers, wanted, texts[asked]),
    ]
    wrong = [said for said, right in zip(told, RIGHT, strict=True) if said != right]
    words = f"{int(right.sum())} of {len(right)} answers are right: " + "; ".join(told)
    # the first that is not as it should be, in a list: a mistake may be told from its first row
    return words, [wrong[0] if wrong else "here and there"]


def _form_fault(layers: Plain, inputs: Inputs) -> str | None:
    d_model = 3 * inputs["vocab_size"] + inputs["length"]
    if not isinstance(layers, list | tuple) or len(layers) != 2:
        return "two layers are asked, in a list"
    for number, layer in enumerate(layers):
        if not isinstance(layer, list | tuple) or len(layer) != 4:
            return f"layer {number}: four matrices are asked: {', '.join(NAMES)}"
        if not all(isinstance(matrix, Tensor) and matrix.ndim == 2 for matrix in layer):
            return f"layer {number}: all four have to be tensors of two axes"
        for name, matrix in zip(NAMES, layer, strict=True):
            if matrix.dtype != torch.float32:
                return f"{name} of layer {number} is of {matrix.dtype}; torch.float32 is asked"
            if not matrix.isfinite().all():
                return f"{name} of layer {number} holds numbers that are nan or infinite"
            if name != "w_output" and matrix.shape[1] != d_model:
                shape = tuple(matrix.shape)
                return f"{name} of layer {number} is {shape}: it needs {d_model} columns"
        query, key, value, output = (tuple(matrix.shape) for matrix in layer)
        if query[0] != key[0]:
            return f"w_query {query} and w_key {key} of layer {number} need as many rows"
        if output != (wanted := (d_model, value[0])):
            return f"w_output of layer {number} is {output}, and should be {wanted}"
    return None


def _run(
    layers: list[list[Tensor]], texts: Tensor, vocab_size: int, length: int
) -> tuple[list[Tensor], list[Tensor]]:
    """The weights of each layer, and the stream before, between and after them."""
    room = _rooms(vocab_size, length)
    stream = room["token"].double()[texts] + room["place"].double()
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    tables, streams = [], [stream]
    for w_query, w_key, w_value, w_output in layers:
        scores = (stream @ w_query.mT) @ (stream @ w_key.mT).mT / len(w_query) ** 0.5
        tables.append(scores.masked_fill(later, -torch.inf).softmax(-1))
        stream = stream + tables[-1] @ (stream @ w_value.mT) @ w_output.mT
        streams.append(stream)
    return tables, streams


def _tell_layer_0(table: Tensor, streams: list[Tensor], inputs: Inputs) -> str:
    """The place at which layer 0 looks, and what it writes into which rooms."""
    texts, queries = inputs["texts"], slice(2, None)
    here = torch.eye(inputs["length"], dtype=torch.bool).expand(table.shape)
    places = {
        "itself": here,
        "one place back": here.roll(-1, -1),
        "two places back": here.roll(-2, -1),
        "tokens like its own": texts.unsqueeze(-1) == texts.unsqueeze(-2),
    }
    flat = {name: place[:, queries].flatten(0, 1) for name, place in places.items()}
    look = _say_look(table[:, queries].flatten(0, 1), flat)
    written = (streams[1] - streams[0])[:, queries].flatten(0, 1)
    into, label = _say_rooms(written, inputs)
    before = texts[:, 1:-1].flatten()
    told = f"layer 0 {look} and writes into {into}"
    if told == RIGHT[0] and (label.abs().argmax(-1) == before).double().mean() < SURE:
        return told + ", but not which token stood there"
    return told


def _tell_layer_1(
    table: Tensor, streams: list[Tensor], inputs: Inputs, asked: Tensor, earlier: Tensor
) -> list[str]:
    """The place at which layer 1 looks, and the rooms into which it writes."""
    texts = inputs["texts"]
    every = torch.arange(inputs["length"])
    here, then = every.expand(asked.shape)[asked], earlier[asked]
    places = {
        "what came next": then + 1,
        "the earlier one": then,
        "what came before that": then - 1,
        "itself": here,
        "one place back": here - 1,
    }
    masks = {name: place.unsqueeze(-1) == every for name, place in places.items()}
    masks["tokens like its own"] = like = (texts.unsqueeze(-1) == texts.unsqueeze(-2))[asked]
    masks["tokens like its own and what came next"] = like | masks["what came next"]
    into, _ = _say_rooms((streams[2] - streams[1])[asked], inputs)
    return [f"layer 1 {_say_look(table[asked], masks)}", f"layer 1 writes into {into}"]


def _say_look(rows: Tensor, places: dict[str, Tensor]) -> str:
    """The place that most queries look at, (queries, length), with nearly all of their weight."""
    shares = {name: (rows * place).sum(-1) for name, place in places.items()}
    for name, share in shares.items():
        if share.median() > SURE:
            return f"looks at {name}"
    seen = rows > SEEN
    even = (rows.amax(-1) * seen.sum(-1) - 1).abs().median() < 1 - SURE
    even &= (2 * seen.sum(-1) > (rows > 0).sum(-1)).all()
    for name, share in shares.items():
        if even and share.median() < SEEN and name in ("what came next", "one place back"):
            return f"looks everywhere but at {name}"
    if even and (seen.sum(-1) > 2).all():
        return "looks everywhere alike"
    for name, place in places.items():
        best = rows.argmax(-1, keepdim=True)
        if place.gather(-1, best).double().mean() > SURE:
            return f"prefers {name}, but not enough"
    return "looks elsewhere"


def _say_rooms(written: Tensor, inputs: Inputs) -> tuple[str, Tensor]:
    """The names of the rooms in which there is something new, and what is new in the label."""
    sizes = [inputs["vocab_size"], inputs["length"], *2 * [inputs["vocab_size"]]]
    parts = written.split(sizes, -1)
    names = [name for name, part in zip(ROOMS, parts, strict=True) if part.abs().max() > 0.1]
    return " and ".join(names) or "no room", parts[ROOMS.index("label")]


def _say_answer(answers: Tensor, wanted: Tensor, own: Tensor) -> str:
    if answers.abs().max() < 1e-3:
        return "the answer's room is empty"
    largest, tokens = answers.topk(2)
    best, ahead = tokens[:, 0], (largest[:, 0] - largest[:, 1]).median()
    if ahead < 1e-3:
        return "two numbers of the answer are alike"
    if ahead < AHEAD and (best == wanted).double().mean() > SURE:
        return "the answer is right, but too little ahead"
    for name, token in {"what is wanted": wanted, "the token itself": own}.items():
        if (best == token).double().mean() > SURE:
            return f"the answer is {name}"
    return "the answers are other tokens"


mistake = Mistakes()


def _with(**choices: object) -> Callable[[int, int], list[Layer]]:
    def answer(vocab_size: int, length: int) -> list[Layer]:
        return _layers(vocab_size, length, **choices)

    return answer


@mistake(
    computes=_with(shift=-1),
    also=(_with(first_room="answer"), _with(first_room="token"), _with(sharpness=(0, 100))),
)
def looks_one_place_ahead():
    """in most rows of your layer 0 all scores are alike: its queries ask for the place after their
    own, which a causal head cannot see, or read another room than the place, which begins at
    feature `vocab_size`. Row `j` of `w_query` should read place `j + 1` where row `j` of `w_key`
    reads place `j`"""


@mistake(computes=_with(shift=0), also=(_with(first_room="token", shift=0),))
def looks_at_itself():
    """in your layer 0 every token looks at itself; it should look one place back, whatever the
    tokens are: its queries and keys read the room of the place, a row apart"""


@mistake(computes=_with(shift=2))
def looks_two_places_back():
    """your layer 0 looks two places back; one is asked"""


def _forget_the_places(vocab_size: int, length: int) -> list[Layer]:
    (query, key, value, _), (ask, _, tell, answer) = _layers(vocab_size, length)
    label = torch.eye(3 * vocab_size + length)[vocab_size : 2 * vocab_size]
    return [(query, key, value, label.mT), (ask, label, tell, answer)]


@mistake(computes=_forget_the_places)
def forgets_the_places():
    """your layer 0 writes into the room of the place; the label begins behind that, at feature
    `vocab_size + length`"""


# others look one place back, or write into the label alone
_OTHER_ORDERS = [
    order
    for order in permutations(ROOMS)
    if order[0] in ("token", "place") and order[1] != "place" and order[:2] != ("place", "token")
]


@mistake(
    computes=_with(order=_OTHER_ORDERS[0]),
    also=tuple(_with(order=order) for order in _OTHER_ORDERS[1:]),
)
def takes_the_rooms_in_another_order():
    """your layer 0 does not look one place back, and does not write into the room of the label
    alone. Are your rooms those of the table, in its order: token, place, label, answer, of which
    the second is `length` wide?"""


@mistake(computes=_with(write="token"))
def writes_over_the_token():
    """your layer 0 adds the token before to the room of the token, so that nobody can tell the two
    apart; the label has a room of its own"""


@mistake(computes=_with(write="answer"), also=(_with(write="answer", key="answer"),))
def labels_in_the_answer():
    """your layer 0 writes into the room of the answer, where what it writes competes with the
    answer; write the label into the room of the label"""


def _label_with_places(vocab_size: int, length: int) -> list[Layer]:
    (query, key, *_), second = _layers(vocab_size, length)
    room = _rooms(vocab_size, length)
    value = torch.zeros_like(room["label"])
    rows = min(vocab_size, length)
    value[:rows] = room["place"][:rows]
    return [(query, key, value, room["label"].mT), second]


@mistake(computes=_label_with_places)
def labels_with_the_place():
    """your layer 0 writes down at which place it has looked; layer 1 asks for a token, so write
    down which token stood there"""


def _both_keys(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, value, output) = _layers(vocab_size, length)
    return [first, (query, key + _rooms(vocab_size, length)["token"], value, output)]


@mistake(computes=_with(key="token"), also=(_both_keys,))
def looks_for_the_token_itself():
    """your layer 1 looks for tokens like its own, and finds the earlier one and itself; the token
    after it is known by its label, so the keys read the room of the label, and no other"""


@mistake(computes=_with(ask="label"), also=(_with(ask="place", key="place"),))
def finds_itself():
    """your layer 1 looks at the query itself, since its queries and keys read the same room; the
    queries should read the token, and the keys the label"""


def _first_twice(vocab_size: int, length: int) -> list[Layer]:
    first, _ = _layers(vocab_size, length)
    return [first, first]


@mistake(computes=_with(ask="label", key="token"), also=(_first_twice,))
def looks_one_place_back_again():
    """your layer 1 looks one place back, as layer 0 does; its queries should read the token, and
    its keys the label, and not the other way round"""


@mistake(
    computes=_with(ask="answer"),
    also=(_with(key="answer"), _with(sharpness=(100, 0))),
)
def asks_for_nothing():
    """in your layer 1 all scores are alike: its queries or its keys are zeros, as those are that
    read an empty room; the queries should read the token, and the keys the label"""


@mistake(computes=_with(tell="label"))
def tells_the_label():
    """your layer 1 finds what came next, and passes on its label, which is the query's own token;
    pass on the token that stands there"""


@mistake(computes=_with(answer="label"), also=(_with(answer="token"),))
def answers_in_another_room():
    """your layer 1 writes its answer into another room; the last `vocab_size` features are the
    answer"""


def _pass_the_stream_on(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, _, _) = _layers(vocab_size, length)
    return [first, (query, key, *2 * [torch.eye(3 * vocab_size + length)])]


@mistake(computes=_pass_the_stream_on)
def adds_whole_streams():
    """your layer 1 adds all rooms of the token that it has found, each to the same room; only its
    token is wanted, in the room of the answer: `w_value` reads the one, `w_output` writes the
    other"""


def _tell_both(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, value, output) = _layers(vocab_size, length)
    return [first, (query, key, value + _rooms(vocab_size, length)["label"], output)]


@mistake(computes=_tell_both)
def tells_two_tokens():
    """your layer 1 finds what came next, but in the answer two tokens are level: its `w_value`
    should read the token that stands there, and no other room"""


def _tell_the_place(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, _, output) = _layers(vocab_size, length)
    place = _rooms(vocab_size, length)["place"]
    return [first, (query, key, place, output[:, torch.arange(length) % vocab_size])]


def _tell_the_next_token(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, value, output) = _layers(vocab_size, length)
    return [first, (query, key, value.roll(-1, 0), output)]


@mistake(computes=_tell_the_place, also=(_tell_the_next_token,))
def tells_something_else():
    """your layer 1 finds what came next, and writes something into the answer, but not the token
    that stands there: row `n` of its `w_value` should read feature `n` of the token, and its
    `w_output` write it to feature `n` of the answer"""


def _answer_weakly(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, value, output) = _layers(vocab_size, length)
    return [first, (query, key, value, 0.3 * output)]


@mistake(computes=_answer_weakly)
def answers_too_weakly():
    """the largest number of your answers is the right one, but not 0.5 ahead of the next: let
    layer 1 pass the token on as it is, with ones in `w_value` and `w_output`"""


@mistake(computes=_with(sharpness=(1, 100)), also=(_with(sharpness=(1, 1)),))
def labels_softly():
    """your layer 0 prefers the token before, but its scores differ by so little that the others
    keep much of the weight; make the rows of its `w_query` larger, such as `100 *`"""


@mistake(computes=_with(sharpness=(100, 1)))
def finds_softly():
    """your layer 1 prefers what came next, but its scores differ by so little that the others keep
    much of the weight; make the rows of its `w_query` larger, such as `100 *`"""


@mistake(computes=_with(sharpness=(100, -100)))
def avoids_what_came_next():
    """your layer 1 looks at all tokens but the one that is wanted: the score of that has the wrong
    sign"""


@mistake(computes=_with(sharpness=(-100, 100)))
def avoids_the_token_before():
    """your layer 0 looks at all places but the one before its own: the score of that has the wrong
    sign"""


@mistake(computes=lambda vocab_size, length: _layers(vocab_size, length)[::-1])
def exchanges_the_layers():
    """your layers are the wrong way round: the one that looks one place back comes first, since the
    other reads the label that it writes"""


@mistake(
    computes=lambda vocab_size, length: _layers(vocab_size, length)[:1],
    also=(lambda vocab_size, length: _layers(vocab_size, length)[0],),
)
def returns_no_two_layers():
    """you do not return a list of two layers; each of them is a tuple of four matrices"""


@mistake(computes=leafwise(reference, lambda matrix: matrix.mT.contiguous()))
def stores_matrices_the_other_way_round():
    """your matrices are the wrong way round: they are stored as in `nn.Linear`, a row for each
    output and a column for each input"""


def _output_on_its_side(vocab_size: int, length: int) -> list[Layer]:
    return [(*rest, output.mT) for *rest, output in _layers(vocab_size, length)]


@mistake(computes=_output_on_its_side)
def stores_the_output_the_other_way_round():
    """your `w_output` lies on its side: it has a row for each feature of the stream, and a column
    for each feature of the value"""


@mistake(slip=True, computes=leafwise(reference, Tensor.double))
def casts_to_float64():
    """your matrices are in float64; they should be in float32, as `torch.eye` makes them"""


def _ask_at_the_end(vocab_size: int, length: int) -> list[Layer]:
    """One feature more says, at the last place alone, that the scores count."""
    first, (query, key, value, output) = _layers(vocab_size, length)
    room = _rooms(vocab_size, length)
    other = 1000 * room["place"][:-1].sum(0, keepdim=True)
    begins = room["place"][:1]
    return [first, (torch.cat([query, other]), torch.cat([key, begins]), value, output)]


@mistake(points=2, computes=_ask_at_the_end)
def answers_at_the_end_alone():
    """your layer 1 looks up at the last place alone; every token is asked that has occurred once
    before, wherever it stands"""


def _not_itself(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, value, output) = _layers(vocab_size, length)
    place = _rooms(vocab_size, length)["place"]
    return [first, (torch.cat([query, -1000 * place]), torch.cat([key, place]), value, output)]


@mistake(points=2, computes=_not_itself)
def never_looks_at_itself():
    """your layer 1 never looks at the query itself; where a token stands twice side by side, the
    second one is what came next, and the query finds it at its own place"""


EXERCISE = Exercise(
    function="layers_by_hand",
    reference=reference,
    title="two layers by hand that look up what came next",
    minutes=30,
    axes={"vocab_size": 31, "length": 13},
    contract=Contract(
        points=0,
        exempts={
            "is off by a millionth": "it is judged by what the layers look up",
            "squeezes": "its matrices have no axis of length 1",
        },
    ),
    checks=(
        Check(
            "at the end of a text whose last token has occurred once before, the answer is what"
            " came next then",
            2,
            draw_once,
            easier=True,
            sizes=(
                {"vocab_size": 12, "length": 9, "num_texts": 100},
                {"vocab_size": 23, "length": 19, "num_texts": 100},
            ),
            hidden_sizes=({"vocab_size": 14, "length": 7, "num_texts": 100},),
            invariant=looks_it_up,
            withheld=("texts",),
        ),
        Check(
            "everywhere in a text: the answer is right at each token that has occurred once before,"
            " even right before",
            1,
            draw_twice,
            sizes=({"vocab_size": 11, "length": 13, "num_texts": 100},),
            hidden_sizes=({"vocab_size": 13, "length": 17, "num_texts": 100},),
            invariant=looks_it_up,
            withheld=("texts",),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants=dict.fromkeys(
        ("100 -> 101", "100 -> 99", "100 -> 101 (2)", "100 -> 99 (2)"),
        "any number that is large enough will do",
    ),
)
