"""Instructions on the bytes and halves of a 32-bit register: dot products and SIMD video ones.

Source: "PTX ISA", sections on dp4a, dp2a and the SIMD video instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vgpu.ir import Value
from vgpu.isa.types import Form

INTEGERS = ("u32", "s32")


def _named(m: Form) -> list[bool]:
    """Whether each type that the instruction names is signed, in its order."""
    return [word == "s32" for word in m.mods if word in INTEGERS]


# ---------------------------------------------------------------- NumPy


def _split(a: np.ndarray, bits: int, signed: bool) -> np.ndarray:
    """The parts of 32-bit words as int64, the lowest first: shape (32 / bits, lanes)."""
    raw = a.astype(np.int64) & 0xFFFFFFFF
    parts = np.array([raw >> shift & ((1 << bits) - 1) for shift in range(0, 32, bits)])
    return np.where(signed & (parts >> (bits - 1) != 0), parts - (1 << bits), parts)


def _word(a: np.ndarray) -> np.ndarray:
    return (a & 0xFFFFFFFF).astype(np.uint32)


def dot_bytes(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    of_a, of_b = _named(m)
    total = (_split(a, 8, of_a) * _split(b, 8, of_b)).sum(axis=0)
    return _word(total + c.astype(np.int64))


def dot_halves(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    of_a, of_b = _named(m)
    two = _split(b, 8, of_b)[2:] if "hi" in m.mods else _split(b, 8, of_b)[:2]
    return _word((_split(a, 16, of_a) * two).sum(axis=0) + c.astype(np.int64))


SIMD: dict[str, Callable[..., np.ndarray]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}


def simd(name: str, bits: int) -> Callable[..., Any]:
    def meaning(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        of_d, of_a, of_b = _named(m)
        parts = SIMD[name](_split(a, bits, of_a), _split(b, bits, of_b))
        if "sat" in m.mods:
            low = -(1 << bits - 1) if of_d else 0
            parts = np.clip(parts, low, low + (1 << bits) - 1)
        if "add" in m.mods:
            return _word(parts.sum(axis=0) + c.astype(np.int64))
        return _word(sum((part & ((1 << bits) - 1)) << (bits * i) for i, part in enumerate(parts)))

    return meaning


COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def compare(bits: int) -> Callable[..., Any]:
    """`vset`: 1 in each part where the comparison holds, or (`.add`) how many there are."""

    def meaning(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        of_a, of_b = _named(m)
        held = m.pick(COMPARE)(_split(a, bits, of_a), _split(b, bits, of_b)).astype(np.int64)
        if "add" in m.mods:
            return _word(held.sum(axis=0) + c.astype(np.int64))
        return _word(sum(part << (bits * i) for i, part in enumerate(held)))

    return meaning


# ---------------------------------------------------------------- LLVM


def _pieces(a: Value, bits: int, signed: bool) -> list[Value]:
    """The parts of an i32 as i32, the lowest first."""
    rest, down = 32 - bits, "ashr" if signed else "lshr"
    return [(a << 32 - bits - shift).binary(down, rest) for shift in range(0, 32, bits)]


def _sum(values: Sequence[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def emit_dot_bytes(m: Form, a: Value, b: Value, c: Value) -> Value:
    of_a, of_b = _named(m)
    pairs = zip(_pieces(a, 8, of_a), _pieces(b, 8, of_b), strict=True)
    return _sum([c, *(x * y for x, y in pairs)])


def emit_dot_halves(m: Form, a: Value, b: Value, c: Value) -> Value:
    of_a, of_b = _named(m)
    four = _pieces(b, 8, of_b)
    pairs = zip(_pieces(a, 16, of_a), four[2:] if "hi" in m.mods else four[:2], strict=True)
    return _sum([c, *(x * y for x, y in pairs)])


def _choose(word: str) -> Callable[..., Any]:
    return lambda x, y: x.compare(word, y).select(x, y)


EMIT: dict[str, Callable[..., Value]] = {
    "vadd": lambda x, y: x + y,
    "vsub": lambda x, y: x - y,
    "vabsdiff": lambda x, y: (x - y).intrinsic("llvm.abs", flag=False),
    "vmin": _choose("slt"),
    "vmax": _choose("sgt"),
}


def emit_simd(name: str, bits: int) -> Callable[..., Any]:
    def meaning(m: Form, a: Value, b: Value, c: Value) -> Value:
        of_d, of_a, of_b = _named(m)
        pairs = zip(_pieces(a, bits, of_a), _pieces(b, bits, of_b), strict=True)
        parts = [EMIT[name](x, y) for x, y in pairs]
        if "sat" in m.mods:
            low = -(1 << bits - 1) if of_d else 0
            lowest, highest = a.constant(low), a.constant(low + (1 << bits) - 1)
            parts = [_choose("slt")(_choose("sgt")(p, lowest), highest) for p in parts]
        if "add" in m.mods:
            return _sum([c, *parts])
        ones = (1 << bits) - 1
        result = a.number("i32", 0)
        for i, part in enumerate(parts):
            result = result | (part & ones) << bits * i
        return result

    return meaning


def emit_compare(bits: int) -> Callable[..., Any]:
    def meaning(m: Form, a: Value, b: Value, c: Value) -> Value:
        of_a, of_b = _named(m)
        word = m.pick({key: key if key in ("eq", "ne") else "s" + key for key in COMPARE})
        pairs = zip(_pieces(a, bits, of_a), _pieces(b, bits, of_b), strict=True)
        parts = [x.compare(word, y).to("i32") for x, y in pairs]
        if "add" in m.mods:
            return _sum([c, *parts])
        return _sum([part << bits * i for i, part in enumerate(parts)])

    return meaning


# ---------------------------------------------------------------- bits of a word


def sign_extend(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`szext`: the lowest b bits of a, extended as the type says."""
    count = np.minimum(b, 32) if "clamp" in m.mods else b & 31
    count, raw = count.astype(np.int64), a.astype(np.int64) & 0xFFFFFFFF
    kept = raw & ((1 << count) - 1)
    if m.t.kind == "s":
        top = np.where(count > 0, kept >> np.maximum(count - 1, 0) & 1, 0)
        kept = np.where(top != 0, kept - (1 << count), kept)
    return _word(kept).view(m.t.dtype)


def emit_sign_extend(m: Form, a: Value, b: Value) -> Value:
    count = b.above(32).select(32, b) if "clamp" in m.mods else b & 31
    spare = 63 - count.to("i64")
    # One more bit than there are to drop: a shift by 64 would be undefined where no bit is kept.
    up = a.to("i64") << spare << 1
    down = "ashr" if m.t.kind == "s" else "lshr"
    return up.binary(down, spare).binary(down, 1).to("i32")


def find_nth(m: Form, mask: np.ndarray, base: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """`fns`: the position of the n-th set bit from `base` on, upwards or (n negative) downwards; -1 without one."""
    found = np.full(mask.shape, 0xFFFFFFFF, np.uint32)
    for lane, (bits, start, n) in enumerate(zip(mask.tolist(), base.tolist(), offset.tolist(), strict=True)):
        n = n - (1 << 32) if n >> 31 else n
        start &= 31
        ways = {0: [start], 1: range(start, 32), -1: range(start, -1, -1)}[(n > 0) - (n < 0)]
        hits = [position for position in ways if bits >> position & 1]
        if len(hits) >= max(abs(n), 1):
            found[lane] = hits[max(abs(n), 1) - 1]
    return found


def emit_find_nth(m: Form, mask: Value, base: Value, offset: Value) -> Value:
    """Bits at or beyond `base` in the offset's direction, all but the n-1 nearest cleared by counting positions."""
    base = base & 31
    down = offset.below(0, signed=True)
    # Downwards is upwards in the reversed word.
    turned = down.select(mask.intrinsic("llvm.bitreverse"), mask)
    start = down.select(31 - base, base)
    count = down.select(-offset, offset)
    here = offset.eq(0)
    rest = turned >> start
    rest = here.select(rest & 1, rest)
    wanted = here.select(1, count)
    # The n-th set bit lies at the number of positions before which fewer than n are set: add it up by halves.
    position = mask.constant(0)
    for step in (16, 8, 4, 2, 1):
        low = rest >> position & (1 << step) - 1
        inside = low.intrinsic("llvm.ctpop")
        beyond = wanted.above(inside)
        wanted = beyond.select(wanted - inside, wanted)
        position = beyond.select(position + step, position)
    last = rest >> (position & 31) & 1
    fits = wanted.eq(1) & last.eq(1)
    at = start + position
    return fits.select(down.select(31 - at, at), -1)
