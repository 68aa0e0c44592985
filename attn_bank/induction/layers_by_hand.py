"""Part B of problem set 12: two layers whose matrices are set by hand, and which look up."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, leafwise
from torch import Generator, Tensor

Layer = tuple[Tensor, Tensor, Tensor, Tensor]
NAMES = "w_query", "w_key", "w_value", "w_output"
ROOMS = "token", "place", "label", "answer"
AHEAD = 0.5  # so far the largest number of an answer has to be ahead of the next
SURE = 0.9  # a layer with less weight than this on one place spreads it


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
) -> list[Layer]:
    """The first four choices are of layer 0, the next four of layer 1."""
    room = _rooms(vocab_size, length)
    look, find = sharpness
    return [
        (look * room[first_room].roll(-shift, 0), room[first_room], room[value], room[write].mT),
        (find * room[ask], room[key], room[tell], room[answer].mT),
    ]


def _rooms(vocab_size: int, length: int) -> dict[str, Tensor]:
    sizes = [vocab_size, length, vocab_size, vocab_size]
    return dict(zip(ROOMS, torch.eye(sum(sizes)).split(sizes), strict=True))


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
    found = "; ".join(_tell(tables, streams, asked, earlier, inputs))
    said = _say_answer(answers, ahead, wanted, texts[asked])
    words = f"{int(right.sum())} of {len(right)} answers are right; {found}; {said}"
    # in a list: a mistake may be told from its first row alone
    return words, [f"{found}; {said}"]


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


def _tell(
    tables: list[Tensor], streams: list[Tensor], asked: Tensor, earlier: Tensor, inputs: Inputs
) -> list[str]:
    """The places at which each layer looks, and the rooms into which it writes."""
    texts, place = torch.where(asked)
    every = torch.ones_like(asked)
    every[:, :2] = False
    told = []
    for number, (table, queries) in enumerate(zip(tables, (every, asked), strict=True)):
        here = torch.arange(inputs["length"]).expand(asked.shape)[queries]
        places = {"itself": here, "one place back": here - 1, "two places back": here - 2}
        if number == 1:
            then = earlier[texts, place]
            places = {
                "what came next": then + 1,
                "the earlier one": then,
                "what came before it": then - 1,
            } | places
        told.append(f"layer {number} {_say_look(table[queries], places)}")
        written = (streams[number + 1] - streams[number])[queries].abs().amax(0)
        sizes = [inputs["vocab_size"], inputs["length"], *2 * [inputs["vocab_size"]]]
        rooms = zip(ROOMS, written.split(sizes), strict=True)
        into = " and ".join(name for name, numbers in rooms if numbers.max() > 0.1)
        told[-1] += f" and writes into {into or 'no room'}"
    return told


def _say_look(rows: Tensor, places: dict[str, Tensor]) -> str:
    """The place that has nearly all weight of each query, or two that have it together."""
    shares = {name: rows.gather(1, place.unsqueeze(1)).squeeze(1) for name, place in places.items()}
    for name, share in shares.items():
        if share.min() > SURE:
            return f"looks at {name}"
    for name, share in shares.items():
        for other, more in shares.items():
            if name != other and (share + more).min() > SURE:
                return f"looks at {name} and at {other}"
    for name, place in places.items():
        if (rows.argmax(-1) == place).all() and (rows.topk(2).values.diff() < -1e-6).all():
            return f"prefers {name}, but not enough"
    return "spreads its weight"


def _say_answer(answers: Tensor, ahead: Tensor, wanted: Tensor, own: Tensor) -> str:
    if answers.abs().max() < 1e-3:
        return "the answer's room is empty"
    if not ahead.any():
        return "no number of the answer is ahead"
    best = answers.argmax(-1)
    for name, token in {"what is wanted": wanted, "the token itself": own}.items():
        if (best == token).double().mean() > SURE:
            return f"the answer is {name}"
    return "the answers are other tokens"


mistake = Mistakes()


def _with(**choices: object) -> Callable[[int, int], list[Layer]]:
    def answer(vocab_size: int, length: int) -> list[Layer]:
        return _layers(vocab_size, length, **choices)

    return answer


@mistake(computes=_with(shift=-1))
def looks_one_place_ahead():
    """your layer 0 asks for the place after its own, which a causal head cannot see, so it spreads
    its weight; row `j` of `w_query` should read place `j + 1` where row `j` of `w_key` reads place
    `j`"""


@mistake(computes=_with(shift=0))
def looks_at_itself():
    """in your layer 0 every token looks at itself, so its label is itself; it should look one place
    back"""


@mistake(computes=_with(shift=2))
def looks_two_places_back():
    """your layer 0 looks two places back; one is asked"""


@mistake(computes=_with(first_room="token", shift=0), also=(_with(first_room="token"),))
def compares_tokens_in_layer_0():
    """your layer 0 compares tokens; it should look one place back whatever the tokens are, so its
    queries and keys read the room of the place"""


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


@mistake(computes=_with(key="token"))
def looks_for_the_token_itself():
    """your layer 1 looks for tokens like its own, and finds the earlier one and itself; the token
    after it is known by its label, so the keys read the room of the label"""


@mistake(computes=_with(ask="label"))
def asks_with_the_label():
    """the queries of your layer 1 read the label, so they look for what came after the token
    before, which is the query's own place and others; they should read the token"""


@mistake(computes=_with(ask="label", key="token"))
def exchanges_query_and_key():
    """your layer 1 asks with its label for a token, which stands one place back; it should ask with
    its token for a label"""


@mistake(computes=_with(tell="label"))
def tells_the_label():
    """your layer 1 finds what came next, and passes on its label, which is the query's own token;
    pass on the token that stands there"""


@mistake(computes=_with(answer="label"), also=(_with(answer="token"),))
def answers_in_another_room():
    """your layer 1 writes its answer into another room; the last `vocab_size` features are the
    answer"""


@mistake(computes=_with(ask="place", key="place"))
def compares_places_in_layer_1():
    """your layer 1 compares places, and so finds itself; how far back the earlier token stood
    differs from text to text, so compare tokens with labels"""


def _pass_the_stream_on(vocab_size: int, length: int) -> list[Layer]:
    first, (query, key, _, _) = _layers(vocab_size, length)
    return [first, (query, key, *2 * [torch.eye(3 * vocab_size + length)])]


@mistake(computes=_pass_the_stream_on)
def adds_whole_streams():
    """your layer 1 adds all rooms of the token that it has found, each to the same room; only its
    token is wanted, in the room of the answer: `w_value` reads the one, `w_output` writes the
    other"""


@mistake(computes=_with(sharpness=(1, 1)))
def looks_softly():
    """your layers prefer the right places, but their scores differ by so little that the others
    keep much of the weight; make the rows of `w_query` larger, such as `100 *`"""


@mistake(computes=_with(sharpness=(1, 100)))
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


def _first_twice(vocab_size: int, length: int) -> list[Layer]:
    first, _ = _layers(vocab_size, length)
    return [first, first]


@mistake(computes=lambda vocab_size, length: _layers(vocab_size, length)[::-1])
def exchanges_the_layers():
    """your layers are the wrong way round: the one that looks one place back comes first, since the
    other reads the label that it writes"""


@mistake(computes=_first_twice)
def labels_twice():
    """your second layer looks one place back as well; it should look for the token whose label is
    the query's token"""


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
