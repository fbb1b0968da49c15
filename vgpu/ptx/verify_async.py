"""The operands of asynchronous copies and mbarrier instructions, form by form (see `operand_shapes`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from vgpu.ptx import Instruction
from vgpu.ptx.operand_shapes import Words, wrong_operands

_STATE = ("D64", "m")
# The first word of `mbarrier` -> the operands.
_BARRIER = {
    "init": ("m", "s32"), "inval": ("m",), "arrive": _STATE, "arrive_drop": _STATE, "expect_tx": ("m", "s32"),
    "complete_tx": ("m", "s32"), "test_wait": ("q", "m"), "try_wait": ("q", "m"), "pending_count": ("d32", "s64"),
}  # fmt: skip
ROW_MODES = {"tile::gather4", "tile::scatter4"}
"""Modes of tensor copies that move four rows: a coordinate along the row, then the number of each."""
_RANKS = {f"{rank}d": rank for rank in range(1, 6)}

# The forms of `cp` and `mbarrier`: a name, then words, each one of several, which `|` parts; those in brackets may be
# missing. As for ptxas, their order is free, but for the space that is written standing before the one that is read.
_RANK, _DONE, _HINT = "|".join(_RANKS), "mbarrier::complete_tx::bytes", "[L2::cache_hint]"
_LOADS, _STORES = "[tile|tile::gather4|im2col|im2col::w|im2col::w::128]", "[tile|tile::scatter4|im2col_no_offs]"
_OPERATION, _PAIRS = "add|min|max|inc|dec|and|or|xor", "[cta_group::1|cta_group::2]"
_NEAR, _ANY, _SCOPE = "[shared|shared::cta] b64", "[shared|shared::cta|shared::cluster] b64", "[cta|cluster]"
_FORMS = tuple((tuple(name.split(".")), tuple(words.split())) for name, words in (
    ("cp.async", "ca|cg shared|shared::cta global [L2::64B|L2::128B|L2::256B] [L2::cache_hint]"),
    ("cp.async.commit_group", ""),
    ("cp.async.wait_group", ""),
    ("cp.async.wait_all", ""),
    ("cp.async.mbarrier.arrive", f"[noinc] {_NEAR}"),
    ("cp.async.bulk", f"shared::cluster global {_DONE} [multicast::cluster] {_HINT}"),
    ("cp.async.bulk", f"shared::cta global {_DONE} {_HINT}"),
    ("cp.async.bulk", f"shared::cluster shared::cta {_DONE}"),
    ("cp.async.bulk", f"global shared::cta bulk_group {_HINT} [cp_mask]"),
    ("cp.async.bulk.prefetch", f"L2 global {_HINT}"),
    ("cp.async.bulk.commit_group", ""),
    ("cp.async.bulk.wait_group", "[read]"),
    ("cp.async.bulk.tensor", f"{_RANK} shared::cluster global {_LOADS} {_DONE} [multicast::cluster] {_PAIRS} {_HINT}"),
    ("cp.async.bulk.tensor", f"{_RANK} shared::cta global {_LOADS} {_DONE} {_PAIRS} {_HINT}"),
    ("cp.async.bulk.tensor", f"{_RANK} global shared::cta {_STORES} bulk_group {_HINT}"),
    ("cp.async.bulk.prefetch.tensor", f"{_RANK} L2 global {_LOADS} {_HINT}"),
    ("cp.reduce.async.bulk", f"shared::cluster shared::cta {_DONE} {_OPERATION} u32|s32|u64|b32"),
    ("cp.reduce.async.bulk", f"global shared::cta bulk_group {_HINT} {_OPERATION} [noftz] "
     "u32|s32|u64|s64|b32|b64|f16|bf16|f32|f64"),
    ("cp.reduce.async.bulk.tensor", f"{_RANK} global shared::cta {_STORES} bulk_group {_HINT} {_OPERATION}"),
    *((f"mbarrier.{name}", _NEAR) for name in ("init", "inval")),
    *((f"mbarrier.{name}{more}", f"[release|relaxed] {_SCOPE} {_ANY}")
      for name in ("arrive", "arrive_drop") for more in ("", ".expect_tx")),
    *((f"mbarrier.{name}", f"noComplete [release] [cta] {_NEAR}") for name in ("arrive", "arrive_drop")),
    *((f"mbarrier.{name}", f"[relaxed] {_SCOPE} {_ANY}") for name in ("expect_tx", "complete_tx")),
    *((f"mbarrier.{name}{more}", f"[acquire|relaxed] {_SCOPE} {_NEAR}")
      for name in ("test_wait", "try_wait") for more in ("", ".parity")),
    ("mbarrier.pending_count", "b64"),
))  # fmt: skip


def wrong_async(instruction: Instruction, registers: Mapping[str, str]) -> str | None:
    """What is wrong with the operands of `cp` or `mbarrier`, in words; None if they are right."""
    wrong = _wrong_words(instruction.opcode, instruction.modifiers)
    if wrong:
        return wrong
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
        rank, rows = next(_RANKS[word] for word in words if word in _RANKS), ROW_MODES & set(words)
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


@lru_cache(maxsize=1024)
def _wrong_words(opcode: str, words: Words) -> str | None:
    """What words an instruction has that its nearest form hasn't, or lacks; None where a form has them all."""
    words = (opcode, *words)
    named = [form for form in _FORMS if words[: len(form[0])] == form[0]]
    if not named:
        return "is no instruction of PTX"
    longest = max(len(name) for name, _ in named)
    found = min((_misfits(form, words[longest:]) for name, form in named if len(name) == longest), key=len)
    return found[0] if found else None


def _misfits(form: Words, words: Words) -> list[str]:
    left, missing, spaces = list(range(len(words))), [], []
    for one in form:
        choice = one.strip("[]").split("|")
        taken = next((number for number in left if words[number] in choice), None)
        if taken is not None:
            left.remove(taken)
            spaces += [taken] * (words[taken].partition("::")[0] in ("shared", "global"))
        elif one[0] != "[":
            missing.append(f"lacks {' or '.join(f'.{word}' for word in choice)}")
    more = [f"has .{words[number]}, which this instruction doesn't have" for number in left]
    return more + missing + ["copies between these spaces in the other direction"] * (spaces != sorted(spaces))
