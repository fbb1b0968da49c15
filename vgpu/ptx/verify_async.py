"""The operands of asynchronous copies and mbarrier instructions, form by form (see `operand_shapes`)."""

from __future__ import annotations

from collections.abc import Mapping

from vgpu.ptx import Instruction
from vgpu.ptx.operand_shapes import Words, wrong_operands
from vgpu.ptx.words import RANKS

_STATE = ("D64", "m")
# The first word of `mbarrier` -> the operands.
_BARRIER = {
    "init": ("m", "s32"), "inval": ("m",), "arrive": _STATE, "arrive_drop": _STATE, "expect_tx": ("m", "s32"),
    "complete_tx": ("m", "s32"), "test_wait": ("q", "m"), "try_wait": ("q", "m"), "pending_count": ("d32", "s64"),
}  # fmt: skip
ROW_MODES = {"tile::gather4", "tile::scatter4"}
"""Modes of tensor copies that move four rows: a coordinate along the row, then the number of each."""


def wrong_async(instruction: Instruction, registers: Mapping[str, str]) -> str | None:
    """What is wrong with the operands of `cp` or `mbarrier`, in words; None if they are right."""
    shape = (_barrier if instruction.opcode == "mbarrier" else _copy)(instruction.modifiers, len(instruction.operands))
    return shape if isinstance(shape, str) else wrong_operands(instruction.operands, shape, registers)


def _barrier(words: Words, given: int) -> tuple[str, ...]:
    shape = _BARRIER[words[0]]
    if words[0].startswith("arrive"):
        return (*shape, "s32" if {"expect_tx", "noComplete"} & set(words) else "s32?")
    if words[0].endswith("_wait"):
        state = "s32" if "parity" in words else "s64"
        return (*shape, state, *(("s32?",) if words[0] == "try_wait" else ()))
    return shape


def _copy(words: Words, given: int) -> tuple[str, ...] | str:
    policy = ("s64",) if "L2::cache_hint" in words else ()
    if "bulk" not in words and "global" in words:
        partly = given - len(policy) > 3
        return ("m", "m", "i", *(("x32",) if partly else ()), *policy)
    if "global" not in words and "shared::cluster" not in words:
        return ("i",) if "wait_group" in words else ("m",) if "mbarrier" in words else ()
    remote = "m"
    size: tuple[str, ...] = ("s32",)
    shifts: tuple[str, ...] = ()
    if "tensor" in words:
        rank, rows = next(int(word[0]) for word in words if word in RANKS), ROW_MODES & set(words)
        if rows and rank != 2:
            return f"has .{rows.pop()}, which takes 2 dimensions"
        columns = [word for word in words if word.startswith("im2col")]
        if columns and rank < 3:
            return f"has .{columns[0]}, which takes 3 to 5 dimensions"
        if columns and columns[0] != "im2col_no_offs":  # offsets along W, H and D; or the halo along W, and the offset
            shifts = (f"s16*{rank - 2 if columns == ['im2col'] else 2}",)
        remote, size = f"c{5 if rows else rank}", ()
    if "prefetch" in words:
        return (remote, *size, *shifts, *policy)
    more = tuple("s16" for word in words if word in ("multicast::cluster", "cp_mask"))
    if "bulk_group" in words:
        return (remote, "m", *size, *policy, *more)
    return ("m", remote, *size, "m", *shifts, *more, *policy)
