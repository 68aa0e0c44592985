"""Counterfactual captions: what would a captioner have said if it had looked elsewhere?"""

import torch
from torch import Tensor

from attn_course.captioning import Captioner
from attn_course.seq2seq import State


class Directed:
    """A captioner that looks where it is told, word by word.

    It decodes as a captioner does, greedily or with a beam; `decode` reads given words.

    Args:
        model: Any captioner.
        weights: The weights that make the context, (batch, given_len, num_cells). Where a row is
            all zero, and after the last row, the model looks where it normally would.
    """

    def __init__(self, model: Captioner, weights: Tensor) -> None:
        self.model, self.weights = model, weights

    def start(self, image: Tensor, mask: Tensor | None = None) -> State:
        """The model's own start, the weights, and the number of words read so far.

        Raises:
            ValueError: The weights do not match the number of images or of cells.
        """
        given = self.weights
        wanted = (len(image), len(self.model.places))
        if given.ndim != 3 or (len(given), given.shape[2]) != wanted or not given.shape[1]:
            raise ValueError(
                f"weights of shape {tuple(given.shape)}; expected {wanted[0]} images, one or more "
                f"words, {wanted[1]} cells"
            )
        count = torch.zeros(len(image), dtype=torch.long, device=given.device)
        return self.model.start(image, mask), given, count

    def decode(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits of the word after each of `tokens`, and the state after the last."""
        own, given, count = state
        rows = torch.arange(len(given), device=given.device)
        number = iter(range(tokens.shape[1]))

        def use(weights: Tensor) -> Tensor:
            word = count + next(number)
            told = given[rows, word.clamp(max=given.shape[1] - 1)]
            is_told = (word < given.shape[1]) & told.any(-1)
            return torch.where(is_told.unsqueeze(-1), told, self.model.use(weights))

        trace = self.model.trace(tokens, own, use)
        return trace.logits, (trace.state, given, count + tokens.shape[1])

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        """The logits of the word after `token`, and the state from which to continue."""
        logits, state = self.decode(token.unsqueeze(1), state)
        return logits.squeeze(1), state
