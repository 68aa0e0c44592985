"""The pen of the figure of captions: from strokes to pixels like the handwritten digits.

The digits of `attn_course.data` were written on paper, cut out to fill 32 x 32 points, and counted
in squares of 4 x 4. A reader's drawing goes the same way: `pen.js` does it in the page,
this module in Python, for the tests and to measure how often a drawing is understood.

Source: Alpaydin and Kaynak 1998, for the digits.
"""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from attn_course.data.captions import CELL, CaptionedImage, caption
from attn_course.data.draw import Draw

POINTS, FINE, PEN = 128, 32, 2.5  # points of a cell on the screen, of its digit, half a pen's width
GRID = 3

Stroke = list[tuple[float, float]]


def _arc(x: float, y: float, wide: float, high: float, start: int, stop: int) -> Stroke:
    """Part of an ellipse, from one angle to another in degrees; 0 is to the right, 90 is below."""
    steps = max(abs(stop - start) // 24, 1)
    angles = [math.radians(start + (stop - start) * i / steps) for i in range(steps + 1)]
    return [(x + wide * math.cos(angle), y + high * math.sin(angle)) for angle in angles]


# The digits in one or more ways, in a box from (0, 0) to (1, 1) whose second number counts down.
OUTLINES: tuple[list[list[Stroke]], ...] = (
    [[_arc(0.5, 0.5, 0.32, 0.45, -90, 270)]],
    [
        [[(0.5, 0.05), (0.5, 0.95)]],
        [[(0.3, 0.25), (0.55, 0.05), (0.55, 0.95)]],
        [[(0.3, 0.25), (0.5, 0.05), (0.5, 0.95)], [(0.25, 0.95), (0.75, 0.95)]],  # with a foot
    ],
    [[[*_arc(0.5, 0.3, 0.28, 0.25, -170, 30), (0.2, 0.95), (0.8, 0.95)]]],
    [[[*_arc(0.45, 0.28, 0.28, 0.23, -150, 90), *_arc(0.45, 0.72, 0.3, 0.23, -90, 150)]]],
    [
        [[(0.4, 0.05), (0.2, 0.55), (0.8, 0.55)], [(0.7, 0.3), (0.6, 0.95)]],
        [[(0.65, 0.95), (0.65, 0.05), (0.15, 0.65), (0.9, 0.65)]],  # closed
        [[(0.25, 0.05), (0.22, 0.5), (0.8, 0.5)], [(0.72, 0.05), (0.72, 0.95)]],
    ],
    [[[(0.75, 0.05), (0.3, 0.05), (0.27, 0.45), *_arc(0.47, 0.68, 0.3, 0.27, -120, 140)]]],
    [[[(0.65, 0.05), (0.4, 0.25), (0.25, 0.6), *_arc(0.5, 0.7, 0.26, 0.25, 180, -180)]]],
    [
        [[(0.2, 0.05), (0.8, 0.05), (0.4, 0.95)]],
        [[(0.2, 0.05), (0.8, 0.05), (0.4, 0.95)], [(0.3, 0.5), (0.75, 0.5)]],  # with a bar
    ],
    [[[*_arc(0.5, 0.27, 0.25, 0.22, 90, 450), *_arc(0.5, 0.73, 0.29, 0.23, -90, 270)]]],
    [[[*_arc(0.5, 0.3, 0.27, 0.25, 0, -360), (0.74, 0.6), (0.6, 0.95)]]],
)


def drawn_images(seed: int) -> Iterator[tuple[str, CaptionedImage]]:
    """Yield drawings of two or three digits without end, as strokes and as images with captions.

    Each digit is an outline that has been slanted, stretched, made smaller (to between 45 and 95
    percent of a cell), moved and shaken, as a hand does.
    """
    draw = Draw(seed)
    while True:
        cells = sorted(draw.shuffled(range(GRID**2))[: draw.between(2, 3)])
        digits = {cell: draw.below(10) for cell in cells}
        strokes = [stroke for cell in cells for stroke in _by_hand(draw, digits[cell], cell)]
        words, named = caption(digits, GRID)
        shown = tuple(map(digits.get, range(GRID**2)))
        yield written(strokes), CaptionedImage(image_of(strokes), words, named, shown)


def _by_hand(draw: Draw, digit: int, cell: int) -> list[Stroke]:
    def about(middle: float, most: float) -> float:
        return middle + most * (2 * draw.below(1000) / 999 - 1)

    row, column = divmod(cell, GRID)
    slant, size, narrow = about(0.1, 0.2), about(0.7, 0.25), about(0.85, 0.15)
    x0, y0 = column + 0.5 + about(0, 0.05), row + 0.5 + about(0, 0.05)
    return [
        [
            (
                round(
                    POINTS * (x0 + size * narrow * (x - 0.5 - slant * (y - 0.5) + about(0, 0.03)))
                ),
                round(POINTS * (y0 + size * (y - 0.5 + about(0, 0.03)))),
            )
            for x, y in stroke
        ]
        for stroke in draw.one_of(OUTLINES[digit])
    ]


def written(strokes: Sequence[Stroke]) -> str:
    """Strokes as a path of SVG."""
    return "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in stroke) for stroke in strokes)


def image_of(strokes: Sequence[Stroke]) -> Tensor:
    """The image of strokes, (1, 24, 24), from 0 (paper) to 1 (ink)."""
    image = torch.zeros(1, CELL * GRID, CELL * GRID)
    squares = image.unfold(1, CELL, CELL).unfold(2, CELL, CELL)[0]
    own: dict[tuple[int, int], list[Stroke]] = {}
    for stroke in strokes:
        own.setdefault(_place(stroke), []).append(stroke)
    for place, drawn in own.items():
        squares[place] = _covered(_fitted(drawn))
    return image


def _place(stroke: Stroke) -> tuple[int, int]:
    """Row and column of the cell that holds the middle of a stroke."""
    column, row = (
        min(max(int((min(along) + max(along)) / 2 // POINTS), 0), GRID - 1)
        for along in zip(*stroke, strict=True)
    )
    return row, column


def _fitted(strokes: Sequence[Stroke]) -> list[Stroke]:
    """The strokes in the points of a digit: in the middle, and so large that they reach the rim."""
    points = [point for stroke in strokes for point in stroke]
    spans = [(min(along), max(along)) for along in zip(*points, strict=True)]
    room, unit = FINE - 2 * PEN, FINE / POINTS
    scale = min([3.0, *(room / (unit * (high - low)) for low, high in spans if high > low)])
    x0, y0 = ((low + high) / 2 for low, high in spans)
    half = FINE / 2
    return [
        [((x - x0) * unit * scale + half, (y - y0) * unit * scale + half) for x, y in stroke]
        for stroke in strokes
    ]


def _covered(strokes: Sequence[Stroke]) -> Tensor:
    """The share of each pixel's points that lie under the pen, (8, 8)."""
    at = torch.arange(FINE, dtype=torch.float64) + 0.5
    y, x = torch.meshgrid(at, at, indexing="ij")
    inked = torch.zeros(FINE, FINE, dtype=torch.bool)
    for stroke in strokes:
        for (a, b), (c, d) in zip([stroke[0], *stroke], stroke, strict=False):
            long = (c - a) ** 2 + (d - b) ** 2
            along = (((x - a) * (c - a) + (y - b) * (d - b)) / (long or 1)).clamp(0, 1)
            across = (x - a - along * (c - a)) ** 2 + (y - b - along * (d - b)) ** 2
            inked |= across <= PEN**2
    return inked.view(CELL, 4, CELL, 4).float().mean((1, 3))
