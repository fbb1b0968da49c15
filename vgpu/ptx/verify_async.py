"""The operands of asynchronous copies and mbarrier instructions, form by form (see `operand_shapes`)."""

from __future__ import annotations

from collections.abc import Mapping

from vgpu.ptx import TYPE_BYTES, Instruction
from vgpu.ptx.operand_shapes import Words, wrong_operands

_STATE = ("D64", "m")
# The first word of `mbarrier`, or one of `cp.async` -> the operands.
_BARRIER = {
    "init": ("m", "s32"), "inval": ("m",), "arrive": _STATE, "arrive_drop": _STATE, "expect_tx": ("m", "s32"),
    "complete_tx": ("m", "s32"), "test_wait": ("q", "m"), "try_wait": ("q", "m"), "pending_count": ("d32", "s64"),
}  # fmt: skip
_COPY = {"commit_group": (), "wait_group": ("i",), "wait_all": (), "mbarrier": ("m",)}
ROW_MODES = {"tile::gather4", "tile::scatter4"}
"""Modes of tensor copies that move four rows: a coordinate along the row, then the number of each."""
_RANKS = {f"{rank}d": rank for rank in range(1, 6)}


def wrong_async(instruction: Instruction, registers: Mapping[str, str]) -> str | None:
    """What is wrong with the operands of `cp` or `mbarrier`, in words; None if they are right."""
    shape = (_barrier if instruction.opcode == "mbarrier" else _copy)(instruction.modifiers, len(instruction.operands))
    return shape if isinstance(shape, str) else wrong_operands(instruction.operands, shape, registers)


def _barrier(words: Words, given: int) -> tuple[str, ...] | str:
    if not words or words[0] not in _BARRIER:
        return "is no operation on an mbarrier that PTX has"
    shape = _BARRIER[words[0]]
    if words[0].startswith("arrive"):
        return (*shape, "s32" if {"expect_tx", "noComplete"} & set(words) else "s32?")
    if words[0].endswith("_wait"):
        state = "s32" if "parity" in words else "s64"
        return (*shape, state, *(("s32?",) if words[0] == "try_wait" else ()))
    return shape


def _copy(words: Words, given: int) -> tuple[str, ...] | str:
    word = next((w for w in words if w in _COPY), None)
    if word in ("mbarrier", "wait_all") and "bulk" in words:
        return "is no copy that PTX has"
    if word is not None:
        return _COPY[word]
    policy = ("s64",) if "L2::cache_hint" in words else ()
    shifts: tuple[str, ...] = ()
    if "bulk" not in words:
        partly = given - len(policy) > 3
        return ("m", "m", "i", *(("x32",) if partly else ()), *policy)
    remote, types = "m", TYPE_BYTES.keys() & set(words)
    size: tuple[str, ...] = ("s32",)
    if "tensor" in words:
        ranks = [_RANKS[word] for word in words if word in _RANKS]
        if len(ranks) != 1:
            return "does not say how many dimensions it has (.1d to .5d)"
        rows = ROW_MODES & set(words)
        if rows and ranks[0] != 2:
            return f"has .{rows.pop()}, which takes 2 dimensions"
        if types:
            return f"names the type .{types.pop()}, which its tensor map has"
        remote, size = f"c{5 if rows else ranks[0]}", ()
        columns = [word for word in words if word.startswith("im2col")]
        if columns and ranks[0] < 3:
            return f"has .{columns[0]}, which takes 3 to 5 dimensions"
        if columns and columns[0] != "im2col_no_offs":  # offsets along W, H and D; or the halo along W, and the offset
            shifts = (f"s16*{ranks[0] - 2 if columns == ['im2col'] else 2}",)
    spaces = [s for s in (word.split("::")[0] for word in words) if s in ("shared", "global")]
    if ("tile::scatter4" if "prefetch" in words or spaces[:1] == ["shared"] else "tile::gather4") in words:
        return "has .tile::gather4 where data are stored, or .tile::scatter4 where they are loaded"
    if "reduce" in words and "tensor" not in words and not types:
        return "names no type"
    if "prefetch" in words:
        return (remote, *size, *shifts, *policy)
    if len(spaces) != 2:
        return "does not say from which space to which it copies"
    more = ("s16",) if "multicast::cluster" in words else ()
    if ("im2col" in words and spaces[0] == "global") or ("im2col_no_offs" in words and spaces[0] == "shared"):
        return "has .im2col where data are stored, or .im2col_no_offs where they are loaded"
    if spaces[0] == "shared":
        return ("m", "m" if spaces[1] == "shared" else remote, *size, "m", *shifts, *more, *policy)
    return (remote, "m", *size, *policy)
