"""A Transformer that continues Jane Austen's novels: its recipe, its record and its weights."""

import math
import time
from collections.abc import Iterator
from functools import cache

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from attn_course.data.novels import Part, novels, pieces
from attn_course.data.windows import WindowBatch, all_windows, drawn_windows
from attn_course.recurrence import count_parameters
from attn_course.trained.eight_bits import from_eight_bits, to_eight_bits
from attn_course.trained.store import save_tensors, shipped_weights, write_record
from attn_course.training import train
from attn_course.transformer import LanguageModel, bits_per_character, next_token_loss

NAME = "writer"
CONTEXT, BATCH_SIZE, D_MODEL = 128, 16, 128
RATE, STEPS, EVERY, SEEDS = 4e-3, 3000, 250, (0,)
NUM_FIRST = 10  # steps whose losses are recorded
Run = dict[str, object]


def make() -> None:
    """Train, measure and record all of them; the record is rewritten after each run: 10 minutes."""
    runs = []
    for seed in SEEDS:
        run = learn(model := build(seed), seed)
        if seed == SEEDS[0]:
            save_writer(model)
        runs.append(run | measured(model))
        write_record(__file__, "writers", runs, rate=RATE, steps=STEPS, every=EVERY)


def save_writer(model: LanguageModel) -> None:
    """Write the weights in 8 bits."""
    save_tensors(__file__, NAME, to_eight_bits(model.state_dict()))


def load_writer() -> LanguageModel:
    """The Transformer that comes with the course, ready to write."""
    model = build(0)
    model.load_state_dict(from_eight_bits(load_file(shipped_weights(NAME))))
    return model.eval()


def build(seed: int) -> LanguageModel:
    """A model with random weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LanguageModel(
            len(pieces()), D_MODEL, context=CONTEXT, input_scale=math.sqrt(D_MODEL)
        )


@cache
def numbers_of(part: Part) -> Tensor:
    """A part of the novels as the numbers of its pieces."""
    return torch.tensor(pieces().encode(novels(part)))


def bits_of_frequencies() -> float:
    """Bits a character of one who knows how frequent each piece is, and nothing else."""
    counts = numbers_of("training").bincount(minlength=len(pieces())) + 1.0
    unseen = numbers_of("validation")
    loss = -(counts / counts.sum()).log()[unseen].mean().item()
    return bits_per_character(loss, len(unseen), len(novels("validation")))


def window_loss(model: nn.Module, batch: WindowBatch) -> Tensor:
    """Mean of `-log p` of the tokens of a batch."""
    return next_token_loss(model(batch.tokens), batch.tokens)


def batches_of(seed: int) -> Iterator[WindowBatch]:
    """Yield the batches that the model of a seed learns from."""
    return drawn_windows(numbers_of("training"), CONTEXT + 1, BATCH_SIZE, seed)


@torch.no_grad()
def losses(model: nn.Module, windows: Tensor) -> Tensor:
    """The value of `-log p` of each token of the windows but the first, (windows, length - 1)."""
    found = []
    for some in windows.split(64):
        log_p = model(some[:, :-1]).log_softmax(-1)
        found.append(-log_p.gather(-1, some[:, 1:, None])[..., 0])
    return torch.cat(found)


def bits(model: nn.Module, part: Part, context: int = CONTEXT) -> float:
    """Bits a character of unseen text, each token read with half a window before it, or more."""
    tokens = numbers_of(part)
    windows = all_windows(tokens, context + 1, context // 2)
    loss = losses(model, windows)[:, context // 2 :].mean().item()
    return bits_per_character(loss, len(tokens), len(novels(part)))


def measured(model: nn.Module) -> Run:
    """Bits a character of the test: as trained, in 8 bits, and by the number of tokens before."""
    found = {"test": round(bits(model, "test"), 4), "by_position": by_position(model, CONTEXT)}
    weights = model.state_dict()
    model.load_state_dict(from_eight_bits(to_eight_bits(weights)))
    found["test_in_8_bits"] = round(bits(model, "test"), 4)
    model.load_state_dict(weights)
    return found


def by_position(model: nn.Module, length: int) -> dict[str, float]:
    """Bits a character after 1, 2, 3 to 4, 5 to 8, ... tokens, up to `length`."""
    tokens, found = numbers_of("test"), {}
    of_windows = losses(model, all_windows(tokens, length + 1, length // 4)).mean(0)
    first, last = 1, 1
    while last <= length:
        loss = of_windows[first - 1 : last].mean().item()
        in_bits = bits_per_character(loss, len(tokens), len(novels("test")))
        found[f"{first}-{last}"] = round(in_bits, 4)
        first, last = last + 1, 2 * last
    return found


def learn(
    model: nn.Module, seed: int, rate: float = RATE, steps: int = STEPS, every: int = EVERY
) -> Run:
    """Train a model; return what is recorded on the way."""
    on_the_way: list[float] = []
    seconds: list[float] = []
    first: list[float] = []
    began = time.process_time()

    def loss(model: nn.Module, batch: WindowBatch) -> Tensor:
        found = window_loss(model, batch)
        if len(first) < NUM_FIRST:
            first.append(round(found.item(), 3))
        return found

    def validate(model: nn.Module) -> float:
        nonlocal began
        now = time.process_time()
        seconds.append(round(now - began, 1))
        on_the_way.append(round(bits(model, "validation"), 4))
        began += time.process_time() - now
        return on_the_way[-1]

    settings = {"learning_rate": rate, "seed": seed, "validate_every": every, "progress": False}
    train(model, batches_of(seed), loss, steps, validate=validate, **settings)
    run = {"seed": seed, "parameters": count_parameters(model.eval()), "first_losses": first}
    return run | {"cpu_seconds": seconds, "validation": on_the_way}
