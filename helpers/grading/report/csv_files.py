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


def records(data: bytes, what: str) -> tuple[list[str], list[dict[str, str]]]:
    """The columns of a table that is only read, and its rows that aren't empty, by column.

    Columns are known whatever their case, and with a space or "_". Raises ValueError, with `what` for the file.
    """
    try:
        rows = [[cell.strip() for cell in row] for row in read(data)]
        "\n".join(map("".join, rows)).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} is not UTF-8; save it as CSV UTF-8") from None
    except ValueError as problem:
        raise ValueError(f"{what}: {problem}") from None
    rows = [row for row in rows if any(row)]
    head = [cell.casefold().replace(" ", "_") for cell in rows[0]] if rows else []
    if twice := {name for name in head if name and head.count(name) > 1}:
        raise ValueError(f"{what} has the column {min(twice)!r} twice")
    return head, [dict(zip(head, row, strict=False)) for row in rows[1:]]


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
