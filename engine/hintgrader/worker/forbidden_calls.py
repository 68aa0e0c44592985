"""Families of library functions that an exercise may keep from its answers, told by their names.

A name is that of an operator, as PyTorch's dispatcher calls it, or of a function of a library with
its class. So a family has all forms of an operation: its method, its module, its kernels and their
gradients.
"""

import re
from collections.abc import Iterable
from functools import cache

AUTOGRAD, SCRIPTED = "autograd", "scripted or compiled code"
# Parts of names. PyTorch names what belongs together alike: aten::_safe_softmax, nn.LogSoftmax.
FAMILIES = {
    "softmax": r"soft_?(max|min)",
    "log-sum-exp": r"log_?(cum)?_?sum_?exp|log_?add_?exp",
    "cross entropy": r"cross_?entropy|nll_?loss|kl_?div|log_?loss|rel_entr|^entropy$",
    "attention": r"attention|attn|scaled_dot_product|transformer_?(encoder|decoder)",
    "recurrence": r"(^|[_:.])(dynamic)?(quantized)?(gru|lstm|rnn)",
    "distances": r"(^|[_:.])([cp]|euclidean_|pairwise_)?dist(_|$)|distance|^(sq)?euclidean$"
    r"|(mse|huber|smooth_l1|gaussian_nll)_?loss|neighbors|(kd|ball)_?tree",
    AUTOGRAD: r"^(grad|backward|[vj]jp|jac(obian|rev|fwd)|linearize|hvp|vhp|hessian)$"
    r"|\.backward$|^autograd::|run_backward|make_dual",
    SCRIPTED: r"(^|\.)compile_wrapper$|(compiled\w*|artifact)\.__call__$|^interpreter\.run$"
    r"|(^|[._])redispatch",
    "estimators": r"(^|\.)(fit|fit_predict|kneighbors)$|kernelreg|cross_val|kneighbors",
}


class ForbiddenCalls:
    """Tells which names are to be avoided.

    Args:
        entries: Families, or functions by the last part of their names.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self.entries = tuple(entries)
        self._patterns = [
            re.compile(FAMILIES.get(one, rf"(^|[.:])_*{re.escape(one)}_*$"), re.IGNORECASE)
            for one in self.entries
        ]
        self._known: dict[str, str | None] = {}

    def entry_of(self, name: str) -> str | None:
        """The first entry that a name belongs to, or None."""
        if name not in self._known:
            pairs = zip(self.entries, self._patterns, strict=True)
            found = (entry for entry, pattern in pairs if pattern.search(name))
            self._known[name] = next(found, None)
        return self._known[name]

    def word_in(self, name: str) -> str:
        """The part of a name to speak of: nn.Softmax.__init__ is Softmax."""
        *_, last = parts = re.split(r"[:.]+", name)
        meant = (part for part in reversed(parts) if self.entry_of(part))
        return next(meant, last).strip("_ ")


@cache
def forbidden_calls(entries: tuple[str, ...]) -> ForbiddenCalls:
    """The same for every call of an answer, so that each name is looked at once."""
    return ForbiddenCalls(entries)
