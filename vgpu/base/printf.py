"""C's printf, from a format and the packed arguments that a kernel leaves in memory for `vprintf`.

Each argument lies at the next multiple of its size: 4 bytes for what C promotes to int, else 8.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

_FIELD = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?(?P<length>hh|h|ll|l|j|z|t|L)?"
    rb"(?P<kind>[diouxXcsfFeEgGaAp%])"
)
# `long` is what the host's compiler says, as it is on a GPU: 8 bytes on Linux, 4 on Windows.
_LONG = {b"ll": 8, b"l": ctypes.sizeof(ctypes.c_long), b"j": 8, b"z": 8, b"t": 8}
LIMIT = 1 << 20  # characters of one launch, and of one text, as the buffer of a GPU is limited too
WIDEST = 1 << 12  # a field's width and precision: a greater one comes from a wrong argument
_NARROW = {b"hh": 1, b"h": 2}


@dataclass(frozen=True)
class _Argument:
    nbytes: int
    offset: int


class _Buffer:
    """Where the next argument lies."""

    def __init__(self) -> None:
        self.end = 0

    def take(self, nbytes: int) -> _Argument:
        offset = -(-self.end // nbytes) * nbytes
        self.end = offset + nbytes
        return _Argument(nbytes, offset)


def _fields(fmt: bytes) -> tuple[list[tuple[re.Match[bytes], list[_Argument]]], int]:
    """Each conversion with its arguments (stars first), and the bytes all arguments take."""
    buffer = _Buffer()
    found: list[tuple[re.Match[bytes], list[_Argument]]] = []
    for match in _FIELD.finditer(fmt):
        if match["kind"] == b"%":
            found.append((match, []))
            continue
        arguments = [buffer.take(4) for part in (match["width"], match["precision"]) if part == b"*"]
        floating_or_pointer = match["kind"] in b"fFeEgGaAsp"
        arguments.append(buffer.take(8 if floating_or_pointer else _LONG.get(match["length"], 4)))
        found.append((match, arguments))
    return found, buffer.end


def argument_bytes(fmt: bytes) -> int:
    """How many bytes of arguments a format reads."""
    return _fields(fmt)[1]


def argument_count(fmt: bytes) -> int:
    """How many arguments a format reads, which is what `printf` returns on a GPU."""
    return sum(len(arguments) for _, arguments in _fields(fmt)[0])


def render(fmt: bytes, buffer: bytes, string_at: Callable[[int], bytes] = lambda address: b"(?)") -> str:
    """What `printf` prints.

    `buffer` holds `argument_bytes(fmt)` bytes of arguments; `string_at` fetches the text of a `%s` by its
    address.
    """
    parts, last, room = [], 0, LIMIT
    for match, arguments in _fields(fmt)[0]:
        parts.append(fmt[last : match.start()].decode(errors="replace"))
        last = match.end()
        raw = [buffer[argument.offset : argument.offset + argument.nbytes] for argument in arguments]
        parts.append("%" if not raw else _convert(match, raw, string_at))
        room -= len(parts[-1])
        if room < 0:
            break
    parts.append(fmt[last:].decode(errors="replace"))
    return "".join(parts)


def _convert(match: re.Match[bytes], raw: list[bytes], string_at: Callable[[int], bytes]) -> str:
    flags, stars = match["flags"].decode(), [int.from_bytes(star, "little", signed=True) for star in raw[:-1]]
    width = stars.pop(0) if match["width"] == b"*" else _number(match["width"])
    precision: int | None = None
    if (given := match["precision"]) is not None:
        precision = stars.pop(0) if given == b"*" else _number(given)
        precision = None if precision < 0 else min(precision, WIDEST)
    if width < 0:
        flags, width = flags + "-", -width
    width = min(width, WIDEST)
    text, number = _body(match, raw[-1], flags, precision, string_at)
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags and number:
        head = len(text) - len(re.sub(r"^[-+ ]?(0[xX])?", "", text))
        return text[:head] + text[head:].rjust(width - head, "0")
    return text.rjust(width)


def _number(digits: bytes) -> int:
    return int(digits[:10] or 0)  # what is longer is wider than the widest anyway


def _body(
    match: re.Match[bytes], raw: bytes, flags: str, precision: int | None, string_at: Callable[[int], bytes]
) -> tuple[str, bool]:
    """The text before padding, and whether the flag 0 may pad it."""
    kind = match["kind"].decode()
    if kind in "fFeEgG":
        value = struct.unpack("<d", raw)[0]
        signs = "".join(flag for flag in flags if flag in "+ #")
        text = f"%{signs}.{6 if precision is None else precision}{kind}" % value
        return text, value - value == 0
    if kind in "aA":
        text = struct.unpack("<d", raw)[0].hex()
        return (text.upper() if kind == "A" else text), True
    if kind == "s":
        address = int.from_bytes(raw, "little")
        text = string_at(address).decode(errors="replace") if address else "(null)"
        return text[:precision], False
    if kind == "c":
        return chr(raw[0]), False
    if kind == "p":
        address = int.from_bytes(raw, "little")
        return f"{address:#x}" if address else "(nil)", False
    raw = raw[: _NARROW.get(match["length"], 8)]
    value = int.from_bytes(raw, "little", signed=kind in "di")
    digits = format(abs(value), {"o": "o", "x": "x", "X": "X"}.get(kind, "d"))
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    prefix = {"x": "0x", "X": "0X", "o": "0"}.get(kind, "") if "#" in flags and value else ""
    if kind in "di":
        prefix = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    return prefix + digits, precision is None
