"""The training loop: it learns, it can be stopped anywhere, and it says what went wrong.

A run that was stopped and taken up again must equal the run that never was, to the last bit.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.training import History, learning_rate_at, train
from attn_course.training.checkpoint import fingerprint, write_checkpoint
from tests.conftest import ROOT
from tests.course.points import (
    D_IN,
    STEPS,
    WHOLE,
    Points,
    new_model,
    points,
    squared_error,
    train_points,
    validation_error,
)
from tests.tensors import EXACTLY


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Return a copy of everything that a model has learnt."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


class Stopped(Exception):
    """The error that a test throws into a run."""


def failing(step: int, error: BaseException) -> Callable[[nn.Module, Points], Tensor]:
    """Return a loss that fails in the middle of a step: after the forward pass has left traces."""
    calls = itertools.count()

    def loss(model: nn.Module, batch: Points) -> Tensor:
        value = squared_error(model, batch)
        if next(calls) == step:
            raise error
        return value

    return loss


# --- the learning rate --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0, 0.1), (4, 0.5), (9, 1), (10, 1), (100, 1), (120, 0.8), (150, 0.5), (197, 0.03),
     (198, 0.02), (199, 0.02)],
)  # fmt: skip
def test_learning_rate_by_hand(step: int, expected: float) -> None:
    assert learning_rate_at(step, 200, 1.0, 10) == pytest.approx(expected)
    assert learning_rate_at(step, 200, 3e-3, 10) == pytest.approx(3e-3 * expected)


def test_learning_rate_without_warm_up_begins_at_the_peak() -> None:
    assert [learning_rate_at(step, 4, 2.0, 0) for step in range(4)] == [2.0, 2.0, 2.0, 1.0]


def test_learning_rate_rises_once_falls_once_and_is_never_zero() -> None:
    rates = [learning_rate_at(step, 1000, 1.0, 30) for step in range(1000)]
    peak = rates.index(1.0)
    assert rates[: peak + 1] == sorted(set(rates[: peak + 1]))
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert min(rates) == 0.02


# --- it learns ----------------------------------------------------------------------------------


def test_equals_the_same_loop_written_out_with_the_tools_of_torch() -> None:
    expected, model = new_model(), new_model()
    torch.manual_seed(5)
    optimizer = torch.optim.Adam(expected.parameters(), lr=0.01, betas=(0.8, 0.9))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate_at(step, STEPS, 1.0, 3)
    )
    losses, rates = [], []
    for batch in points(number=STEPS):
        optimizer.zero_grad()
        loss = squared_error(expected, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(expected.parameters(), 0.7)
        losses.append(loss.item())
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    history = train_points(model, learning_rate=0.01, betas=(0.8, 0.9), warm_up=3, clip=0.7, seed=5)
    assert history.losses == losses
    assert history.learning_rates == pytest.approx(rates)
    assert_close(weights_of(model), weights_of(expected), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_learns(bfloat16: bool) -> None:
    model, seen = new_model(dropout=0.0), set()
    model[4].register_forward_hook(lambda layer, given, output: seen.add(output.dtype))
    before = validation_error(model.eval())
    seen.clear()
    history = train_points(model.train(), 300, learning_rate=0.02, bfloat16=bfloat16)
    assert seen == {torch.bfloat16 if bfloat16 else torch.float32}
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert history.steps == 300
    assert validation_error(model.eval()) < before / 5


@pytest.mark.cuda
@pytest.mark.parametrize("bfloat16", [False, True])
def test_learns_and_resumes_on_cuda(bfloat16: bool, tmp_path: Path) -> None:
    settings = {"device": "cuda", "bfloat16": bfloat16, "learning_rate": 0.02}
    model, resumed = new_model(), new_model()
    state = torch.cuda.get_rng_state()
    history = train_points(model, 100, **settings)
    assert_close(torch.cuda.get_rng_state(), state, **EXACTLY)
    assert {weight.device.type for weight in model.parameters()} == {"cuda"}
    assert sum(history.losses[-10:]) < sum(history.losses[:10]) / 2
    file = {"checkpoint": tmp_path / "run.pt"}
    with pytest.raises(KeyboardInterrupt):
        train(resumed, points(), failing(37, KeyboardInterrupt()), 100, **settings, **file)
    train(resumed, points(), squared_error, 100, **settings, **file)
    assert_close(weights_of(resumed), weights_of(model), **EXACTLY)


def test_clipping_scales_a_long_gradient_down_and_leaves_a_short_one() -> None:
    def length_of_last_gradient(clip: float) -> float:
        model = new_model()
        train_points(model, 1, clip=clip)
        return torch.cat([weight.grad.flatten() for weight in model.parameters()]).norm().item()

    free = length_of_last_gradient(math.inf)
    assert free > 0.5
    assert length_of_last_gradient(0.25) == pytest.approx(0.25, rel=1e-4)
    assert length_of_last_gradient(2 * free) == pytest.approx(free, rel=1e-6)


def test_weights_that_want_no_gradient_stay() -> None:
    model = new_model()
    model[0].requires_grad_(False)
    before = weights_of(model)
    train_points(model)
    after = weights_of(model)
    assert_close(after["0.weight"], before["0.weight"], **EXACTLY)
    assert not torch.equal(after["4.weight"], before["4.weight"])


def test_layers_are_in_training_mode_during_the_run_and_in_their_own_afterwards() -> None:
    model, modes = new_model(), set()
    model[1].eval()
    model.register_forward_pre_hook(lambda *_: modes.add((model.training, model[1].training)))
    train_points(model, 2)
    assert modes == {(True, True)}
    assert (model.training, model[1].training, model[3].training) == (True, False, True)
    with pytest.raises(Stopped):
        train(model.eval(), points(), failing(1, Stopped()), STEPS)
    assert not any(layer.training for layer in model.modules())


def test_same_seed_same_weights_and_another_seed_others() -> None:
    models = [new_model(), new_model(), new_model()]
    for model, seed, drawn_before in zip(models, [3, 3, 4], [0, 100, 0], strict=True):
        torch.rand(drawn_before)  # what the caller has drawn does not matter
        train_points(model, seed=seed)
    first, second, third = map(weights_of, models)
    assert_close(second, first, **EXACTLY)
    assert not torch.equal(third["4.weight"], first["4.weight"])


@pytest.mark.parametrize("loss", [squared_error, failing(3, Stopped())], ids=["done", "failed"])
def test_the_callers_random_numbers_are_untouched(loss: Callable[..., Tensor]) -> None:
    torch.manual_seed(8)
    expected = torch.rand(5)
    torch.manual_seed(8)
    with contextlib.suppress(Stopped):
        train(new_model(), points(), loss, STEPS)
    assert_close(torch.rand(5), expected, **EXACTLY)


def test_history_is_json() -> None:
    history = train_points(new_model(), validate=validation_error, validate_every=10)
    assert History(**json.loads(json.dumps(asdict(history)))) == history
    assert len(history.losses) == len(history.learning_rates) == STEPS
    assert history.validation_steps == [10, 20, 24]
    assert 0 < history.seconds < 60


def test_seconds_count_the_last_validation_and_all_parts_of_the_run(tmp_path: Path) -> None:
    def slow(model: nn.Module) -> float:
        time.sleep(0.3)
        return 0.0

    settings = {"validate": slow, "validate_every": 1, "checkpoint": tmp_path / "run.pt"}
    with pytest.raises(KeyboardInterrupt):
        train(new_model(), points(), failing(1, KeyboardInterrupt()), 2, **settings)
    assert train_points(new_model(), 2, **settings).seconds > 0.6


def test_seconds_count_the_steps() -> None:
    def slow(model: nn.Module, batch: Points) -> Tensor:
        time.sleep(0.2)
        return squared_error(model, batch)

    assert train(new_model(), points(), slow, 2).seconds > 0.4


# --- validation and early stop ------------------------------------------------------------------


def test_validation_sees_evaluation_mode_and_no_gradients_and_changes_nothing() -> None:
    def nosy(model: nn.Module) -> float:
        assert not model.training
        assert not torch.is_grad_enabled()
        return model(torch.randn(3, D_IN)).mean().item()

    plain, validated = new_model(), new_model()
    train_points(plain)
    history = train_points(validated, validate=nosy, validate_every=5)
    assert len(history.validation_values) == 5
    assert_close(weights_of(validated), weights_of(plain), **EXACTLY)


class Scripted:
    """A validation with given values, which keeps the weights that it saw."""

    def __init__(self, *values: float) -> None:
        self.values, self.seen = values, []

    def __call__(self, model: nn.Module) -> float:
        """Return the next value."""
        self.seen.append(weights_of(model))
        return self.values[len(self.seen) - 1]


@pytest.mark.parametrize(
    ("values", "steps", "best"),
    [
        ((5, 3, 4, 6, 1), 8, 1),  # two in a row that are no better
        ((5, 3, 4, 2, 2, 9), 12, 3),  # a new best starts the count again, an equal one does not
        ((5, 6, 4, 3, 5, 2), 12, 5),  # the last is the best, and patience lasts
        ((math.inf, math.inf, math.inf), 6, 0),
    ],
)
def test_early_stop_returns_the_weights_of_the_best_validation(
    values: tuple[float, ...], steps: int, best: int
) -> None:
    validate, model = Scripted(*values), new_model()
    history = train_points(model, 12, validate=validate, validate_every=2, patience=2)
    assert history.steps == steps
    assert history.validation_values == list(values[: steps // 2])
    assert_close(weights_of(model), validate.seen[best], **EXACTLY)


def test_without_patience_nothing_stops_and_the_last_weights_stay() -> None:
    validate, model = Scripted(1, 2, 3, 4), new_model()
    history = train_points(model, 8, validate=validate, validate_every=2)
    assert history.steps == 8
    assert_close(weights_of(model), validate.seen[3], **EXACTLY)


# --- stopping and going on ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole() -> tuple[dict[str, Tensor], History]:
    """Train without a stop; return the weights and the history."""
    model = new_model()
    history = train_points(model, **WHOLE)
    return weights_of(model), history


def assert_same_run(model: nn.Module, history: History, whole: tuple[Any, History]) -> None:
    """Compare all but the time."""
    assert_close(weights_of(model), whole[0], **EXACTLY)
    assert asdict(history) | {"seconds": 0} == asdict(whole[1]) | {"seconds": 0}


@pytest.mark.parametrize("error", [Stopped(), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize("step", [0, 1, 5, 13, STEPS - 1])
def test_run_that_failed_in_the_middle_of_a_step_goes_on(
    step: int, error: BaseException, whole: tuple[Any, History], tmp_path: Path
) -> None:
    settings = {**WHOLE, "checkpoint": tmp_path / "deep" / "run.pt"}
    with pytest.raises(type(error)):
        train(new_model(), points(), failing(step, error), STEPS, checkpoint_every=4, **settings)
    taken = []

    def loss(model: nn.Module, batch: Points) -> Tensor:
        taken.append(batch)
        return squared_error(model, batch)

    model = new_model(seed=2)  # its weights come from the checkpoint, if there is one
    if step < 4 and isinstance(error, Stopped):
        model = new_model()
    history = train(model, points(), loss, STEPS, **settings)
    assert_same_run(model, history, whole)
    kept = step if isinstance(error, KeyboardInterrupt) else step // 4 * 4
    assert len(taken) == STEPS - kept


def interrupting(thing: Callable[..., Any], call: int) -> Callable[..., Any]:
    """Return a function that presses Ctrl-C in one of its calls, and does its work all the same."""
    calls = itertools.count()

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return thing(*args, **kwargs)

    return wrapped


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("place", ["update", "validation", "loss", "batches"])
def test_ctrl_c_at_any_place_keeps_the_run(
    place: str,
    whole: tuple[Any, History],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loss, stream, settings = squared_error, points(), dict(WHOLE)
    if place == "update":  # the weights after the first one are not updated yet
        monkeypatch.setattr(Tensor, "lerp_", interrupting(Tensor.lerp_, 40))
    elif place == "validation":
        settings["validate"] = interrupting(validation_error, 2)
    elif place == "loss":
        loss = interrupting(squared_error, 11)
    else:
        pull = interrupting(lambda: next(original), 12)
        original = points()
        stream = iter(pull, None)
    settings |= {"checkpoint": tmp_path / "run.pt"}
    with pytest.raises(KeyboardInterrupt):
        train(new_model(), stream, loss, STEPS, **settings)
    monkeypatch.undo()
    model = new_model(seed=2)
    history = train_points(model, **WHOLE, checkpoint=tmp_path / "run.pt")
    assert_same_run(model, history, whole)


def test_ctrl_c_has_its_old_handler_back_after_the_run() -> None:
    before = signal.getsignal(signal.SIGINT)
    train_points(new_model(), 2)
    assert signal.getsignal(signal.SIGINT) is before


def test_run_that_was_interrupted_often_goes_on(whole: tuple[Any, History], tmp_path: Path) -> None:
    settings = {**WHOLE, "checkpoint": tmp_path / "run.pt"}
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            train(new_model(), points(), failing(5, KeyboardInterrupt()), STEPS, **settings)
    model = new_model(seed=2)
    assert_same_run(model, train_points(model, **settings), whole)


def test_run_outside_the_main_thread_is_the_same(whole: tuple[Any, History]) -> None:
    model = new_model()
    with ThreadPoolExecutor(1) as pool:
        history = pool.submit(train_points, model, **WHOLE).result()
    assert_same_run(model, history, whole)


def test_finished_run_comes_back_at_once(whole: tuple[Any, History], tmp_path: Path) -> None:
    settings = {**WHOLE, "checkpoint": tmp_path / "run.pt"}
    train_points(new_model(), **settings)
    model = new_model(seed=2)
    never = failing(0, Stopped())
    history = train(model, points(), never, STEPS, progress=False, **settings)
    assert_same_run(model, history, whole)


def test_run_that_patience_ended_comes_back_with_its_best_weights(tmp_path: Path) -> None:
    settings = {"validate_every": 2, "patience": 2, "checkpoint": tmp_path / "run.pt"}
    validate, model = Scripted(5, 3, 4, 6), new_model(seed=2)
    train_points(new_model(), validate=validate, **settings)
    history = train_points(model, validate=Scripted(), **settings)
    assert history.steps == 8
    assert_close(weights_of(model), validate.seen[1], **EXACTLY)


KILLED = """
import sys, time
from attn_course.training import train
from tests.course.points import STEPS, WHOLE, new_model, points, squared_error

def slow(model, batch):
    time.sleep(0.02)
    return squared_error(model, batch)

train(new_model(), points(), slow, STEPS, checkpoint=sys.argv[1], checkpoint_every=1, **WHOLE)
"""


def test_run_that_was_killed_goes_on_and_writes_nothing_to_a_pipe(
    whole: tuple[Any, History], tmp_path: Path
) -> None:
    file = tmp_path / "run.pt"
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(file)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 600
    while not file.exists() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    run.kill()
    output = run.communicate()
    assert run.returncode == -signal.SIGKILL, output
    assert output == (b"", b"")
    steps = torch.load(file, weights_only=True)["history"]["losses"]
    assert 0 < len(steps) < STEPS
    model = new_model(seed=2)
    assert_same_run(model, train_points(model, **WHOLE, checkpoint=file), whole)


# --- checkpoints --------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return the checkpoint of a run that stopped after eight steps."""
    file = tmp_path / "run.pt"
    with pytest.raises(KeyboardInterrupt):
        train(new_model(), points(), failing(8, KeyboardInterrupt()), STEPS, checkpoint=file)
    return file


def with_a_frozen_layer() -> nn.Module:
    """Return a model of which less is trained."""
    model = new_model()
    model[0].requires_grad_(False)
    return model


OTHER_RUNS: dict[str, tuple[Callable[[], nn.Module], dict[str, Any], str]] = {
    "steps": (new_model, {"steps": 25}, "differ in steps: 24 there, 25 here$"),
    "rate": (new_model, {"learning_rate": 0.5}, "learning_rate: 0.003 there, 0.5 here$"),
    "betas": (new_model, {"betas": (0.9, 0.99)}, r"betas: \(0.9, 0.98\) there, \(0.9, 0.99\)"),
    "warm-up": (new_model, {"warm_up": 3}, "warm_up: 30 there, 3 here$"),
    "clip": (new_model, {"clip": math.inf}, "clip: 1.0 there, inf here$"),
    "seed": (new_model, {"seed": 1}, "seed: 0 there, 1 here$"),
    "precision": (new_model, {"bfloat16": True}, "bfloat16: False there, True here$"),
    "validation": (
        new_model, WHOLE, "validate_every: None there, 5 here; patience: None there, 99 here$"
    ),
    "dropout": (lambda: new_model(0.5), {}, r"layer 3: Dropout\(p=0.2.* there, Dropout\(p=0.5"),
    "weights": (with_a_frozen_layer, {}, r"0.weight: \(7, 5\) torch.float32 trained there, "
                r"\(7, 5\) torch.float32 fixed here; 0.bias: .*$"),
    "dtype": (lambda: new_model().double(), {}, "0.weight: .*32 trained there, .*64 trained here"),
    "a layer more": (
        lambda: nn.Sequential(*new_model(), nn.Identity()),
        {},
        r"differ in layer 5: absent there, Identity\(\) here$",
    ),
    "another model": (lambda: nn.Linear(5, 3), {}, r"layer outermost: Sequential\(\) there, "
                      r"Linear\(in_features=5.*0.weight|more"),
}  # fmt: skip


@pytest.mark.parametrize(("model", "settings", "text"), OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_checkpoint_of_another_run_is_refused_with_what_differs(
    model: Callable[[], nn.Module], settings: dict[str, Any], text: str, kept: Path
) -> None:
    before = kept.read_bytes()
    with pytest.raises(ValueError, match=rf"run.pt belongs to another run.*{text}"):
        train_points(model(), **{"checkpoint": kept, **settings})
    assert kept.read_bytes() == before


def test_what_does_not_bear_on_the_result_may_differ(kept: Path) -> None:
    plain, model = new_model(), new_model(seed=2)
    train_points(plain)
    train_points(model, checkpoint=kept, checkpoint_every=3, progress=False)
    assert_close(weights_of(model), weights_of(plain), **EXACTLY)


def test_other_batches_than_the_run_has_seen_are_refused(kept: Path) -> None:
    with pytest.raises(ValueError, match="has seen another batch 7: give a new stream"):
        train(new_model(), points(seed=3), squared_error, STEPS, checkpoint=kept)
    with pytest.raises(ValueError, match="the batches ended after 5, but 24 steps need 24"):
        train(new_model(), points(number=5), squared_error, STEPS, checkpoint=kept)


def test_fingerprint_tells_numbers_dtypes_and_shapes_apart() -> None:
    x = torch.arange(6.0)
    same = [Points(x, x > 2), (x.clone(), x > 2), [x, [x > 2]], {"x": x, "y": {"z": x > 2}}]
    assert len({fingerprint(batch) for batch in same}) == 1
    others = [(x > 2, x), (x, x > 1), (x.view(2, 3), x > 2), (x.view(torch.int32), x > 2), x, ()]
    assert len({fingerprint(batch) for batch in [*same, *others]}) == 7


def shortened(content: bytes) -> bytes:
    """Return what is left of a file whose writing was cut off."""
    return content[: len(content) // 2]


def with_a_flipped_bit(content: bytes) -> bytes:
    """Change one of the weights a little."""
    weights = torch.load(io.BytesIO(content), weights_only=True)["weights"]
    place = content.index(weights["4.weight"].numpy().tobytes())
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [shortened, with_a_flipped_bit, lambda content: b"", lambda content: b"not a checkpoint"],
    ids=["shortened", "a flipped bit", "empty", "text"],
)
def test_damaged_checkpoint_is_refused(damage: Callable[[bytes], bytes], kept: Path) -> None:
    kept.write_bytes(damage(kept.read_bytes()))
    with pytest.raises(ValueError, match=r"run.pt cannot be read; delete it .* \(\w+: .+\)$"):
        train_points(new_model(), checkpoint=kept)


def test_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "weights.pt"
    torch.save(new_model().state_dict(), file)
    with pytest.raises(ValueError, match=r"weights.pt is not a checkpoint of a training run"):
        train_points(new_model(), checkpoint=file)


class Malice:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how to make it anew."""
        return os.mkdir, (str(self.folder),)


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    file, folder = tmp_path / "run.pt", tmp_path / "made"
    torch.save({"identity": {}, "weights": Malice(folder)}, file)
    with pytest.raises(ValueError, match=r"run.pt cannot be read.*Weights only load failed"):
        train_points(new_model(), checkpoint=file)
    assert not folder.exists()


@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt()])
def test_write_that_fails_half_way_leaves_the_old_checkpoint(
    error: BaseException, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(thing: object, file: Any) -> None:
        file.write(b"half of a checkpoint")
        raise error

    before = kept.read_bytes()
    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(type(error)):
        write_checkpoint(kept, {"identity": {}})
    assert kept.read_bytes() == before
    assert list(kept.parent.iterdir()) == [kept]


# --- what is refused ----------------------------------------------------------------------------


def spoilt(step: int, number: float) -> Callable[[nn.Module, Points], Tensor]:
    """Return a loss that is multiplied by a number in one step, before running means move."""
    calls = itertools.count()
    return lambda model, batch: squared_error(model, batch) * (number if next(calls) == step else 1)


def steep(step: int) -> Callable[[nn.Module, Points], Tensor]:
    """Return a loss that is finite in one step, but whose gradient is not."""
    calls = itertools.count()

    def loss(model: nn.Module, batch: Points) -> Tensor:
        error = squared_error(model, batch)
        return error + ((error - error).sqrt() if next(calls) == step else 0)

    return loss


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (lambda: spoilt(6, math.nan), "step 6: the loss is nan; the losses before: "),
        (lambda: spoilt(6, math.inf), "step 6: the loss is inf; the losses before: "),
        (lambda: steep(6), "step 6: the length of the gradient is nan; the losses before: "),
    ],
    ids=["nan", "inf", "gradient"],
)
def test_loss_that_is_no_number_stops_the_run_before_the_weights_are_spoilt(
    loss: Callable[[], Callable[..., Tensor]], text: str
) -> None:
    good, model = new_model(), new_model()
    losses, right_loss = [], failing(6, Stopped())

    def noted(model: nn.Module, batch: Points) -> Tensor:
        value = right_loss(model, batch)
        losses.append(f"{value.item():.4g}")
        return value

    with pytest.raises(Stopped):
        train(good, points(), noted, STEPS)
    with pytest.raises(FloatingPointError, match=re.escape(text + ", ".join(losses[-5:])) + "$"):
        train(model, points(), loss(), STEPS)
    assert len(losses) == 6
    assert_close(weights_of(model), weights_of(good), **EXACTLY)
    assert all(tensor.isfinite().all() for tensor in weights_of(model).values())


def test_first_loss_may_be_nan_as_well() -> None:
    with pytest.raises(FloatingPointError, match=r"step 0: the loss is nan; .* before: none$"):
        train(new_model(), points(), spoilt(0, math.nan), STEPS)


def test_validation_that_is_nan_stops_the_run() -> None:
    with pytest.raises(FloatingPointError, match="the validation after 4 steps gives nan"):
        train_points(new_model(), validate=Scripted(1, math.nan), validate_every=2)


def test_too_few_batches_are_refused_with_their_number() -> None:
    with pytest.raises(ValueError, match="the batches ended after 7, but 24 steps need 24 of them"):
        train(new_model(), points(number=7), squared_error, STEPS)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"steps": 0}, "steps=0 must be positive"),
        ({"learning_rate": -1e-3}, "learning_rate=-0.001 must be positive"),
        ({"clip": math.nan}, "clip=nan must be positive"),
        ({"validate_every": 0, "validate": validation_error}, "validate_every=0 must be"),
        ({"checkpoint_every": 0}, "checkpoint_every=0 must be positive"),
        ({"learning_rate": math.inf}, "learning_rate=inf must be positive and finite"),
        ({"patience": 3}, "patience=3 needs a function to validate with"),
        ({"patience": 0, "validate": validation_error}, "patience=0 must be positive"),
    ],
)
def test_setting_that_makes_no_sense_is_refused(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        train_points(new_model(), **settings)


def test_model_without_anything_to_train_is_refused() -> None:
    with pytest.raises(ValueError, match="no weight of the model requires a gradient"):
        train_points(new_model().requires_grad_(False))
