"""The memory of a decoder that writes word by word: keys and values of the tokens so far."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn import functional

from attn_course.shapes import checked

# Tokens for which there is room behind the prompt.
LEAST_ROOM = 64


class KeyValueCache:
    """Keys and values of the tokens so far, so that a decoder need not compute them again.

    They are kept split by head, `(*batch, num_kv_heads, length, d_head)`. The memory grows by
    half when it is full. A cache is for decoding: no gradient flows through it.

    Args:
        key_mask: False at the padding of a prompt, True at its tokens, `(*batch, prompt_len)`: no
            query attends to padding. Tokens behind the prompt count. None means no padding.
    """

    def __init__(self, key_mask: Bool[Tensor, "*batch prompt_len"] | None = None) -> None:
        self.length = 0
        self.key_mask = key_mask
        self._key: Tensor | None = None
        self._value: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens; return the keys and the values of all tokens.

        Raises:
            RuntimeError: The keys or the values require a gradient.
            ValueError: Their shape, dtype or device does not fit the cache.
        """
        if key.requires_grad or value.requires_grad:
            raise RuntimeError("a cache keeps no gradients: decode under torch.no_grad()")
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError(
                f"keys of shape {tuple(key.shape)} and values of shape {tuple(value.shape)} "
                "do not belong to the same tokens"
            )
        self._key = self._with_room(self._key, key)
        self._value = self._with_room(self._value, value)
        new_len = key.shape[-2]
        self._key.narrow(-2, self.length, new_len).copy_(key)
        self._value.narrow(-2, self.length, new_len).copy_(value)
        self.length += new_len
        return self._key.narrow(-2, 0, self.length), self._value.narrow(-2, 0, self.length)

    def positions(
        self, new_len: int, device: torch.device | None = None
    ) -> Int[Tensor, "*batch new_len"]:
        """The positions of the next tokens: how many tokens precede each, padding not counted."""
        allowed = self.allowed(self.length + new_len)
        if allowed is None:
            return torch.arange(self.length, self.length + new_len, device=device)
        return (allowed.cumsum(-1) - 1).clamp(min=0)[..., self.length :]

    def allowed(self, length: int | None = None) -> Bool[Tensor, "*batch length"] | None:
        """True at all tokens but the padding; None if there is no padding.

        Args:
            length: Number of tokens, those to come included; those in the cache if None.
        """
        if self.key_mask is None:
            return None
        behind = (self.length if length is None else length) - self.key_mask.shape[-1]
        return functional.pad(self.key_mask, (0, behind), value=True)

    @checked
    def reorder(self, rows: Int[Tensor, " new_batch"]) -> None:
        """Keep only these sequences of the batch, in this order; one may be kept several times.

        A beam search calls it when some hypotheses are continued twice and others given up.

        Args:
            rows: Numbers of sequences, along the first axis of the batch.

        Raises:
            IndexError: There is no such sequence.
        """
        if self._key is not None and self._value is not None:
            self._key = self._key.index_select(0, rows)
            self._value = self._value.index_select(0, rows)
        if self.key_mask is not None:
            self.key_mask = self.key_mask.index_select(0, rows)

    def _with_room(self, kept: Tensor | None, new: Tensor) -> Tensor:
        """The memory if the new tokens fit, else a longer one with the same beginning."""
        if kept is None:
            kept = new[..., :0, :]
        if kept.shape[:-2] != new.shape[:-2] or kept.shape[-1] != new.shape[-1]:
            raise ValueError(
                f"the cache holds {tuple(kept.shape[:-2])} sequences by heads, {kept.shape[-1]} "
                f"wide, but the new tokens have {tuple(new.shape[:-2])}, {new.shape[-1]} wide"
            )
        if (kept.dtype, kept.device) != (new.dtype, new.device):
            raise ValueError(
                f"the cache holds {kept.dtype} on {kept.device}, but the new tokens are "
                f"{new.dtype} on {new.device}"
            )
        needed = self.length + new.shape[-2]
        if needed <= kept.shape[-2]:
            return kept
        room = needed + max(LEAST_ROOM, needed // 2)
        longer = kept.new_empty(*kept.shape[:-2], room, kept.shape[-1])
        longer.narrow(-2, 0, self.length).copy_(kept.narrow(-2, 0, self.length))
        return longer
