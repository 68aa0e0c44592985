"""A figure as the chapters store it: SVG that takes the colours and letters of a page, and a PNG.

The SVG lies in the metadata of the PNG, which nbval does not compare and other programs leave
alone; the book shows it in the place of the PNG. The same figure gives the same bytes.
"""

import os
import re
import sys
from io import BytesIO, StringIO
from zlib import crc32

import matplotlib.pyplot as plt
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

# Set where chapters are executed to be stored; to the value below where their outputs are compared,
# of which no picture is: to draw it once shows what may be wrong, and takes a third of the time.
STORES = "ATTN_COURSE_STORES_FIGURES"
COMPARES = "without pictures"
LETTERS = 11  # points: the size of most letters, which are to be as large as the text's
WIDER = 1.12  # how much wider the letters are that matplotlib lays out than those of the page
DENSE = 400  # marks or points of one artist, above which it is drawn as pixels
PIXELS = 110  # an inch, of the PNG; a width of 5.2 inches fits a page
AS_SVG = {"svg.fonttype": "none", "svg.hashsalt": "attn_course", "savefig.bbox": "tight"}
# What the page decides: a style sheet says how ink, ground and what is faint look in the dark.
OF_PAGE = {
    "#333333": "currentColor",
    "#fefefe": "var(--pst-color-background, #fff)",
    "#bbbbbb": "var(--attn-faint, #bbb)",
    "#111111": "var(--attn-stark, #111)",
    "#3f1670": "var(--attn-deep-violet, #3f1670)",
    "#7030c0": "var(--attn-violet, #7030c0)",
    "#8b5a2b": "var(--attn-brown, #8b5a2b)",
    "#4a1036": "var(--attn-deep-weight, #4a1036)",
}
# The name of an image of ink on white paper: a style sheet turns it round in the dark.
ON_PAPER = "on-paper"
LEFT_OUT = re.compile(
    r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>|<defs>\s*</defs>"
    r"|font-family: [^;\"]*;? ?|\sxmlns:xlink=\"[^\"]*\"|xlink:(?=href)|\sversion=\"[^\"]*\""
    r"|\stransform=\"rotate\(-0 [^)]*\)\"",
    re.DOTALL,
)
FONT_SIZE = re.compile(r"font-size: ([\d.]+)px")
ID = re.compile(r'\sid="([^"]*)"')
SIZE = re.compile(r'<svg width="([\d.]+)pt" height="[\d.]+pt"')


def svg_of(figure: Figure) -> str:
    """Return a drawn figure as SVG for a page: no ground, letters in the page's face, and as large.

    Its width is in `em`. Marks that are many are pixels inside it.
    """
    dense = [artist for artist in figure.findobj(is_dense) if not artist.get_rasterized()]
    for artist in dense:
        artist.set_rasterized(True)
    file = StringIO()
    with plt.rc_context(AS_SVG):
        figure.savefig(file, format="svg", transparent=True, dpi=200, metadata={"Date": None})
    for artist in dense:
        artist.set_rasterized(False)
    return for_page(file.getvalue())


def is_dense(artist: object) -> bool:
    """True of an artist with so many marks that they would be the most of a file."""
    if isinstance(artist, Line2D):
        return artist.get_marker() != "None" and len(artist.get_xdata()) > DENSE
    return isinstance(artist, PathCollection) and len(artist.get_offsets()) > DENSE


def for_page(svg: str) -> str:
    """Return matplotlib's SVG without what a page does not need, in the colours of the page."""
    svg = LEFT_OUT.sub("", svg).replace(f'id="{ON_PAPER}"', f'class="{ON_PAPER}"')
    svg = re.sub(r"\d+\.\d{3,}(?=[^\w+/])", lambda found: rounded(found[0]), svg)
    svg = FONT_SIZE.sub(lambda found: f"font-size: {rounded(str(WIDER * float(found[1])))}px", svg)
    for colour, of_page in OF_PAGE.items():
        svg = svg.replace(f": {colour}", f": {of_page}")
    used = set(re.findall(r"#([\w-]+)", svg))
    own = f"-{crc32(svg.encode()):x}"  # several figures share a page
    svg = ID.sub(lambda found: f' id="{found[1]}{own}"' if found[1] in used else "", svg)
    svg = re.sub(r'(url\(|href=")#([\w-]+)', rf"\1#\2{own}", svg)
    width = '<svg style="width:{:.1f}em" stroke-linejoin="round"'
    svg = SIZE.sub(lambda found: width.format(float(found[1]) / LETTERS), svg, count=1)
    return re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><").strip()


def rounded(number: str) -> str:
    """Return a number with as many digits as a screen shows."""
    return f"{float(number):.{2 if float(number) >= 1 else 4}f}".rstrip("0").rstrip(".")


def png_of(figure: Figure) -> bytes:
    """Return a drawn figure as a small PNG on white, for programs that show no other picture."""
    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=PIXELS, bbox_inches="tight", facecolor="white")
    picture = Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    picture.save(small, format="PNG", optimize=True)
    return small.getvalue()


def stored(figure: Figure) -> tuple[bytes, dict[str, str]]:
    """Return a drawn figure as a cell of a chapter keeps it."""
    return png_of(figure), {"svg": svg_of(figure)}


def drawn(figure: Figure) -> bytes:
    """Draw a figure for its faults alone."""
    figure.draw_without_rendering()
    return b""


def store_as_vector() -> None:
    """Let the kernel that runs this store figures so, if it runs to store them."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell and (how := os.environ.get(STORES)):
        formatter = shell.display_formatter.formatters["image/png"]
        formatter.for_type(Figure, drawn if how == COMPARES else stored)
