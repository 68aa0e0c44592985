"""The pairs that a reader writes into both memories: names, and each one's favourite colour.

Keys and values are drawn at random, and a narrower one is the beginning of a wider one, made a
unit vector. The draw is a plain one: among 300 it comes close to the mean in how many names are
recalled, by every rule and width. Of the plainest it is one in which Ada, who is asked for at
first, is recalled at six rows and never again from the tenth on.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

NAMES = (
    *("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ida", "Jon"),
    *("Kim", "Leo", "Mia", "Ned", "Ole", "Pia", "Ria", "Sam", "Tom", "Uma"),
)
COLOURS = {
    "red": "#d62f2f",
    "orange": "#f08a24",
    "yellow": "#f2d22e",
    "green": "#3a9b48",
    "blue": "#2f6fd0",
    "purple": "#8344a8",
    "pink": "#f29ac0",
    "brown": "#7d5230",
}
WIDTHS = (4, 8, 16)
SEED = 181


def unit(vectors: Float[Tensor, "*rows d"]) -> Float[Tensor, "*rows d"]:
    """The vectors, each with the length 1."""
    return vectors / vectors.norm(dim=-1, keepdim=True)


def keys_and_codes(seed: int = SEED) -> tuple[Float[Tensor, "names d"], Float[Tensor, "colours d"]]:
    """The keys of the names and the values of the colours at the greatest width, to 3 digits."""
    draw = torch.Generator().manual_seed(seed)
    drawn = (
        torch.randn(len(NAMES) + len(COLOURS), max(WIDTHS), generator=draw)
        .double()
        .round(decimals=3)
    )
    return drawn[: len(NAMES)], drawn[len(NAMES) :]


def favourites(seed: int = SEED) -> Int[Tensor, " names"]:
    """The colour of each name, by its number."""
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(len(COLOURS), (len(NAMES),), generator=draw)
