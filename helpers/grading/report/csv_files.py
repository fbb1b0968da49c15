"""CSV files that other programs wrote: read, and written back with everything else as it was."""

from __future__ import annotations

import csv
import io

BOM = "\ufeff"


def read(data: bytes) -> list[list[str]]:
    """The rows of a CSV file with commas or semicolons; raises ValueError for anything else.

    Bytes that are not UTF-8 become halves of surrogate pairs, and the same bytes again when they are written.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        raise ValueError("it is not UTF-8; save it as CSV UTF-8")
    text = data.decode(errors="surrogateescape").removeprefix(BOM)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=_separator(data), strict=True))
    except csv.Error as problem:
        raise ValueError(f"its fields cannot be told apart, check its quotes: {problem}") from None


def written(rows: list[list[str]], like: bytes) -> bytes:
    """The rows as a file with the separator, line ends and byte order mark of `like`."""
    out = io.StringIO()
    end = "\r\n" if b"\r\n" in like else "\n"
    csv.writer(out, delimiter=_separator(like), lineterminator=end).writerows(rows)
    bom = BOM if like.startswith(BOM.encode()) else ""
    return (bom + out.getvalue()).encode(errors="surrogateescape")


def _separator(data: bytes) -> str:
    head = data.partition(b"\n")[0]
    return ";" if head.count(b";") > head.count(b",") else ","
