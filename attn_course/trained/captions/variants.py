"""A captioner that lacks one thing, to see what it is good for: the places."""

from torch import nn

from attn_course.captioning import Captioner


class PlacelessCaptioner(Captioner):
    """A captioner without vectors for the places: it knows a cell by what is in it."""

    def __init__(self, vision: nn.Module, num_cells: int, vocab_size: int) -> None:
        super().__init__(vision, num_cells, vocab_size)
        nn.init.zeros_(self.places.requires_grad_(False))
