"""Draw the road of the home page, with a stop for each chapter: `book/road.html`.

    python tools/build_road.py            write the page's part
    python tools/build_road.py --check    compare, change nothing

The stops are in `book/road.yml`: for each chapter its name, what it is about, and the drawing in
its frame, which is 60 wide and 50 high around the point 0, 0. The road lays them out by itself.
"""

from __future__ import annotations

import argparse
import html
import sys
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import TypedDict

import yaml
from cells import put

ROOT = Path(__file__).resolve().parent.parent
STOPS, PAGE = "book/road.yml", "book/road.html"
TEMPLATE = Path(__file__).with_name("road_template.html")
# Of the first stop from the top, from one to the next, and the turns to the left and right.
FIRST, STEP, TURNS = 66, 72, (40, 54, 40, 32)
FRAME = '<rect class="frame" x="-30" y="-25" width="60" height="50" rx="9"/>'
STOP = """\
<a class="stop" href="{chapter}.html">
<path class="way" d="{way}"/>
<g transform="translate({x} {y})">{frame}
{drawing}
</g>
<text class="name" x="98" y="{name_y}"><tspan class="number">{number}</tspan> {name}</text>
<text class="what" x="98" y="{what_y}">{what}</text>
</a>
"""


class Stop(TypedDict):
    """A stop as the file has it."""

    name: str
    what: str
    drawing: str


def read_stops(path: Path) -> dict[str, Stop]:
    """The stops by the names of their chapters, in their order."""
    stops: dict[str, Stop] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return stops


def draw(stops: dict[str, Stop]) -> str:
    """The road, as HTML."""
    places = [(TURNS[i % len(TURNS)], FIRST + STEP * i) for i in range(len(stops))]
    ways = [f"M{places[0][0]} 28V{places[0][1] - 29}"] + [
        f"M{left} {top + 29}C{left} {top + 38} {x} {top + 34} {x} {top + 43}"
        for (left, top), (x, _) in pairwise(places)
    ]
    drawn = (
        STOP.format(
            chapter=chapter,
            number=chapter[:2],
            name=html.escape(stop["name"]),
            what=html.escape(stop["what"]),
            drawing=stop["drawing"].strip(),
            way=way,
            frame=FRAME,
            x=x,
            y=y,
            name_y=y - 3,
            what_y=y + 16,
        )
        for (chapter, stop), (x, y), way in zip(stops.items(), places, ways, strict=True)
    )
    template = Template(TEMPLATE.read_text(encoding="utf-8"))
    return template.substitute(height=places[-1][1] + 44, stops="".join(drawn))


def main(arguments: list[str]) -> int:
    """Write or check the road; return 0, or 1 after a message."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="default: %(default)s")
    options = parser.parse_args(arguments)
    page = options.root / PAGE
    content = draw(read_stops(options.root / STOPS)).encode()
    if page.is_file() and page.read_bytes() == content:
        return 0
    if options.check:
        print(f"{PAGE}: not what {STOPS} gives; run: python tools/build_road.py", file=sys.stderr)
        return 1
    put(content, page)
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
