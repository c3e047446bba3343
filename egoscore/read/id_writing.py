"""The same id written in two ways: in capitals or not, with leading zeros or without.

Mail addresses differ in capitals between two systems, spreadsheets drop leading zeros, and accents
are encoded in two ways. An id that is not in the node table as it is may be there like that.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.table import is_text

WAYS = "capital letters, space around, leading zeros and how accents are encoded"


def unwritten(ids: pa.Array) -> pa.Array:
    """Ids of text without what may differ in writing."""
    folded = pc.utf8_lower(pc.utf8_trim_whitespace(pc.utf8_normalize(ids, form="NFC")))
    return pc.replace_substring_regex(folded, r"^0+([0-9]+)$", r"\1")


def found_in(ids: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """For each of `ids` the number of the one of `known` that is the same but for its writing.

    -1 where there is none. Where writing tells two of `known` apart it means something: all are -1.
    """
    if len(ids) and is_text(ids.type) and is_text(known.type):
        theirs = unwritten(known)
        if pc.count_distinct(theirs).as_py() == len(known):
            places = pc.index_in(unwritten(ids), value_set=theirs)
            return np.asarray(pc.fill_null(places, -1)).astype(np.int64)
    return np.full(len(ids), -1)
