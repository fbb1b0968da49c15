"""Products of a warpgroup (`wgmma.mma_async`): shapes, types, descriptors of matrices in shared memory.

A warpgroup is four warps, the first a multiple of 4. Warp w of it has rows 16w to 16w+15 of A and D in its registers,
distributed as those of `mma.m16n8k…` are (`isa.tensor`), so that each warp computes its 16 rows by itself.

A descriptor (64 bits) says where a matrix lies in shared memory: addresses and distances are kept without their low
four bits. Rows below are those of A, or the columns of B; 16 bytes are a "chunk"; S is 1, 2, 4 or 8 chunks: 16 bytes
(no swizzling), or the 32, 64 or 128 bytes of the swizzling mode.

    K-major, S = 1      8 rows of one chunk, 16 bytes apart; the next chunk at `leading`, the next 8 rows at `stride`
    K-major, S > 1      8 rows S chunks apart; the next chunk follows, the next 8 rows at `stride`
    MN-major, S = 1     8 k, a chunk of 8 rows each, 16 bytes apart; the next 8 k at `leading`, 8 rows at `stride`
    MN-major, S > 1     8 k, S chunks each; the next 8 k at `stride`, the next S chunks of rows at `leading`

Swizzling then exchanges chunks: of an address's bits the number of its chunk (from bit 4 on) is combined by xor with
that of its 128-byte line (from bit 7 on), of which `base` is subtracted. Source: NVIDIA "PTX ISA", asynchronous
warpgroup-level matrix instructions, register fragments and shared-memory matrix layouts; CUTLASS's
`mma_traits_sm90_gmma.hpp` has the same layouts as functions of coordinates. The manual says of the base offset only
`(address where the pattern starts >> 7) & 7`; that it is subtracted is our reading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vgpu.isa.tensor import Fragment, shape_of

GROUP = 4  # warps of a warpgroup
ROWS = 16  # of a warp's part
CHUNK = 16  # bytes
K_BYTES = 32  # of a row of A or B: two chunks

# Field of a descriptor -> its first bit, how many it has, and how far its number is shifted.
DESCRIPTOR = {
    "start": (0, 14, 4),
    "leading": (16, 14, 4),
    "stride": (32, 14, 4),
    "base": (49, 3, 0),
    "mode": (62, 2, 0),
}
CHUNKS = (1, 8, 4, 2)  # by mode: S above

FLOATS, INTEGERS = range(8, 257, 8), (8, 16, 24, *range(32, 257, 16))
# Type of A -> k, and the types of D; the values of n are those of floats or of integers.
_TYPES = {
    "f16": (16, ("f16", "f32")), "bf16": (16, ("f32",)), "tf32": (8, ("f32",)),
    "e4m3": (32, ("f16", "f32")), "e5m2": (32, ("f16", "f32")), "s8": (32, ("s32",)), "u8": (32, ("s32",)),
    "b1": (256, ("s32",)),
}  # fmt: skip
_MIXED = ({"e4m3", "e5m2"}, {"s8", "u8"})  # types that A and B may mix
FAMILIES = {
    "f16": "flops_tensor_fp16", "bf16": "flops_tensor_bf16", "tf32": "flops_tensor_tf32",
    "e4m3": "flops_tensor_fp8", "e5m2": "flops_tensor_fp8", "s8": "ops_tensor_int8", "u8": "ops_tensor_int8",
    "b1": "ops_tensor_b1",
}  # fmt: skip
WAITS = {"fence": (), "commit_group": (), "wait_group": ("u",)}  # word -> operands


@dataclass(frozen=True)
class GroupProduct:
    """One warp's part of D = A·B + D: 16 rows, n columns."""

    n: int
    k: int
    d: str
    a: str
    b: str
    saturates: bool

    @property
    def whole(self) -> bool:
        """Whether it sums integers."""
        return self.d == "s32"

    @property
    def eight_bit_floats(self) -> bool:
        return self.a in ("e4m3", "e5m2")

    @property
    def elements(self) -> int:
        """The elements of a row: of single bits, words of 32."""
        return self.k // 32 if self.a == "b1" else self.k

    @property
    def a_fragment(self) -> Fragment:
        return Fragment("a", "s32" if self.a == "b1" else self.a, ROWS, self.elements)

    @property
    def d_fragment(self) -> Fragment:
        return Fragment("d", self.d, ROWS, self.n)

    @property
    def turns(self) -> bool:
        """Whether its matrices in shared memory may be MN-major."""
        return self.a in ("f16", "bf16")

    @property
    def name(self) -> str:
        return f"n{self.n}k{self.k}_{self.d}_{self.a}_{self.b}{'_sat' if self.saturates else ''}"


@dataclass(frozen=True)
class Variant:
    """A product as its operands make it: where A is, which matrices are MN-major, whether one of them is negated."""

    product: GroupProduct
    a_in_registers: bool
    a_turned: bool
    b_turned: bool
    negated: bool

    @property
    def name(self) -> str:
        flags = zip("rabn", (self.a_in_registers, self.a_turned, self.b_turned, self.negated), strict=True)
        return f"{self.product.name}_{''.join(letter for letter, is_set in flags if is_set)}"


@lru_cache(maxsize=1024)
def product(modifiers: tuple[str, ...]) -> GroupProduct | None:
    """The product of a `wgmma.mma_async`; None for those that the virtual GPU does not have."""
    shape = shape_of(modifiers)
    kinds = [word for word in modifiers if word in _TYPES or word in ("f32", "s32")]
    if shape is None or len(kinds) != 3 or modifiers[:1] != ("mma_async",):
        return None
    known = {*kinds, "m{}n{}k{}".format(*shape)}
    rest = [word for word in modifiers[1:] if word not in known]
    m, n, k = shape
    d, a, b = kinds
    return _checked(m, n, k, d, a, b, rest) if len(rest) + 5 == len(modifiers) else None


def _checked(m: int, n: int, k: int, d: str, a: str, b: str, rest: Sequence[str]) -> GroupProduct | None:
    size, sums = _TYPES.get(a, (0, ()))
    pair = a == b or any({a, b} <= mixed for mixed in _MIXED)
    if m != 4 * ROWS or k != size or d not in sums or not pair or n not in (INTEGERS if d == "s32" else FLOATS):
        return None
    more = [["and", "popc"]] if a == "b1" else [[], ["satfinite"]] if d == "s32" else [[]]
    if sorted(rest) not in [sorted(["aligned", "sync", *words]) for words in more]:
        return None
    return GroupProduct(n, k, d, a, b, "satfinite" in rest)


_NAME = re.compile(r"n(\d+)k(\d+)_([^_]+)_([^_]+)_([^_]+)(_sat)?_(r?)(a?)(b?)(n?)")


def named(name: str) -> Variant | None:
    """The variant of this name, or None."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    n, k, d, a, b, sat, *flags = found.groups()
    more = ["satfinite"] if sat else ["and", "popc"] if a == "b1" else []
    made = _checked(4 * ROWS, int(n), int(k), d, a, b, ["sync", "aligned", *more])
    return Variant(made, *map(bool, flags)) if made else None


def operands(found: GroupProduct, a_in_registers: bool) -> tuple[str, ...]:
    """The shapes of the operands (`ptx.operand_shapes`)."""
    d, a = found.d_fragment.registers, found.a_fragment.registers
    scales = () if found.whole else ("n", "n")
    turns = ("o",) * (2 - a_in_registers) if found.turns else ()
    return (f"a32*{d}", f"s32*{a}" if a_in_registers else "s64", "s64", "f", *scales, *turns)


def products() -> list[GroupProduct]:
    """All products."""
    return [
        GroupProduct(n, k, d, a, b, saturates)
        for a, (k, sums) in _TYPES.items()
        for b in (next((sorted(mixed) for mixed in _MIXED if a in mixed), [a]))
        for d in sums
        for n in (INTEGERS if d == "s32" else FLOATS)
        for saturates in ((False, True) if a in ("s8", "u8") else (False,))
    ]


def counts(modifiers: tuple[str, ...]) -> dict[str, int]:
    """The counts that one execution by a warp adds, by the counters' keys: its share of the warpgroup's product."""
    found = product(modifiers)
    if found is None:
        return {}
    return {"tensor_instructions": 1, "tensor_gmma": 1, FAMILIES[found.a]: 2 * ROWS * found.n * found.k}
