"""Some figures as one, of which a reader sees a step at a time."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from attn_course.plots.vector import png_of, svg_of

PNG = "image/png"


class Steps:
    """Figures of one scale, each with what is new in its step.

    In the book a reader goes from one to the next by buttons. Elsewhere the last stands for all.

    Args:
        figures: The figures in their order, by what is written on their buttons.
    """

    def __init__(self, figures: Mapping[str, Figure]) -> None:
        self.figures = dict(figures)

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, object], dict[str, object]]:
        last = [*self.figures.values()][-1]
        # pairs: a notebook keeps the entries of a dictionary in the order of the alphabet
        drawn = [[name, svg_of(figure)] for name, figure in self.figures.items()]
        words = f"{len(drawn)} steps: {', '.join(self.figures)}"
        return {PNG: png_of(last), "text/plain": words}, {PNG: {"steps": drawn}}
