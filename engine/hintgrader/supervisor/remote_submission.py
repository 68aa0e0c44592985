"""`RemoteSubmission`: a function of a submission, called in the submission's own process."""

from contextlib import suppress
from math import prod

import torch
from torch import Tensor

from hintgrader.supervisor.channel import Channel
from hintgrader.supervisor.termination import Cause, Termination
from hintgrader.worker.clock import idle_limit
from hintgrader.worker.instrument import Instrument, active_instruments, paused
from hintgrader.worker.overwritten import AGAIN, FOR, Overwritten
from hintgrader.worker.packing import MALFORMED
from hintgrader.worker.plain import Inputs, Plain, as_plain
from hintgrader.worker.submission import Outcome
from hintgrader.worker.time_limits import CALL_SECONDS, MARGIN
from hintgrader.worker.wire import Callback, Message

MAX_MESSAGE, MAX_BORROWED = 300, 20
MAX_CALLBACKS, MAX_GRAPH_BYTES = (
    10_000,
    2**30,
)  # calls of the grader's callables, bytes for their gradients
MAX_INTERMEDIATE = 2_000_000  # numbers that attention may make of the tensors of one such call


class RemoteSubmission:
    """Asks for outcomes as `LocalSubmission` does, of a process that only sends bytes.

    Args:
        channel: To the snapshot of the notebook in which the function is.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._late: Termination | None = None

    @property
    def trouble(self) -> Termination | None:
        """The reason why the snapshot ended or a call timed out; None if all went well."""
        return self._late or self.channel.ended

    def call(
        self,
        inputs: Inputs,
        upstream: Tensor | None = None,
        wrt: tuple[str, ...] = (),
        seconds: float | None = None,
        seed: int = 0,
    ) -> Outcome:
        """Call the function as `LocalSubmission.call` does, with the same arguments."""
        limit, desk = seconds or CALL_SECONDS, _CallbackServer()
        instruments = active_instruments()
        asked: Message = {
            "inputs": inputs,
            "upstream": upstream,
            "wrt": wrt,
            "seconds": limit,
            "seed": seed,
        }
        asked["instruments"] = [type(instrument).__name__ for instrument in instruments]
        with paused():  # what is sent and received is none of the answer's work
            try:
                reply = self.channel.ask(asked, limit + MARGIN, desk.answer, desk.number)
                outcome = _read_outcome(reply, inputs)
                _add_readings(reply, instruments)
                desk.accumulate_gradients(reply.get("piled") or [])
            except MALFORMED:
                return Outcome(error=("", f"it {self.channel.end()}"))
            except MemoryError:
                return Outcome(error=("", f"it {self.channel.end(Cause.TOO_MUCH)}"))
            except Termination as ended:
                return Outcome(error=("", f"it {ended}"))
        if outcome.stalled:
            self._late = Termination(Cause.STALLED, f"{idle_limit(limit):g}")
        elif outcome.late:
            self._late = self._late or Termination(Cause.SLOW_CALL, f"{limit:g}")
        return outcome

    def fetch_alarms(self) -> Termination | None:
        """Fetch the alarms of the calls; return why that failed, or None."""
        if not self.channel.ended:
            with suppress(Termination):
                self.channel.ask({}, MARGIN)
            return self.channel.ended
        return None

    def overwritten(self) -> Overwritten:
        """Ask for it as `LocalSubmission` has it; what is sent may be anything."""
        with suppress(Termination, *MALFORMED):
            found = self.channel.ask({"overwritten": True}, MARGIN)["overwritten"]
            return [(kind, name) for kind, name in found if kind in (FOR, AGAIN)]
        return []

    def supports(self, device: str) -> bool:
        """The processor alone: a confined process sees no other device."""
        return device == "cpu"


class _CallbackServer:
    """Serves calls of the grader's own callables while an answer runs."""

    def __init__(self) -> None:
        self._callables: list[Callback] = []
        self._graphs: dict[int, tuple[Tensor, list[Tensor]]] = {}
        self._asked = self._bytes = 0

    def number(self, function: Callback) -> int:
        """The number by which a callable is asked for."""
        self._callables.append(function)
        return len(self._callables) - 1

    def answer(self, question: Message) -> Message:
        """The output of a callable, or the gradients of an earlier call."""
        self._asked += 1
        try:
            if self._asked > MAX_CALLBACKS or self._bytes > MAX_GRAPH_BYTES:
                raise RuntimeError("the functions that it was given have been called too often")
            if "gradient" in question:
                return {"gradients": self._gradients(question)}
            function = self._callables[question["callback"]]
            return {"output": self._call(function, question)}
        except Exception as error:  # what is asked may make no sense
            return {"error": [type(error).__name__, str(error)[:MAX_MESSAGE]]}

    def accumulate_gradients(self, numbers: list[int]) -> None:
        """Give the weights of these callables gradients, as their stand-ins in the process have."""
        for number in set(numbers):
            for weight in getattr(self._callables[number], "weights", ()):
                weight.grad = torch.zeros_like(weight)

    def _call(self, function: Callback, question: Message) -> Plain:
        arguments, named = question["arguments"], question["named"]
        tensors = [one for one in (*arguments, *named.values()) if isinstance(one, Tensor)]
        _require_small(tensors)
        if "keep" not in question:
            with torch.no_grad():
                return function(*arguments, **named)
        for tensor in tensors:
            tensor.requires_grad_(tensor.is_floating_point())
        with torch.enable_grad():
            output = function(*arguments, **named)
        if isinstance(output, Tensor) and output.requires_grad:
            graph = sum(one.element_size() * _intermediate_size(one) for one in tensors)
            self._bytes += output.nbytes + graph
            self._graphs[question["keep"]] = output, tensors
            return output.detach()
        return output

    def _gradients(self, question: Message) -> list[Tensor | None]:
        output, inputs = self._graphs[question["gradient"]]
        wanted = [value for value in inputs if value.requires_grad]
        upstream = question["upstream"]
        found = torch.autograd.grad(output, wanted, upstream, retain_graph=True, allow_unused=True)
        by_input = iter(found)
        return [next(by_input) if value.requires_grad else None for value in inputs]


def _require_small(tensors: list[Tensor]) -> None:
    """Refuse calls that would take too much memory: nothing else limits the grader's process."""
    if (made := sum(map(_intermediate_size, tensors))) > MAX_INTERMEDIATE:
        shapes = " and ".join(str(tuple(tensor.shape)) for tensor in tensors)
        raise ValueError(f"{shapes} is too large: {made:,} numbers, above {MAX_INTERMEDIATE:,}")


def _intermediate_size(tensor: Tensor) -> int:
    """An upper bound on the numbers made of a tensor, as by attention: each one as often as there
    are rows.

    A layer that goes along the rows keeps no more than that for the gradients of its steps.
    """
    rows = tensor.shape[1:-1] or tensor.shape[:-1] or (1,)  # the first axis may be of batches
    return prod(max(1, size) for size in (*tensor.shape, max(rows)))


def _read_outcome(reply: Message, inputs: Inputs) -> Outcome:
    """An outcome made of what was sent, which may be anything; raises `MALFORMED` otherwise."""
    borrowed = tuple(str(name)[:MAX_MESSAGE] for name in reply["borrowed"][:MAX_BORROWED])
    if reply["error"] is not None:
        kind, message = reply["error"]
        return Outcome(
            error=(str(kind)[:MAX_MESSAGE], str(message)[:MAX_MESSAGE]), borrowed=borrowed
        )
    gradients = {str(name): as_plain(found) for name, found in reply["gradients"].items()}
    after = {name: as_plain(reply["inputs_after"][name]) for name in inputs}
    return Outcome(as_plain(reply["output"]), None, gradients, after, borrowed)


def _add_readings(reply: Message, instruments: tuple[Instrument, ...]) -> None:
    for instrument, readings in zip(instruments, reply["readings"], strict=True):
        instrument.add(readings)
