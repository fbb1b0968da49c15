"""The parts of the instruction table: types, the form of an instruction, and a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# Comparisons of PTX → predicates of LLVM; `?` stands for s or u.
INTEGER_COMPARE = {
    "eq": "eq", "ne": "ne", "lt": "?lt", "le": "?le", "gt": "?gt", "ge": "?ge",
    "lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge",
}  # fmt: skip
FLOAT_COMPARE = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "equ": "ueq", "neu": "une",
    "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "num": "ord", "nan": "uno",
}  # fmt: skip


@dataclass(frozen=True)
class Type:
    """A PTX type: bits, kind (u, s, b integers; f float; h 16-bit float; p predicate) and NumPy dtype.

    Functions for f16 and bf16 take float32 (`dtype`), and their results are rounded to 16 bits.
    """

    name: str
    bits: int
    kind: str
    dtype: np.dtype

    @property
    def is_float(self) -> bool:
        return self.kind in "fh"

    @property
    def limits(self) -> tuple[int, int]:
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)


_ROWS: list[tuple[str, int, str, str]] = [
    ("pred", 1, "p", "?"),
    *[(f"{kind}{bits}", bits, kind, f"{'i' if kind == 's' else 'u'}{bits // 8}")
      for kind in "bus" for bits in (8, 16, 32, 64)],
    ("f16", 16, "h", "f4"), ("bf16", 16, "h", "f4"),
    ("f32", 32, "f", "f4"), ("f64", 64, "f", "f8"),
    ("tf32", 32, "f", "f4"),
]  # fmt: skip
TYPES: dict[str, Type] = {name: Type(name, bits, kind, np.dtype(dtype)) for name, bits, kind, dtype in _ROWS}
PACKED = {"f16x2": "f16", "bf16x2": "bf16", "u16x2": "u16", "s16x2": "s16", "f32x2": "f32"}


@dataclass(frozen=True)
class Form:
    """The form of an instruction: its type `t`, the type `s` of its sources, and its modifiers."""

    t: Type
    s: Type
    mods: tuple[str, ...]

    @property
    def wide(self) -> Type:
        return TYPES[f"{self.t.kind}{self.t.bits * 2}"]

    @property
    def integer_of_nan(self) -> int:
        """The bits that a conversion to an integer makes of NaN ("PTX ISA", cvt): the top one where doubles or 64 bits
        take part, none otherwise (ptxas marks these NTZ, NaN to zero)."""
        return 1 << (self.t.bits - 1) if self.s.bits == 64 or self.t.bits == 64 else 0

    @property
    def has_comparison(self) -> bool:
        """Whether one of the modifiers is a comparison that the type of the sources has."""
        table = FLOAT_COMPARE if self.s.is_float else INTEGER_COMPARE
        return any(word in table for word in self.mods)

    @property
    def compare(self) -> str:
        return next(word for word in self.mods if word in FLOAT_COMPARE or word in INTEGER_COMPARE)

    def pick(self, choices: Mapping[str, Any], default: Any = None) -> Any:
        """The entry of `choices` that one of the modifiers names."""
        return next((choices[word] for word in self.mods if word in choices), default)


@dataclass(frozen=True)
class Op:
    """A row: opcode, required modifiers, types, signature, and its functions for NumPy and LLVM.

    `signature` is "outputs=inputs": t the instruction's type, s the type of its sources (where it names two), w twice
    as wide, p a predicate, u32 as it says, c the carry flag; a trailing `?` marks an operand that may be missing.
    `llvm` is a function of (form, values), the name of an LLVM instruction, or "@" and an intrinsic.
    `forms` spell the instruction for the tests, `{t}` standing for each type. `flops` counts as Nsight does.
    """

    opcode: str
    needs: tuple[str, ...]
    types: tuple[str, ...]
    signature: str
    numpy: Callable[..., Any]
    llvm: Callable[..., Any] | str
    forms: tuple[str, ...]
    flops: int = 0
    exact: bool = True  # False: results may differ from correct rounding, as the .approx forms do on a GPU
    form_types: tuple[tuple[str, str], ...] | None = None  # pairs (t, s) for instructions that name two types
    directed: tuple[str, ...] = ()  # types for which .rz, .rm and .rp are known

    @property
    def name(self) -> str:
        return ".".join((self.opcode, *self.needs))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.signature.split("=")[0].split(","))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        found = self.signature.split("=")[1]
        return tuple(found.split(",")) if found else ()


def types(text: str) -> tuple[str, ...]:
    return tuple(text.split())


U, S = types("u16 u32 u64"), types("s16 s32 s64")
INT, BIG, BITS = U + S, types("u32 s32 u64 s64"), types("b16 b32 b64")
ANY_INT = INT + types("u8 s8")
F = types("f32 f64")
PAIRS, SINGLES = types("u16x2 s16x2"), types("f32x2")
HALF = types("f16 bf16 f16x2 bf16x2")
NUMBERS = INT + types("b16 b32 b64") + F + types("f16 bf16")

INT_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
FLOAT_COMPARISONS = (*INT_COMPARISONS, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
CONVERSIONS = tuple(
    (t, s) for t in (*ANY_INT, *F, "f16", "bf16") for s in (*ANY_INT, *F, "f16", "bf16") if "bf16" not in (t, s)
)  # fmt: skip


def row(
    name: str,
    kinds: Sequence[str],
    signature: str,
    numpy: Callable[..., Any],
    llvm: Callable[..., Any] | str,
    forms: str | tuple[str, ...] | None = None,
    **more: Any,
) -> Op:
    """A row of the table; `forms` may be one string."""
    opcode, *needs = name.split(".")
    forms = tuple(forms.split()) if isinstance(forms, str) else forms
    return Op(opcode, tuple(needs), tuple(kinds), signature, numpy, llvm, forms or (f"{name}.{{t}}",), **more)
