"""The shapes and types of tensor-core instructions (`wmma`, `mma`, `ldmatrix` …), from their modifiers.

A matrix is distributed over a warp in pieces of 8 rows: in every 32-bit register (64-bit for f64) lane 4g+t holds the
neighbouring elements that begin at column t·e of row g, e being the elements a register has room for. The pieces of a
larger matrix follow one another down the rows first, then along the columns; B lies transposed. For `mma` that is what
NVIDIA's "PTX ISA" prescribes (sections "Matrix fragments for mma.m16n8k16" and following); for `wmma` NVIDIA leaves it
open, and the same rule is used here. Where a fragment has more registers than its matrix fills, they repeat it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "s32": 32,
    "e4m3": 8, "e5m2": 8,
}  # fmt: skip

# What is multiplied (the type of A, or those of A and B) -> the family of it in counters, Nsight Compute's pipe.
FAMILIES = {
    "f16": ("fp16", "hmma"), "bf16": ("bf16", "hmma"), "tf32": ("tf32", "hmma"), "f64": ("fp64", "dmma"),
    "e4m3": ("fp8", "hmma"), "e5m2": ("fp8", "hmma"),
    "s8": ("int8", "imma"), "u8": ("int8", "imma"), "s4": ("int4", "imma"), "u4": ("int4", "imma"),
}  # fmt: skip

# (m, n, k) that each type of A is multiplied in.
WMMA_SHAPES = {
    **{key: {(16, 16, 16), (32, 8, 16), (8, 32, 16)} for key in ("f16", "bf16", "s8", "u8")},
    "tf32": {(16, 16, 8)}, "f64": {(8, 8, 4)}, "s4": {(8, 8, 32)}, "u4": {(8, 8, 32)},
}  # fmt: skip
MMA_SHAPES = {
    "f16": {(16, 8, 8), (16, 8, 16)}, "bf16": {(16, 8, 8), (16, 8, 16)}, "tf32": {(16, 8, 4), (16, 8, 8)},
    **{key: {(8, 8, 16), (16, 8, 16), (16, 8, 32)} for key in ("s8", "u8")},
    **{key: {(8, 8, 32), (16, 8, 32), (16, 8, 64)} for key in ("s4", "u4")},
    **{key: {(16, 8, 16), (16, 8, 32)} for key in ("e4m3", "e5m2")},
    "f64": {(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)},
}  # fmt: skip


@dataclass(frozen=True)
class Fragment:
    """A matrix distributed over a warp: its role (a, b, c or d), type, rows and columns in registers.

    B is transposed: its rows are the columns of the product.
    """

    role: str
    type: str
    rows: int
    columns: int

    @property
    def bits(self) -> int:
        return BITS[self.type]

    @property
    def width(self) -> int:
        """Bits of a register."""
        return max(32, self.bits)

    @property
    def each(self) -> int:
        """Elements a register holds."""
        return self.width // self.bits

    @property
    def accumulates(self) -> bool:
        """C and D: a piece has 8 columns, two elements a lane, so those of 32 bits and more take two registers."""
        return self.role in "cd"

    @property
    def piece(self) -> int:
        """Columns of one piece of 8 rows."""
        return 8 if self.accumulates else 4 * self.each

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """The first row and column of each piece, in the order in which registers hold them."""
        rows, columns = range(0, self.rows, 8), range(0, self.columns, self.piece)
        if self.role == "b":  # the columns of the product last
            return tuple((row, column) for row in rows for column in columns)
        return tuple((row, column) for column in columns for row in rows)

    @property
    def in_piece(self) -> int:
        """Registers of one piece."""
        return 2 if self.accumulates and self.bits >= 32 else 1

    @property
    def registers(self) -> int:
        """Registers that hold different elements."""
        return len(self.pieces) * self.in_piece


@dataclass(frozen=True)
class Product:
    """D = A·B + C: shape and types, and whether integer sums saturate."""

    m: int
    n: int
    k: int
    d: str
    a: str
    b: str
    c: str
    saturates: bool

    @property
    def fragments(self) -> tuple[Fragment, Fragment, Fragment, Fragment]:
        """A, B, C, D."""
        return (
            fragment("a", self.a, (self.m, self.n, self.k)), fragment("b", self.b, (self.m, self.n, self.k)),
            fragment("c", self.c, (self.m, self.n, self.k)), fragment("d", self.d, (self.m, self.n, self.k)),
        )  # fmt: skip

    @property
    def name(self) -> str:
        """A unique name of the product."""
        ending = "_sat" if self.saturates else ""
        return f"m{self.m}n{self.n}k{self.k}_{self.d}_{self.a}_{self.b}_{self.c}{ending}"

    @property
    def operations(self) -> int:
        """Multiplications and additions, as the data sheets count."""
        return 2 * self.m * self.n * self.k


def fragment(role: str, kind: str, shape: tuple[int, int, int]) -> Fragment:
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (n, k), "c": (m, n), "d": (m, n)}[role]
    return Fragment(role, kind, rows, columns)


def shape_of(modifiers: Sequence[str]) -> tuple[int, int, int] | None:
    """(m, n, k) of a modifier such as m16n8k16."""
    found = next((f for word in modifiers if (f := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", word))), None)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def product(opcode: str, modifiers: tuple[str, ...]) -> Product | None:
    """The product of a `mma` or `wmma.mma`; None for those that the virtual GPU does not have."""
    known = {"mma", "sync", "aligned", "row", "col", "rn", "satfinite"}
    shape = shape_of(modifiers)
    kinds = [word for word in modifiers if word in BITS]
    rest = set(modifiers) - known - set(kinds) - {f"m{shape[0]}n{shape[1]}k{shape[2]}" if shape else ""}
    if shape is None or rest or "sync" not in modifiers:
        return None
    if opcode == "wmma" and len(kinds) == 2:
        kinds = [kinds[0], "f16", "f16", kinds[1]]
    if len(kinds) != 4:
        return None
    d, a, b, c = kinds
    shapes = WMMA_SHAPES if opcode == "wmma" else MMA_SHAPES
    layouts = [word for word in modifiers if word in ("row", "col")]
    if shape not in shapes.get(a, ()) or (opcode == "mma" and layouts != ["row", "col"]):
        return None
    saturates = "satfinite" in modifiers
    if b not in _partners(a) or not {c, d} <= set(_sums(a)) or (saturates and FAMILIES[a][1] != "imma"):
        return None
    return Product(*shape, d, a, b, c, saturates)


def _partners(a: str) -> list[str]:
    """The types of B that go with one of A: integers and 8-bit floats mix."""
    family = FAMILIES[a]
    return [b for b in FAMILIES if FAMILIES[b] == family] if family[0] in ("int8", "int4", "fp8") else [a]


def _sums(a: str) -> tuple[str, ...]:
    """The types of C and D."""
    if FAMILIES[a][1] == "imma":
        return ("s32",)
    if a == "f64":
        return ("f64",)
    return ("f16", "f32") if a in ("f16", "e4m3", "e5m2") else ("f32",)


def products() -> list[Product]:
    """All products of `mma` and `wmma`."""
    found: dict[Product, None] = {}
    for shapes in (WMMA_SHAPES, MMA_SHAPES):
        for a, sizes in shapes.items():
            saturate = (False, True) if FAMILIES[a][1] == "imma" else (False,)
            combinations = itertools.product(sorted(sizes), _partners(a), _sums(a), _sums(a), saturate)
            found |= {Product(*shape, d, a, b, c, saturates): None for shape, b, c, d, saturates in combinations}
    return list(found)


def counts(opcode: str, modifiers: tuple[str, ...]) -> dict[str, int]:
    """The counts that one execution of an instruction by a warp adds, by the counters' keys."""
    found = product(opcode, modifiers) if "mma" in (opcode, *modifiers) else None
    if found is None:
        return {}
    family, pipe = FAMILIES[found.a]
    word = "ops" if pipe == "imma" else "flops"
    return {"tensor_instructions": 1, f"tensor_{pipe}": 1, f"{word}_tensor_{family}": found.operations}


@dataclass(frozen=True)
class Move:
    """`wmma.load` or `wmma.store`: the fragment, and whether its rows (as registers hold them) are rows of memory."""

    fragment: Fragment
    along: bool

    @property
    def extent(self) -> int:
        """Contiguous elements in memory."""
        return self.fragment.columns if self.along else self.fragment.rows

    @property
    def alignment(self) -> int:
        """The alignment of the matrix's address in bytes: 32, or the contiguous bytes where they are fewer.

        "CUDA C++ Programming Guide", section on warp matrix functions; the lesser ones are those of "PTX ISA".
        """
        return min(32, self.extent * self.fragment.bits // 8)

    @property
    def grain(self) -> int:
        """The alignment in bytes of the distance between rows (columns)."""
        return min(16, self.alignment)


def move(modifiers: tuple[str, ...]) -> Move | None:
    """The move of a `wmma.load` or `wmma.store`; None for types and shapes the virtual GPU does not have."""
    role, shape = modifiers[1], shape_of(modifiers)
    kind, order = modifiers[-1], next((word for word in modifiers if word in ("row", "col")), None)
    if kind not in BITS or shape is None or order is None:
        return None
    along = (order == "col") == (role == "b")
    if BITS[kind] < 8 and not along:
        return None
    found = fragment(role, kind, shape)
    if found.rows % 8 or found.columns % found.piece:
        return None
    return Move(found, along)


def matrices(modifiers: tuple[str, ...]) -> int | None:
    """How many 8×8 matrices of 16-bit elements a `ldmatrix` or `stmatrix` moves; None for other forms."""
    if "m8n8" not in modifiers or modifiers[-1] != "b16":
        return None
    return next((int(word[1:]) for word in modifiers if word in ("x1", "x2", "x4")), None)
