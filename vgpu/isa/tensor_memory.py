"""The forms of `tcgen05` and where tensor memory keeps what they move (sm_100a).

Tensor memory has 128 lanes of 512 columns of 32 bits. An address has its lane in the upper and its column in the lower
16 bits. Warp w of four accesses lanes 32(w % 4) to 32(w % 4) + 31 only. `cell` says where a register of a thread lies;
CUTLASS's `copy_traits_sm100.hpp` has the same layouts. Source: NVIDIA "PTX ISA", Tensor Memory, data movement shapes,
and the sections on the instructions of the fifth generation of tensor cores.

The manual leaves open, and here it is so:
- `tcgen05.cp` of `.4x256b` writes row r to lane 32r after the address's, the last one of each quarter for lane 31;
- `tcgen05.shift` gives 31 lanes, from the address's on, 8 columns of the lane that follows;
- what `.unpack::16b` stores has zeros in the upper halves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

LANES, COLUMNS = 128, 512
QUARTER = 32  # lanes that a warp may access
UNIT = 32  # columns are allocated in powers of two from this on

# Shape of `ld` and `st` -> lanes, registers of a thread and columns that `.x1` moves, and the largest number.
SHAPES = {
    "32x32b": (32, 1, 1, 128), "16x64b": (16, 1, 2, 128), "16x128b": (16, 2, 4, 64), "16x256b": (16, 4, 8, 32),
    "16x32bx2": (16, 1, 1, 128),
}  # fmt: skip
NUMBERS = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Move:
    """`tcgen05.ld` or `.st`: `halves` of 16 bits are packed two to a register, from columns side by side."""

    shape: str
    number: int
    halves: bool
    store: bool

    @property
    def lanes(self) -> int:
        return SHAPES[self.shape][0]

    @property
    def registers(self) -> int:
        return SHAPES[self.shape][1] * self.number

    @property
    def columns(self) -> int:
        """Columns that follow one another, from the address on (and of 16x32bx2 from the second half's on)."""
        return SHAPES[self.shape][2] * self.number * (1 + self.halves)

    @property
    def splits(self) -> bool:
        """Whether threads 16 to 31 have columns of their own, so much further on as the last operand says."""
        return self.shape == "16x32bx2"

    @property
    def nbytes(self) -> int:
        return 4 * self.lanes * self.columns * (1 + self.splits)

    def cell(self, register: int, thread: int) -> tuple[int, int, int]:
        """(lane, column, half) of a register of a thread, relative to the address; with `halves` of its lower half.

        `half` is 1 for the columns that 16x32bx2 has further on.
        """
        half = 0
        if self.shape == "32x32b":
            lane, column = thread, register
        elif self.shape == "16x64b":
            lane, column = thread // 4 + thread % 2 * 8, thread // 2 % 2 + 2 * register
        elif self.shape == "16x128b":
            lane, column = thread // 4 + register % 2 * 8, thread % 4 + register // 2 * 4
        elif self.shape == "16x256b":
            lane, column = thread // 4 + register // 2 % 2 * 8, thread % 4 * 2 + register % 2 + register // 4 * 8
        else:
            lane, column, half = thread % 16, register, thread // 16
        return lane, column * (1 + self.halves), half


# Shape of `cp` -> rows and bytes of a row in shared memory, and for each 32 lanes of tensor memory the first of the
# rows they get; of 4x256b one lane of the 32 gets one row.
COPIES = {
    "128x256b": (128, 32, (0, 32, 64, 96)), "128x128b": (128, 16, (0, 32, 64, 96)), "4x256b": (4, 32, (0, 1, 2, 3)),
    "64x128b.warpx2::02_13": (64, 16, (0, 32, 0, 32)), "64x128b.warpx2::01_23": (64, 16, (0, 0, 32, 32)),
    "32x128b.warpx4": (32, 16, (0, 0, 0, 0)),
}  # fmt: skip
# Packed elements -> their bits, and how far up they are moved in their bytes of tensor memory.
PACKED = {"b6x16_p32": (6, 1), "b4x16_p64": (4, 2)}

# The assembler takes these two words of `cp` in either order, and Triton writes them in the other one.
_TURNED = re.compile(r"\.(warpx[24](?:::\d+_\d+)?)\.(\d+x\d+b)")
_CTAS = r"\.cta_group::([12])"
_FORMS = {
    "alloc": rf"alloc{_CTAS}\.sync\.aligned(?:\.shared::cta)?\.b32",
    "dealloc": rf"dealloc{_CTAS}\.sync\.aligned\.b32",
    "relinquish": rf"relinquish_alloc_permit{_CTAS}\.sync\.aligned",
    "ld": rf"ld\.sync\.aligned\.({'|'.join(SHAPES)})\.x(\d+)(\.pack::16b)?\.b32",
    "st": rf"st\.sync\.aligned\.({'|'.join(SHAPES)})\.x(\d+)(\.unpack::16b)?\.b32",
    "wait": r"wait::(ld|st)\.sync\.aligned",
    "cp": rf"cp{_CTAS}\.({'|'.join(map(re.escape, COPIES))})(?:\.b8x16\.({'|'.join(PACKED)}))?",
    "shift": rf"shift{_CTAS}\.down",
    "commit": rf"commit{_CTAS}\.mbarrier::arrive::one(\.shared::cluster)?(\.multicast::cluster)?\.b64",
    "fence": r"fence::(before|after)_thread_sync",
    "mma": (
        rf"mma{_CTAS}\.kind::(f16|tf32|f8f6f4|i8|mxf8f6f4|mxf4|mxf4nvf4)(\.block_scale)?"
        r"(?:\.(scale_vec::[124]X|block16|block32))?(?:\.collector::a::(?:fill|use|lastuse|discard))?"
    ),
}


@lru_cache(maxsize=1024)
def form(modifiers: tuple[str, ...]) -> tuple[str, tuple[str | None, ...]] | None:
    """The name of a form and what varies in it; None for words that PTX or the virtual GPU doesn't have."""
    text = _TURNED.sub(r".\2.\1", ".".join(modifiers))
    for name, pattern in _FORMS.items():
        if found := re.fullmatch(pattern, text):
            return name, found.groups()
    return None


def move(modifiers: tuple[str, ...]) -> Move | None:
    """What a `ld` or `st` moves; None for anything else."""
    name, found = form(modifiers) or ("", ())
    if name not in ("ld", "st"):
        return None
    shape, number = str(found[0]), int(found[1] or 0)
    right = number in NUMBERS and number <= SHAPES[shape][3]
    return Move(shape, number, bool(found[2]), name == "st") if right else None


def ctas(modifiers: tuple[str, ...]) -> int:
    """The blocks that an instruction is for: those of `.cta_group`, or 1."""
    return 2 if "cta_group::2" in modifiers else 1


def counts(modifiers: tuple[str, ...]) -> dict[str, int]:
    """What one execution by a warp adds, by the counters' keys; what single threads ask for is counted elsewhere."""
    found = move(modifiers)
    if found is None:
        return {}
    word = "store" if found.store else "load"
    return {f"tensor_memory_{word}s": 1, f"tensor_memory_{word}_bytes": found.nbytes}
