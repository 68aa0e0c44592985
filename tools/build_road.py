"""Draw the road of the home page, with a stop for each chapter: `book/road.html`.

    python tools/build_road.py            write the page's part
    python tools/build_road.py --check    compare, change nothing

The stops are in `book/road.yml`: for each chapter its name, what it is about, and the drawing in
its frame, which is 60 wide and 50 high around the point 0, 0. The road lays them out by itself, and
names the parts of the book where `_toc.yml` lets them begin.
"""

from __future__ import annotations

import argparse
import html
import sys
from itertools import accumulate, pairwise
from pathlib import Path
from string import Template
from typing import TypedDict

import yaml
from cells import put

ROOT = Path(__file__).resolve().parent.parent
TOC, STOPS, PAGE = "_toc.yml", "book/road.yml", "book/road.html"
TEMPLATE = Path(__file__).with_name("road_template.html")
# Of the first stop from the top, from one to the next, the room for the name of a part, and the
# turns to the left and right.
FIRST, STEP, ROOM, TURNS = 66, 72, 30, (40, 54, 40, 32)
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
PART = '<text class="part" x="98" y="{y}">{name}</text>\n'


class Stop(TypedDict):
    """A stop as the file has it."""

    name: str
    what: str
    drawing: str


def read_stops(path: Path) -> dict[str, Stop]:
    """The stops by the names of their chapters, in their order."""
    stops: dict[str, Stop] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return stops


def read_parts(path: Path) -> dict[str, str]:
    """The names of the parts by the chapters with which they begin."""
    parts = yaml.safe_load(path.read_text(encoding="utf-8"))["parts"]
    firsts = {part["chapters"][0]["file"]: part.get("caption", "") for part in parts}
    return {file.removeprefix("book/"): caption for file, caption in firsts.items()}


def draw(stops: dict[str, Stop], parts: dict[str, str]) -> str:
    """The road, as HTML."""
    rooms = accumulate(ROOM * (chapter in parts) for chapter in stops)
    places = [(TURNS[i % len(TURNS)], FIRST + STEP * i + room) for i, room in enumerate(rooms)]
    ways = [f"M{places[0][0]} 28V{places[0][1] - 29}"] + [
        f"M{left} {top + 29}C{left} {(top + y) // 2 + 2} {x} {(top + y) // 2 - 2} {x} {y - 29}"
        for (left, top), (x, y) in pairwise(places)
    ]
    drawn = (
        (PART.format(y=y - 38, name=html.escape(parts[chapter])) if chapter in parts else "")
        + STOP.format(
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
    content = draw(read_stops(options.root / STOPS), read_parts(options.root / TOC)).encode()
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
