"""Which tokens may hear which, by other packages and by our rules."""

from __future__ import annotations

import torch

from attn_course.context.rules import Documents, document_of_each, position_within
from attn_course.scaled_dot_product import mask_of
from tests.course.peers.packages import LENGTH, Pair


def packed_documents() -> list[Pair]:
    """Three documents one behind the other; they find where each begins by its positions."""
    from transformers.masking_utils import (
        find_packed_sequence_indices,
        packed_sequence_mask_function,
    )

    document, at = document_of_each((2, 4, LENGTH - 6)), torch.arange(LENGTH)
    found = find_packed_sequence_indices(position_within(document)[None])
    theirs = packed_sequence_mask_function(found)(0, 0, at[:, None], at) & (at <= at[:, None])
    return [(mask_of(Documents(document), LENGTH, LENGTH).double(), theirs.double())]
