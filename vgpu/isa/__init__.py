"""The table of PTX instructions: operands, meaning in NumPy, lowering to LLVM.

One row an instruction, in `table`; `types` defines a row. Meanings follow NVIDIA's "PTX ISA" manual,
section "Instruction Set".

Instructions that move data between lanes or to memory, or that change the flow of control, have no arithmetic
meaning; `KINDS` says only what kind they are, and both engines have one function for each kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from vgpu.isa.directed import WORDS as DIRECTED
from vgpu.isa.in_llvm import FLOAT_COMPARE, INTEGER_COMPARE
from vgpu.isa.table import TABLE
from vgpu.isa.types import (
    ANY_INT,
    CONVERSIONS,
    FLOAT_COMPARISONS,
    INT_COMPARISONS,
    PACKED,
    TYPES,
    Form,
    Op,
    Type,
)

__all__ = [
    "ANY_INT", "CONVERSIONS", "FLOAT_COMPARISONS", "INT_COMPARISONS", "KINDS", "MADE", "PACKED", "TABLE", "TYPES",
    "Form", "Match", "Op", "Type", "converts", "match", "operand_type", "register_type",
]  # fmt: skip

# Instructions without arithmetic: opcode -> kind, the name of the function that both engines have for it.
KINDS: dict[str, str] = {
    "ld": "load", "ldu": "load", "st": "store", "atom": "atomic", "red": "atomic", "cvta": "address",
    "isspacep": "inspect", "bra": "branch", "brx": "indexed_branch",
    "ret": "leave", "exit": "leave", "trap": "trap", "brkpt": "trap",
    "call": "call", "bar": "barrier", "barrier": "barrier", "membar": "fence", "fence": "fence",
    "shfl": "shuffle", "vote": "vote", "activemask": "vote", "match": "match", "redux": "redux", "elect": "elect",
    "nanosleep": "fence", "prefetch": "fence", "prefetchu": "fence", "discard": "fence", "applypriority": "fence",
    "pmevent": "fence", "griddepcontrol": "fence", "setmaxnreg": "fence",
    "inlined": "fence",  # the remains of a call and its return after inlining
    **dict.fromkeys(("wmma", "mma", "wgmma", "ldmatrix", "stmatrix", "movmatrix"), "tensor"),
    "tcgen05": "tensor_memory",
    "alloca": "unsupported", "cp": "copy", "createpolicy": "policy", "mbarrier": "mbarrier",
    "tex": "texture", "tld4": "texture", "suld": "surface", "sust": "surface",
    "txq": "texture_query", "suq": "texture_query", "mapa": "cluster", "getctarank": "cluster",
    "tensormap": "tensor_map",  # written out before kernels are compiled: see ptx/tensor_maps.py
}  # fmt: skip

MADE = (
    "inlined",
    "invoke",
    "return",
    "frames",
    "cluster.wait",
)  # opcodes that lowering makes

_BY_OPCODE: dict[str, list[Op]] = {}
for _op in TABLE:
    _BY_OPCODE.setdefault(_op.opcode, []).append(_op)


@dataclass(frozen=True)
class Match:
    """The row for an instruction, its form, and whether it works on two values packed in one register."""

    op: Op
    form: Form
    packed: bool


# Modifiers that change what a row computes, or that say what it does anyway. An instruction with any other word is not
# in the table: what is not understood may not be passed over in silence.
_ANYWHERE = {
    *DIRECTED, "rn", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu", "l", "r", "wrap", "clamp", "shiftamt", "lo",
    "hi", "wide", "and", "or", "xor", *FLOAT_COMPARE, *INTEGER_COMPARE, "NaN", "satfinite", "rna",
    "finite", "infinite", "number", "notanumber", "normal", "subnormal",
}  # fmt: skip
_ONLY = {  # words that few opcodes know
    "relu": {"cvt", "fma", "min", "max"}, "NaN": {"min", "max"}, "xorsign": {"min", "max"}, "abs": {"min", "max"},
    "satfinite": {"cvt"}, "rna": {"cvt"}, **{word: {"prmt"} for word in ("b4e", "f4e", "rc8", "ecl", "ecr", "rc16")},
    "add": {"vabsdiff2", "vabsdiff4", "vset2", "vset4"}, "l": {"shf"}, "r": {"shf"},
    "and": {"set", "setp"}, "or": {"set", "setp"}, "xor": {"set", "setp"},
    "piece": {"mov", "setp"},  # no word of PTX: a part of a move or branch that was divided into several
}  # fmt: skip


def _understood(op: Op, word: str, t: str) -> bool:
    if word in op.needs or word in TYPES or word in PACKED:
        return True
    if word == "sat" and op.opcode != "cvt" and not (TYPES[PACKED.get(t, t)].is_float or op.opcode[0] == "v"):
        return False
    if word in ("satfinite", "rna") and t not in ("f16", "bf16", "tf32")[2 * (word == "rna") :]:
        return False
    return op.opcode in _ONLY[word] if word in _ONLY else word in _ANYWHERE


def converts(words: Iterable[str]) -> bool:
    """Whether a conversion knows all of these words."""
    return all(_understood(_BY_OPCODE["cvt"][0], word, "f16") for word in words)


@lru_cache(maxsize=4096)
def match(opcode: str, modifiers: tuple[str, ...]) -> Match | None:
    """The row that an instruction means, or None where the table has none."""
    candidates = _BY_OPCODE.get(opcode, ())
    named = [word for word in modifiers if word in TYPES or word in PACKED]
    if not named or not candidates:
        return None
    # `cvt.f32.s32`, `set.lt.u32.f32` and `slct.f32.s32` name the result's type first, then the source's.
    t = named[0]
    source = named[-1]
    if opcode == "set" and source in PACKED and t in ("u32", "s32"):
        # `set.gt.u32.f16x2` gives two masks of 16 bits.
        return Match(candidates[0], Form(TYPES["u16"], TYPES[PACKED[source]], tuple(modifiers)), True)
    fits = [op for op in candidates if t in op.types and set(op.needs) <= set(modifiers)]
    if not fits:
        return None
    op = max(fits, key=lambda op: len(op.needs))
    if not all(_understood(op, word, t) for word in modifiers):
        return None
    if (
        TYPES[PACKED.get(t, t)].is_float
        and set(modifiers) & set(DIRECTED)
        and opcode != "cvt"
        and PACKED.get(t, t) not in op.directed
    ):
        return None
    packed = t in PACKED
    return Match(op, Form(TYPES[PACKED.get(t, t)], TYPES[PACKED.get(source, source)], tuple(modifiers)), packed)


def operand_type(symbol: str, form: Form) -> Type:
    """The type of one operand of a signature."""
    symbol = symbol.rstrip("?")
    if symbol in _FROM_FORM:
        return _FROM_FORM[symbol](form)
    return _FIXED.get(symbol) or TYPES[symbol]


_FROM_FORM = {"t": lambda form: form.t, "s": lambda form: form.s, "w": lambda form: form.wide}


def register_type(name: str) -> Type:
    """The type of a whole register of this type: plain bits for packed ones."""
    return TYPES[f"b{2 * TYPES[PACKED[name]].bits}"] if name in PACKED else TYPES[name]


_FIXED = {"p": TYPES["pred"], "c": TYPES["pred"], "imm": TYPES["b32"]}
