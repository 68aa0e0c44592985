"""Looking on at PyTorch's operators, without its compiler."""

from torch.utils._python_dispatch import TorchDispatchMode


class Onlooker(TorchDispatchMode):
    """A mode in which operators run as ever.

    PyTorch keeps its compiler away from the operators of a mode, and imports it for that: eight
    hundred modules, for a second. Nothing that looks on is compiled.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
