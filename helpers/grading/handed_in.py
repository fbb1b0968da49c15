"""When submissions were handed in, as far as they say so.

nbgrader puts `timestamp.txt` beside a notebook. Times of files are not used: copying and unpacking change them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from helpers.grading.intake import Submission, open_regular
from helpers.grading.untrusted import Refused

NAME = "timestamp.txt"
MOST_BYTES = 100


def times(found: Iterable) -> dict[str, str]:
    """Student -> ISO time with offset, of the submission that counts."""
    moments = {
        piece.student: _beside(piece)
        for piece in found
        if isinstance(piece, Submission) and piece.counts and piece.path.suffix == ".ipynb"
    }
    return {student: moment.isoformat() for student, moment in moments.items() if moment}


def _beside(piece: Submission) -> datetime | None:
    """nbgrader writes "2015-02-02 15:58:23.948203 UTC", and takes a time without a zone for UTC."""
    try:
        with open_regular(piece.path.with_name(NAME)) as file:
            text = file.read(MOST_BYTES).decode("ascii")
        moment = datetime.fromisoformat(text.strip().removesuffix("UTC").strip())
    except (OSError, Refused, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
