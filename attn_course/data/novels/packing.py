"""Pack the novels: how the file that the course brings was made, once.

    apt-get download r-cran-janeaustenr=1.0.0-1
    dpkg-deb -x r-cran-janeaustenr_1.0.0-1_all.deb unpacked
    cd unpacked/usr/lib/R/site-library/janeaustenr/data
    python -m attn_course.data.novels.packing Rdata.rdb

Debian's package, under the MIT licence, holds the text of Project Gutenberg as R keeps it: one
object after the other, each four bytes of length and then the object, packed by zlib. An object is
a header of 23 bytes, the kind and the number of its lines, and of each line its kind, its length
and its bytes.
"""

import bz2
import json
import re
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from attn_course.data.novels import BETWEEN_NOVELS, FILE, NUM_PIECES, PIECES
from attn_course.data.novels import novels as novels_of
from attn_course.data.pieces import learn_pieces

HEADER = 23
STRAIGHT = str.maketrans({"_": "", "\n": " "})
# A paragraph has lower case letters, only these characters, and ends as a sentence or a line does;
# titles, the numbers of chapters and the few paragraphs with a numeral or a pound sign go.
PARAGRAPH = re.compile(r"(?=.*[a-z])[A-Za-z ,.;:!?'\"()\-]+[,.;:!?'\")\-]")
HEADING = re.compile(r"(CHAPTER|Chapter|VOLUME|Volume)\b")


def objects(packed: bytes) -> Iterator[bytes]:
    """Unpack the objects of a file of R."""
    while packed:
        unpack = zlib.decompressobj()
        yield unpack.decompress(packed[4:])
        packed = unpack.unused_data


def lines(vector: bytes) -> Iterator[str]:
    """Read the lines of an object that is a vector of them."""
    _, number = struct.unpack_from(">ii", vector, HEADER)
    at = HEADER + 8
    for _ in range(number):
        _, size = struct.unpack_from(">ii", vector, at)
        yield vector[at + 8 : at + 8 + size].decode()
        at += 8 + size


def prose(novel: Iterable[str]) -> str:
    """The paragraphs of a novel, each on a line of its own, without titles and italics."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(novel))
    plain = [" ".join(paragraph.translate(STRAIGHT).split()) for paragraph in paragraphs]
    plain = [re.sub("-{2,}", "-", paragraph) for paragraph in plain]
    return "\n".join(p for p in plain if PARAGRAPH.fullmatch(p) and not HEADING.match(p))


if __name__ == "__main__":
    novels = [prose(lines(vector)) for vector in objects(Path(sys.argv[1]).read_bytes())]
    FILE.write_bytes(bz2.compress(BETWEEN_NOVELS.join(novels).encode()))
    learned = learn_pieces(novels_of("training"), NUM_PIECES)
    PIECES.write_text(json.dumps(learned, indent=0) + "\n", encoding="utf-8")
