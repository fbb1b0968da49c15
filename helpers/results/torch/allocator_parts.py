"""What a caching allocator is made of: sizes, settings, blocks and segments; and what they look like from outside.

Sources: PyTorch 2.13, c10/core/AllocatorConfig.h and c10/cuda/CUDACachingAllocator.cpp,
https://github.com/pytorch/pytorch
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

MIB = 2**20
ROUND = 512
SMALL, SMALL_SEGMENT = MIB, 2 * MIB
LARGE, LARGE_SEGMENT, LARGE_ROUND = 10 * MIB, 20 * MIB, 2 * MIB
_PIECE = attrgetter("piece")


@dataclass(frozen=True)
class Settings:
    """What `PYTORCH_ALLOC_CONF` (before, `PYTORCH_CUDA_ALLOC_CONF`) may say; ValueError for what PyTorch refuses.

    `garbage_collection_threshold` is a share of the capacity, which on a GPU is what
    `torch.cuda.set_per_process_memory_fraction` allows; `roundup_power2_divisions` a power of two, 0 for none.
    """

    expandable_segments: bool = False
    max_split_size_mb: int | None = None
    roundup_power2_divisions: int = 0
    garbage_collection_threshold: float = 0.0

    def __post_init__(self) -> None:
        if self.max_split_size_mb is not None and self.max_split_size_mb * MIB <= LARGE_SEGMENT:
            raise ValueError(f"max_split_size_mb is {self.max_split_size_mb}: it has to be above 20")
        if self.roundup_power2_divisions & (self.roundup_power2_divisions - 1):
            raise ValueError(f"roundup_power2_divisions is {self.roundup_power2_divisions}: it is a power of two")
        if not 0 <= self.garbage_collection_threshold < 1:
            raise ValueError("garbage_collection_threshold is a share of the capacity, from 0 up to below 1")

    @property
    def max_split_size(self) -> float:
        return float("inf") if self.max_split_size_mb is None else self.max_split_size_mb * MIB


class Piece(NamedTuple):
    """A block as it was at some moment: bytes, the name of its tensor or None, and whether memory lies behind it."""

    nbytes: int
    owner: object
    mapped: bool


class Row(NamedTuple):
    """A segment as it was at some moment."""

    small: bool
    expandable: bool
    pieces: tuple[Piece, ...]


@dataclass(eq=False)
class Block:
    """A piece of a segment: its address and bytes; `owner`, the name of its tensor, is None where it is free."""

    start: int
    nbytes: int
    owner: object = None
    requested: int = 0
    mapped: bool = True
    freed_at: int = 0  # searches of its pool until then, which is how the age of a cached block is told

    def __post_init__(self) -> None:
        self.look()

    def look(self) -> None:
        """Note what it looks like from outside, after every change: a replay asks millions of times."""
        self.piece = Piece(self.nbytes, self.owner, self.mapped)

    @property
    def free(self) -> bool:
        return self.owner is None and self.mapped

    @property
    def end(self) -> int:
        return self.start + self.nbytes


@dataclass(eq=False)
class Segment:
    small: bool
    expandable: bool
    blocks: list[Block] = field(default_factory=list)
    _seen: tuple[tuple[Block, ...], Row | None] | None = None

    def touch(self, *changed: Block) -> None:
        """Say that blocks have changed, so that `seen` looks again."""
        for block in changed:
            block.look()
        self._seen = None

    @property
    def seen(self) -> tuple[tuple[Block, ...], Row | None]:
        """The free blocks, and the row as it looks from outside, None where no memory lies behind it."""
        if self._seen is None:
            told = self._pieces()
            row = Row(self.small, self.expandable, told) if told else None
            self._seen = tuple(block for block in self.blocks if block.owner is None and block.mapped), row
        return self._seen

    def _pieces(self) -> tuple[Piece, ...]:
        """The blocks up to the last that memory lies behind."""
        last = len(self.blocks)
        while last and not self.blocks[last - 1].mapped:
            last -= 1
        return tuple(map(_PIECE, self.blocks[:last]))

    @property
    def idle(self) -> bool:
        """Whether it is one free block from end to end, so that it can be handed back."""
        return len(self.blocks) == 1 and self.blocks[0].free

    def after(self, block: Block) -> Block | None:
        at = self.blocks.index(block) + 1
        return self.blocks[at] if at < len(self.blocks) else None

    def split(self, block: Block, nbytes: int) -> Block:
        """Cut a block in two, the first of which has so many bytes, and return the second."""
        rest = Block(block.start + nbytes, block.nbytes - nbytes, mapped=block.mapped, freed_at=block.freed_at)
        self.blocks.insert(self.blocks.index(block) + 1, rest)
        block.nbytes = nbytes
        self.touch(block)
        return rest

    def join(self, block: Block) -> Block:
        """Join a block that is not in use with its neighbours that are alike, and return the block that remains."""
        at = self.blocks.index(block)
        for first, second in ((at, at + 1), (at - 1, at)):
            if first < 0 or second >= len(self.blocks):
                continue
            one, other = self.blocks[first], self.blocks[second]
            if one.owner is other.owner is None and one.mapped == other.mapped:
                one.nbytes += other.nbytes
                one.freed_at = block.freed_at
                del self.blocks[second]
                block = one
        self.touch(block)
        return block


def rounded(nbytes: int, divisions: int = 0) -> int:
    """Bytes of the block for a tensor: a multiple of 512, or the next division between two powers of two."""
    if divisions > 1 and nbytes > ROUND * divisions:
        return next_division(nbytes, divisions)
    return max(ROUND, up(nbytes, ROUND))


def next_division(nbytes: int, divisions: int) -> int:
    """The next size, when the way from each power of two to the following one is cut into `divisions` equal steps."""
    step = max(1, 2 ** (nbytes.bit_length() - 1) // divisions)
    return up(nbytes, step)


def segment_size(nbytes: int) -> int:
    """Bytes requested from the driver for a block of `nbytes`, which is rounded already."""
    if nbytes <= SMALL:
        return SMALL_SEGMENT
    return LARGE_SEGMENT if nbytes < LARGE else up(nbytes, LARGE_ROUND)


def up(nbytes: int, unit: int) -> int:
    return -(-nbytes // unit) * unit


def size_text(nbytes: int) -> str:
    """Bytes as PyTorch's messages write them."""
    if nbytes <= 1024:
        return f"{nbytes} bytes"
    unit, name = next((u, n) for u, n in ((2**30, "GiB"), (MIB, "MiB"), (1024, "KiB")) if nbytes >= u)
    return f"{nbytes / unit:.2f} {name}"


def runs(blocks: list[Block]) -> list[list[Block]]:
    """Blocks in stretches without a gap between them."""
    found: list[list[Block]] = []
    for block in blocks:
        if found and found[-1][-1].end == block.start:
            found[-1].append(block)
        else:
            found.append([block])
    return found


def told(block: Block) -> dict:
    state = "inactive" if block.owner is None else "active_allocated"
    frames = [] if block.owner is None else [{"filename": str(block.owner), "line": 0, "name": str(block.owner)}]
    return {"address": block.start, "size": block.nbytes, "requested_size": block.requested, "state": state,
            "frames": frames}  # fmt: skip
