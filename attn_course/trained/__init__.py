"""Models trained for the book, small enough to come with it: a room a subject, with its recipes.

`python -m attn_course.trained` lists the recipes; with the name of one it trains, measures, and
writes weights and a record beside it, which `record` and the loaders read from anywhere.

- `translators`: from a fixed vector to attention, copying, and translating without recurrence
- `captions`: soft, hard and uniform attention over images
- `who_does_what`: one layer of self-attention, with projections and with fewer
- `heads`: one head or several over two readings, and the heads of MiniLM
- `recall`: layers that look a value up, recurrent, attending and linear
- `writers`: models that continue Jane Austen's novels, whole and with one part changed
- `induction`: models of heads alone that repeat, with positions of six kinds and mixed layers
"""

from attn_course.trained.store import record as record
from attn_course.trained.translators.store import TrainedTranslator as TrainedTranslator
from attn_course.trained.translators.store import load as load
