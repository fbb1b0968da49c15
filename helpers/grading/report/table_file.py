"""A CSV file as bytes with the place of every field, so that some can be changed and all others stay as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Field:
    """One field: its text, and the bytes from `start` to `end` that it takes, quotes included."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class TableFile:
    """A CSV file: its bytes, its separator and its rows; rows of different lengths and blank lines are kept."""

    data: bytes
    separator: str
    rows: tuple[tuple[Field, ...], ...]

    def replaced(self, changes: Mapping[Field, str]) -> bytes:
        """The file with other text in some fields, which must need no quotes; each other byte is as it was."""
        parts, at = [], 0
        for field in sorted(changes, key=lambda field: field.start):
            parts += [self.data[at : field.start], changes[field].encode()]
            at = field.end
        return b"".join([*parts, self.data[at:]])


def read_table(data: bytes) -> TableFile:
    """Find the fields of a CSV file with commas or semicolons; raises ValueError for what is none.

    Bytes that are no UTF-8 are kept, and shown as replacement characters.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        raise ValueError("it is not UTF-8; save it as CSV UTF-8")
    start = len(BOM) if data.startswith(BOM) else 0
    head = data[start:].split(b"\n", 1)[0]
    separator = b";" if head.count(b";") > head.count(b",") else b","
    rows: list[tuple[Field, ...]] = []
    row: list[Field] = []
    at = start
    while at < len(data):
        field, at = _field(data, at, separator)
        row.append(field)
        if at < len(data) and data[at : at + 1] == separator:
            at += 1
            if at < len(data):
                continue
            row.append(Field("", at, at))
        elif data[at : at + 2] == b"\r\n":
            at += 2
        else:
            at += 1
        rows.append(tuple(row))
        row = []
    return TableFile(data, separator.decode(), tuple(rows))


def _field(data: bytes, start: int, separator: bytes) -> tuple[Field, int]:
    """The field that begins at `start`, and the place after it."""
    if data[start : start + 1] != b'"':
        ends = [place for mark in (separator, b"\r", b"\n") if (place := data.find(mark, start)) >= 0]
        end = min(ends, default=len(data))
        return Field(data[start:end].decode(errors="replace"), start, end), end
    at, parts = start + 1, []
    while True:
        quote = data.find(b'"', at)
        if quote < 0:
            line = data.count(b"\n", 0, start) + 1
            raise ValueError(f'a field that begins on line {line} has no closing quote (")')
        parts.append(data[at:quote])
        if data[quote + 1 : quote + 2] != b'"':
            break
        parts.append(b'"')
        at = quote + 2
    end = quote + 1
    after = data[end : end + 1]
    if after not in (b"", separator, b"\r", b"\n"):
        line = data.count(b"\n", 0, end) + 1
        raise ValueError(f'line {line} has text after a closing quote (")')
    return Field(b"".join(parts).decode(errors="replace"), start, end), end
