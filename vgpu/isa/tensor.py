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
from dataclasses import dataclass, replace

# Bits of an element. "b1" is a word of 32 single bits; "e2m1c" is e2m1 in the middle of a byte, as `.kind::f8f6f4` has
# it, where e3m2 and e2m3 stand in the lower bits of theirs.
BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "s32": 32,
    "e4m3": 8, "e5m2": 8, "e3m2": 8, "e2m3": 8, "e2m1c": 8, "e2m1": 4, "b1": 32,
}  # fmt: skip

# What is multiplied (the type of A, or those of A and B) -> the family of it in counters, Nsight Compute's pipe.
FAMILIES = {
    "f16": ("fp16", "hmma"), "bf16": ("bf16", "hmma"), "tf32": ("tf32", "hmma"), "f64": ("fp64", "dmma"),
    **dict.fromkeys(("e4m3", "e5m2", "e3m2", "e2m3", "e2m1c"), ("fp8", "hmma")), "e2m1": ("fp4", "hmma"),
    "s8": ("int8", "imma"), "u8": ("int8", "imma"), "s4": ("int4", "imma"), "u4": ("int4", "imma"),
    "b1": ("b1", "imma"),
}  # fmt: skip

# (m, n, k) that each type of A is multiplied in.
WMMA_SHAPES = {
    **{key: {(16, 16, 16), (32, 8, 16), (8, 32, 16)} for key in ("f16", "bf16", "s8", "u8")},
    "tf32": {(16, 16, 8)}, "f64": {(8, 8, 4)}, "s4": {(8, 8, 32)}, "u4": {(8, 8, 32)}, "b1": {(8, 8, 128)},
}  # fmt: skip
MMA_SHAPES = {
    "f16": {(16, 8, 8), (16, 8, 16)}, "bf16": {(16, 8, 8), (16, 8, 16)}, "tf32": {(16, 8, 4), (16, 8, 8)},
    **{key: {(8, 8, 16), (16, 8, 16), (16, 8, 32)} for key in ("s8", "u8")},
    **{key: {(8, 8, 32), (16, 8, 32), (16, 8, 64)} for key in ("s4", "u4")},
    **{key: {(16, 8, 16), (16, 8, 32)} for key in ("e4m3", "e5m2")},
    "f64": {(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)}, "b1": {(8, 8, 128), (16, 8, 128), (16, 8, 256)},
}  # fmt: skip
QUARTER_SUMS = (("f16", "f16"), ("f32", "f32"), ("f32", "f16"))  # D and C of m8n8k4 with f16
BYTE_FLOATS = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1c")  # what `.kind::f8f6f4` and `.kind::mxf8f6f4` multiply
# `.kind` of a scaled product -> its shape, the types of A and B, and the scales that a row has, with their types; the
# first number may be left out, but for mxf4nvf4.
SCALED = {
    "kind::mxf8f6f4": ((16, 8, 32), BYTE_FLOATS, ((1, "ue8m0"),)),
    "kind::mxf4": ((16, 8, 64), ("e2m1",), ((2, "ue8m0"),)),
    "kind::mxf4nvf4": ((16, 8, 64), ("e2m1",), ((2, "ue8m0"), (4, "ue8m0"), (4, "ue4m3"))),
}


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
        return self.rows * self.columns * self.bits // (32 * self.width)


@dataclass(frozen=True)
class Product:
    """D = A·B + C: shape and types, and whether integer sums saturate.

    `bitwise`: "xor" or "and" takes the place of multiplying single bits, which are then counted. `scales`: numbers of
    the type `scale_type` that a row of A (a column of B) has, each for an equal part of it. `layouts`: "row" or "col"
    for A and B of `mma.m8n8k4` with f16, which is four products, each of 4 lanes and those 16 further on. `cut`: sums
    keep 14 bits (`base/precision.py`).
    """

    m: int
    n: int
    k: int
    d: str
    a: str
    b: str
    c: str
    saturates: bool = False
    bitwise: str = ""
    scales: int = 0
    scale_type: str = ""
    layouts: tuple[str, ...] = ()
    cut: bool = False

    @property
    def may_cut(self) -> bool:
        """Whether it is of those whose sums Hopper cuts to 14 bits."""
        return FAMILIES[self.a][0] == "fp8" and self.d == "f32" and not self.scales

    @property
    def depth(self) -> int:
        """Elements, or words of bits, that are multiplied for one of D."""
        return self.k // 32 if self.bitwise else self.k

    @property
    def fragments(self) -> tuple[Fragment, Fragment, Fragment, Fragment]:
        """A, B, C, D; those of four products as one."""
        times = 4 if self.layouts else 1
        shape = (times * self.m, self.n, self.k)
        a, b, c, d = (fragment(role, kind, shape) for role, kind in zip("abcd", self.kinds, strict=True))
        b = replace(b, rows=times * b.rows)
        return a, b, c, d

    @property
    def kinds(self) -> tuple[str, str, str, str]:
        """The types of A, B, C, D."""
        return self.a, self.b, self.c, self.d

    @property
    def selectors(self) -> tuple[tuple[range, range], ...]:
        """Which numbers may select a byte and a thread of the scales of A, and of those of B."""
        byte = {0: range(0), 1: range(4), 2: range(0, 4, 2), 4: range(1)}[self.scales]
        return ((byte, range(2)), (byte, range(4))) if self.scales else ()

    @property
    def name(self) -> str:
        """A unique name of the product."""
        ending = "_sat" if self.saturates else ""
        ending += f"_{self.bitwise}" if self.bitwise else f"_{self.scales}_{self.scale_type}" if self.scales else ""
        ending += "_cut" * self.cut
        return "_".join((f"m{self.m}n{self.n}k{self.k}", self.d, self.a, self.b, self.c, *self.layouts)) + ending

    @property
    def operations(self) -> int:
        """Multiplications and additions, as the data sheets count."""
        return 2 * self.m * self.n * self.k * (4 if self.layouts else 1)


def fragment(role: str, kind: str, shape: tuple[int, int, int]) -> Fragment:
    m, n, k = shape
    k //= 32 if kind == "b1" else 1
    rows, columns = {"a": (m, k), "b": (n, k), "c": (m, n), "d": (m, n)}[role]
    return Fragment(role, kind, rows, columns)


def shape_of(modifiers: Sequence[str]) -> tuple[int, int, int] | None:
    """(m, n, k) of a modifier such as m16n8k16."""
    found = next((f for word in modifiers if (f := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", word))), None)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def product(opcode: str, modifiers: tuple[str, ...]) -> Product | None:
    """The product of a `mma` or `wmma.mma`; None for those that the virtual GPU does not have."""
    known = {"mma", "sync", "aligned", "row", "col", "rn", "satfinite", "popc", "xor", "and", "block_scale"}
    shape = shape_of(modifiers)
    kinds = [word for word in modifiers if word in BITS]
    others = set(modifiers) - known - set(kinds) - {f"m{shape[0]}n{shape[1]}k{shape[2]}" if shape else ""}
    layouts = [word for word in modifiers if word in ("row", "col")]
    once = [word for word in modifiers if word not in (*kinds, *layouts)]
    if shape is None or "sync" not in modifiers or len(set(once)) < len(once):
        return None
    if opcode == "wmma" and len(kinds) == 2:
        kinds = [kinds[0], "f16", "f16", kinds[1]]
    if opcode == "mma" and shape == (8, 8, 4) and kinds[1:3] == ["f16"] * 2:
        plain = set(once) == {"sync", "aligned", "m8n8k4"} and len(layouts) == 2 and len(kinds) == 4
        if not plain or (kinds[0], kinds[3]) not in QUARTER_SUMS:
            return None
        return Product(*shape, kinds[0], "f16", "f16", kinds[3], layouts=tuple(layouts))
    if len(kinds) != 4 or (opcode == "mma" and (layouts != ["row", "col"] or kinds[0] != kinds[3])):
        return None
    kind = next((word for word in others if word.startswith("kind::")), None)
    if kind is not None:
        return _of_kind(kind, shape, kinds, set(modifiers) - {"mma"}, others - {kind}) if opcode == "mma" else None
    d, a, b, c = kinds
    operation = set(modifiers) & {"xor", "and", "popc"}
    bitwise = next(iter(operation - {"popc"}), "")
    if others or "block_scale" in modifiers or operation != ({bitwise, "popc"} if a == "b1" else set()):
        return None
    shapes = WMMA_SHAPES if opcode == "wmma" else MMA_SHAPES
    if shape not in shapes.get(a, ()):
        return None
    saturates = "satfinite" in modifiers
    if b not in _partners(a) or not {c, d} <= set(_sums(a)) or (saturates and not _may_saturate(a)):
        return None
    return Product(*shape, d, a, b, c, saturates, bitwise)


def _of_kind(
    kind: str, shape: tuple[int, int, int], kinds: list[str], words: set[str], others: set[str]
) -> Product | None:
    """The product of a `mma` that says `.kind`: of floats in bytes, or with scales."""
    if words & {"satfinite", "popc", "xor", "and", "rn"}:
        return None
    bytewise = kind in ("kind::f8f6f4", "kind::mxf8f6f4")
    d, a, b, c = ("e2m1c" if bytewise and word == "e2m1" else word for word in kinds)
    if kind == "kind::f8f6f4":
        known = {a, b} <= set(BYTE_FLOATS) and shape == (16, 8, 32) and c in _sums(a)
        return Product(*shape, d, a, b, c) if known and not others and "block_scale" not in words else None
    if kind not in SCALED or "block_scale" not in words or c != "f32":
        return None
    size, types, scales = SCALED[kind]
    if shape != size or not {a, b} <= set(types):
        return None
    for number, scale_type in scales:
        unsaid = others == {scale_type} and kind != "kind::mxf4nvf4"
        if unsaid or others == {scale_type, f"scale_vec::{number}X"}:
            return Product(*shape, d, a, b, c, scales=number, scale_type=scale_type)
    return None


def _may_saturate(a: str) -> bool:
    return FAMILIES[a][1] == "imma" and a != "b1"


def _partners(a: str) -> list[str]:
    """The types of B that go with one of A: integers and 8-bit floats mix."""
    family = FAMILIES[a]
    if family[0] == "fp8":
        return ["e4m3", "e5m2"]
    return [b for b in FAMILIES if FAMILIES[b] == family] if family[0] in ("int8", "int4") else [a]


def _sums(a: str) -> tuple[str, ...]:
    """The types of C and D."""
    if FAMILIES[a][1] == "imma":
        return ("s32",)
    if a == "f64":
        return ("f64",)
    return ("f16", "f32") if a in ("f16", *BYTE_FLOATS) else ("f32",)


def products() -> list[Product]:
    """All products of `mma` and `wmma`."""
    found: dict[Product, None] = {}
    for shapes in (WMMA_SHAPES, MMA_SHAPES):
        for a, sizes in shapes.items():
            saturate = (False, True) if _may_saturate(a) else (False,)
            bitwise = ("xor", "and") if a == "b1" else ("",)
            sums = itertools.product(_sums(a), _sums(a)) if shapes is WMMA_SHAPES else ((s, s) for s in _sums(a))
            combinations = itertools.product(sorted(sizes), _partners(a), sums, saturate, bitwise)
            found |= {
                Product(*shape, d, a, b, c, sat, operation): None for shape, b, (d, c), sat, operation in combinations
            }
    for (d, c), a_layout, b_layout in itertools.product(QUARTER_SUMS, ("row", "col"), ("row", "col")):
        found[Product(8, 8, 4, d, "f16", "f16", c, layouts=(a_layout, b_layout))] = None
    pairs = list(itertools.product(BYTE_FLOATS, BYTE_FLOATS))
    found |= {Product(16, 8, 32, d, a, b, d): None for a, b in pairs for d in ("f16", "f32")}
    for shape, types, scales in SCALED.values():
        scaled = itertools.product(types, types, scales)
        found |= {Product(*shape, "f32", a, b, "f32", False, "", *scale): None for a, b, scale in scaled}
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
    def unit(self) -> int:
        """Bits of what distances in memory count: of an element."""
        return 1 if self.fragment.type == "b1" else self.fragment.bits

    @property
    def extent(self) -> int:
        """Contiguous elements in memory."""
        lines = self.fragment.columns if self.along else self.fragment.rows
        return lines * self.fragment.bits // self.unit

    @property
    def alignment(self) -> int:
        """The alignment of the matrix's address in bytes: 32, or the contiguous bytes where they are fewer.

        "CUDA C++ Programming Guide", section on warp matrix functions; the lesser ones are those of "PTX ISA".
        """
        return min(32, self.extent * self.unit // 8)

    @property
    def grain(self) -> int:
        """The alignment in bytes of the distance between rows (columns)."""
        return min(16, self.alignment)


def move(modifiers: tuple[str, ...]) -> Move | None:
    """The move of a `wmma.load` or `wmma.store`; None for types and shapes the virtual GPU does not have."""
    role, shape = modifiers[1], shape_of(modifiers)
    kind, order = modifiers[-1], next((word for word in modifiers if word in ("row", "col")), None)
    if kind not in (*WMMA_SHAPES, "f32", "s32") or shape is None or order is None:
        return None
    along = (order == "col") == (role == "b")
    if kind in ("s4", "u4", "b1") and not along:
        return None
    found = fragment(role, kind, shape)
    if found.rows % 8 or found.columns % found.piece:
        return None
    return Move(found, along)


@dataclass(frozen=True)
class Rows:
    """`ldmatrix` or `stmatrix`: matrices whose rows of 16 bytes lie where one lane each says.

    `rows` and `registers` (a lane's) are those of one matrix; `transposed`: bits of the elements whose rows and columns
    are exchanged on the way, 0 if they aren't; `packed`: bits of elements that stand side by side at the beginning of
    a row in memory, and each in the lower bits of a byte in registers, 0 if they don't.
    """

    rows: int = 8
    registers: int = 1
    transposed: int = 0
    packed: int = 0
    matrices: int = 1


_PACKED = {"b6x16_p32": 6, "b4x16_p64": 4}
_EIGHTS = {"m8n8 b16": Rows(), "m8n8 trans b16": Rows(transposed=16)}
_ROWS = {
    "ldmatrix": {
        **_EIGHTS, "m16n16 trans b8": Rows(16, 2, 8),
        **{f"m8n16 b8x16 {word}": Rows(packed=bits) for word, bits in _PACKED.items()},
        **{f"m16n16 trans b8x16 {word}": Rows(16, 2, 8, bits) for word, bits in _PACKED.items()},
    },
    "stmatrix": {**_EIGHTS, "m16n8 trans b8": Rows(transposed=8)},
}  # fmt: skip


def rows(opcode: str, modifiers: tuple[str, ...]) -> Rows | None:
    """What a `ldmatrix` or `stmatrix` moves; None for forms that PTX doesn't have."""
    numbers = [int(word[1:]) for word in modifiers if word in ("x1", "x2", "x4")]
    words = set(modifiers) - {"sync", "aligned", "shared", "shared::cta", "x1", "x2", "x4"}
    found = next((one for form, one in _ROWS[opcode].items() if set(form.split()) == words), None)
    if found is None or len(numbers) != 1 or numbers[0] * found.rows > 32 or len(set(modifiers)) < len(modifiers):
        return None
    return replace(found, matrices=numbers[0])
