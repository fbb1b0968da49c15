"""Products of tensor memory (`tcgen05.mma`): kinds, instruction descriptors, descriptors of matrices, layouts.

The instruction says the kind, and the descriptor (32 bits, known when the kernel runs) the rest: types, M, N, which
matrices are negated or transposed. M and N are whole: of a pair of blocks each has half of A's rows and half of B's
columns in its shared memory, and its part of D.

    blocks  M    D in tensor memory (CUTLASS: `mma_traits_sm100_frag.hpp`; the manual: data path layouts A, B, D, F)
    1       128  row i in lane i
    1       64   rows 16j to 16j + 15 from lane 32j on, or from 32j + 16 on
    2       256  rows 0 to 127 in the first block's lanes, the others in the second's
    2       128  64 rows a block: lanes 0 to 63 have the first half of the columns, lanes 64 to 127 the second one

A row of A or B has 32 bytes. In shared memory elements of 6 and 4 bits that take part in products of 8 bits stand
packed in the first 12 or 8 bytes of a chunk of 16 bytes; in tensor memory each has a byte, of which it takes bits 1 to
6, or 2 to 5. Scales lie in bytes: those of row (column) i in lane i % 32 of each 32 lanes, column i / 32.

Source: NVIDIA "PTX ISA", matrix shapes, instruction descriptor, shared memory descriptor, block scaling. The manual's
text allows N in steps of 8 for M = 128, too; CUTLASS takes steps of 16, and so does this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from vgpu.isa.tensor_memory import form
from vgpu.isa.warpgroup import DESCRIPTOR as OF_WARPGROUPS

ROW = 32  # bytes of A and B for one product
GROUP = 16  # rows that lie in lanes side by side in every layout

# Field of a matrix's descriptor -> its first bit, how many it has, and how far its number is shifted.
MATRIX = {**OF_WARPGROUPS, "mode": (61, 3, 0)}
FIXED, FIXED_BITS = 1 << 46, 7 << 46 | 0x1FF << 52 | 3 << 30 | 3 << 14
# Swizzling mode -> the chunks of 16 bytes of a line of its pattern; mode 1 exchanges pairs of them.
CHUNKS = {0: 1, 1: 8, 2: 8, 4: 4, 6: 2}
PAIRS = 1

# Field of an instruction's descriptor -> first bit, bits, shift. Those below are for kinds without scales, and with.
INSTRUCTION = {
    "a": (7, 3, 0), "b": (10, 3, 0), "negate_a": (13, 1, 0), "negate_b": (14, 1, 0), "turn_a": (15, 1, 0),
    "turn_b": (16, 1, 0), "n": (17, 6, 3), "m": (24, 5, 4), "saturate": (3, 1, 0), "d": (4, 2, 0),
    "scale_b": (4, 2, 0), "scale_type": (23, 1, 0), "scale_a": (29, 2, 0),
}  # fmt: skip
_SHARED = 0x7F << 7 | 3 << 14 | 1 << 16 | 0x3F << 17 | 0x1F << 24  # a, b, negations, transpositions, n, m
_NARROW = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_FOURS, _FLOATS = {1: "e2m1"}, {0: "f16", 1: "f32"}


@dataclass(frozen=True)
class Kind:
    """A kind of product: k, the types of A and B and of D by their codes, and the bits a descriptor may have set.

    `sums`: the LLVM type of its sums. `counters`: what it counts, the last one for bf16.
    """

    k: int
    types: dict[int, str]
    results: dict[int, str]
    sums: str
    bits: int
    counters: tuple[str, ...]

    @property
    def scaled(self) -> bool:
        return self.sums == "double"

    @property
    def element_bits(self) -> int:
        """Bits that an element takes in memory."""
        return 8 * ROW // self.k


KINDS = {
    "f16": Kind(16, {0: "f16", 1: "bf16"}, _FLOATS, "float", _SHARED | 3 << 4,
                ("flops_tensor_fp16", "flops_tensor_bf16")),
    "tf32": Kind(8, {2: "tf32"}, {1: "f32"}, "float", _SHARED | 3 << 4, ("flops_tensor_tf32",)),
    "f8f6f4": Kind(32, _NARROW, _FLOATS, "float", _SHARED | 3 << 4, ("flops_tensor_fp8",)),
    "i8": Kind(32, {0: "u8", 1: "s8"}, {2: "s32"}, "i32", _SHARED & ~(3 << 13) | 3 << 4 | 1 << 3,
               ("ops_tensor_int8",)),
    "mxf8f6f4": Kind(32, _NARROW, {0: "f32"}, "double", _SHARED | 3 << 4 | 1 << 23 | 3 << 29, ("flops_tensor_fp8",)),
    "mxf4": Kind(64, _FOURS, {0: "f32"}, "double", _SHARED & ~(3 << 15) | 3 << 4 | 1 << 23 | 3 << 29,
                 ("flops_tensor_fp4",)),
    "mxf4nvf4": Kind(64, _FOURS, {0: "f32"}, "double", _SHARED & ~(3 << 15) | 3 << 4 | 1 << 23 | 3 << 29,
                     ("flops_tensor_fp4",)),
}  # fmt: skip
# Kind -> `.scale_vectorsize` (None: not said) -> the scales of a row.
_VECTORS: dict[str, dict[str | None, int]] = {
    "mxf8f6f4": {None: 1, "scale_vec::1X": 1, "block32": 1},
    "mxf4": {None: 2, "scale_vec::2X": 2, "block32": 2},
    "mxf4nvf4": {"scale_vec::2X": 2, "block32": 2, "scale_vec::4X": 4, "block16": 4},
}
ONE_BYTE = ("e4m3", "e5m2", "u8", "s8")


@dataclass(frozen=True)
class Variant:
    """A product as its instruction says it: the kind, the blocks, where A lies, and the scales of a row (0: none)."""

    kind: str
    ctas: int
    in_tensor_memory: bool
    scales: int

    @property
    def of(self) -> Kind:
        return KINDS[self.kind]

    @property
    def name(self) -> str:
        return f"{self.kind}_{self.ctas}_{'t' if self.in_tensor_memory else 's'}_{self.scales}"

    @property
    def rows(self) -> tuple[int, ...]:
        """What M may be."""
        if self.of.scaled and self.ctas == 1:
            return (128,)
        return (64, 128) if self.ctas == 1 else (128, 256)

    def columns(self, m: int, turned: bool) -> range:
        """What N may be; `turned`: B is of bytes, and transposed."""
        if self.ctas == 2:
            step = 32 if turned or self.in_tensor_memory or self.kind == "i8" else 16
        else:
            step = 16 if turned or (m == 128 and not self.of.scaled) or self.kind == "i8" else 8
        return range(step, 257, step)

    def has_columns(self, m: int, n: int, turned: bool) -> bool:
        """Whether N may be this; that of integers may be 8, too."""
        return n in self.columns(m, turned) or (self.kind == "i8" and (self.ctas, n, turned) == (1, 8, False))


@lru_cache(maxsize=1024)
def variant(modifiers: tuple[str, ...], in_tensor_memory: bool) -> Variant | None:
    """The product that a `tcgen05.mma` says; None for those that PTX or the virtual GPU doesn't have."""
    name, found = form(modifiers) or ("", ())
    if name != "mma":
        return None
    blocks, kind, scaled, size = found
    if KINDS[str(kind)].scaled != bool(scaled) or (size and not scaled):
        return None
    scales = _VECTORS[str(kind)].get(size, 0) if scaled else 0
    return Variant(str(kind), int(blocks or 1), in_tensor_memory, scales) if scales or not scaled else None


def named(name: str) -> Variant | None:
    """The variant of this name, or None."""
    parts = name.split("_")
    if len(parts) != 4 or parts[0] not in KINDS:
        return None
    return Variant(parts[0], int(parts[1]), parts[2] == "t", int(parts[3]))


def fields(descriptor: int, layout: dict[str, tuple[int, int, int]]) -> dict[str, int]:
    """The numbers that a descriptor holds."""
    return {name: (descriptor >> first & (1 << bits) - 1) << up for name, (first, bits, up) in layout.items()}


def wrong_instruction(v: Variant, descriptor: int) -> str | None:
    """What is wrong with an instruction descriptor, in words; None if it is right."""
    f, kind = fields(descriptor, INSTRUCTION), v.of
    if descriptor >> 2 & 1:
        return "says that A is sparse (bit 2), and this is no .sp product"
    if beyond := descriptor & ~kind.bits:
        return f"has reserved bits set ({beyond:#x})"
    for role in "ab":
        if f[role] not in kind.types:
            return f"gives matrix {role.upper()} the type {f[role]}; .kind::{v.kind} has {_listed(kind.types)}"
        if f[f"turn_{role}"] and kind.types[f[role]] in ("e2m3", "e3m2", "e2m1"):
            return f"transposes matrix {role.upper()}, whose elements of 4 or 6 bits must be K-major"
    if f["turn_a"] and v.in_tensor_memory:
        return "transposes A, which is in tensor memory"
    if not kind.scaled and f["d"] not in kind.results:
        return f"gives D the type {f['d']}; .kind::{v.kind} has {_listed(kind.results)}"
    if v.kind == "f16" and f["d"] == 0 and (f["a"] or f["b"]):
        return "sums bf16 in f16: D must be f32 (1 in bits 4 and 5)"
    if f["m"] not in v.rows:
        return f"says M = {f['m']}; .cta_group::{v.ctas} has {' and '.join(map(str, v.rows))}"
    turned = bool(f["turn_b"]) and kind.types[f["b"]] in ONE_BYTE
    if not v.has_columns(f["m"], f["n"], turned):
        return f"says N = {f['n']}, which must be a multiple of {v.columns(f['m'], turned).step} up to 256 here"
    return _wrong_scales(v, f) if kind.scaled else None


def _wrong_scales(v: Variant, f: dict[str, int]) -> str | None:
    if not f["scale_type"] and v.scales != 4:
        return f"says scales of type ue4m3 (bit 23 is 0), and {v.scales} scales a row are ue8m0 (1)"
    if v.kind != "mxf4nvf4" and not f["scale_type"]:
        return "says scales of type ue4m3 (bit 23 is 0), which only .kind::mxf4nvf4 has"
    for role in "ab":
        if f[f"scale_{role}"] % v.scales:
            return f"selects scales of {role.upper()} from byte {f[f'scale_{role}']}: {v.scales} scales a row lie at " \
                f"multiples of {v.scales}"  # fmt: skip
    return None


def _listed(types: dict[int, str]) -> str:
    return ", ".join(f"{name} ({code})" for code, name in types.items())


def wrong_matrix(descriptor: int, turned: bool, kind: str) -> str | None:
    """What is wrong with the descriptor of a matrix in shared memory, in words; `kind`: the type of its elements."""
    mode = descriptor >> 61
    if descriptor & FIXED_BITS != FIXED:
        return "must have 0b001 in bits 46 to 48, and 0 in bits 14, 15, 30, 31 and 52 to 60"
    if mode not in CHUNKS:
        return f"has the swizzling mode {mode} (bits 61 to 63): there are {', '.join(map(str, CHUNKS))}"
    pairs = turned and kind == "tf32"
    if (mode == PAIRS) != pairs and (mode == PAIRS or pairs):
        only = "for tf32 that is not K-major, and only then"
        return f"must have the swizzling mode 1 (128 bytes, 32 of them together) {only}"
    return None


def parts(m: int, ctas: int) -> list[tuple[int, int, int]]:
    """Where D lies, in groups of 16 lanes of one block: (lane, first row of the block's, half of the columns)."""
    if ctas == 1 and m == 64:
        return [(32 * j, GROUP * j, 0) for j in range(4)]
    if ctas == 2 and m == 128:
        return [(GROUP * j, GROUP * (j % 4), j // 4) for j in range(8)]
    return [(GROUP * j, GROUP * j, 0) for j in range(8)]
