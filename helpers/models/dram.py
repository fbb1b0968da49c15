"""What a program moves through DRAM, launch by launch, where no cache keeps anything between two launches.

    before = dram(program, *args)              # runs it: launches, bytes, FLOPs, registers, one row a kernel
    grown = dram_at(program, (8, 16), 4096)    # program(8) and program(16) counted, 4096 extrapolated

A launch must read each sector that it touches once, and write each that it changes once: these are its DRAM bytes.
Arrays that fit into L2 may be found there by the next launch; those of large networks do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from helpers.models.growth import extrapolated
from vgpu.base.words import function_name, plural
from vgpu.hardware import gpus
from vgpu.hardware.device import current
from vgpu.hardware.time_model import seconds_text
from vgpu.launch.counters import Counters
from vgpu.tools.compiled import resources_on
from vgpu.tools.profile import modelled
from vgpu.tools.profile_table import text_table
from vgpu.tools.roofline import flops_by_unit
from vgpu.tools.streams.recording import dry_run
from vgpu.tools.streams.spans import table

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

_HEADS = ("kernel", "launches", "DRAM bytes read", "DRAM bytes written", "FLOPs", "registers")


@dataclass(frozen=True)
class Launched:
    """One launch: the kernel as the engine loads it, and what it counted, or is extrapolated to count."""

    name: str
    kernel: Kernel
    counts: Counters

    @property
    def flops(self) -> int:
        return sum(flops_by_unit(self.counts.total).values())

    @property
    def registers(self) -> int:
        """Registers a thread on the GPU chosen by `device("…")`, from the compiler."""
        return resources_on(self.kernel, current()).registers


@dataclass(frozen=True, repr=False)
class Moved:
    """The launches of a program in their order."""

    each: tuple[Launched, ...]

    launches = property(lambda self: len(self.each))
    read_bytes = property(lambda self: sum(one.counts.footprint.read_bytes for one in self.each))
    written_bytes = property(lambda self: sum(one.counts.footprint.written_bytes for one in self.each))
    nbytes = property(lambda self: self.read_bytes + self.written_bytes)
    flops = property(lambda self: sum(one.flops for one in self.each))
    registers = property(lambda self: max(one.registers for one in self.each))

    def seconds(self, gpu: str) -> float:
        """Modelled: the launches one after another on that GPU."""
        row = gpus.find(gpu)
        return sum(modelled(one.kernel, one.counts, row)[1].seconds for one in self.each)

    @property
    def _cells(self) -> list[list[str]]:
        names = dict.fromkeys(one.name for one in self.each)
        parts = [(name, Moved(tuple(one for one in self.each if one.name == name))) for name in names]
        rows = [*parts, *([("in all", self)] if len(parts) > 1 else [])]
        return [
            [name, *(f"{count:,}" for count in (one.launches, one.read_bytes, one.written_bytes, one.flops)),
             str(one.registers)]
            for name, one in rows
        ]  # fmt: skip

    def __repr__(self) -> str:
        return "\n".join(text_table(list(_HEADS), self._cells, left=0))

    def _repr_html_(self) -> str:
        caption = f"<strong>counted</strong>, registers from the compiler: {plural(self.launches, 'launch')}"
        return table(caption, _HEADS, self._cells, left=(0,))


def dram(program: Callable[..., object], *args: object) -> Moved:
    """Run `program(*args)` on the virtual GPU: each launch with the distinct bytes that it reads and writes.

    Work that CuPy's own functions do is no kernel here, and is not counted. ValueError where none was launched.
    """
    found = []
    for operation in dry_run(program, *args).operations:
        if operation.kernel is not None and operation.counters is not None:
            name = function_name(operation.label.split(" (")[0])
            found.append(Launched(name, operation.kernel, operation.counters))
    if not found:
        raise ValueError("the program launches no kernel that is counted")
    return Moved(tuple(found))


def dram_at(program: Callable[[int], object], sizes: tuple[int, int], size: int) -> Moved:
    """`program(size)` extrapolated from two small runs, for kernels whose counts grow in proportion to a size.

    Each count is p·size + q, of which the two `sizes` give p and q. ValueError where the two runs launch other kernels,
    or where a count would not be a whole number.
    """
    low, high = sizes
    small, large = dram(program, low), dram(program, high)
    if [one.name for one in small.each] != [one.name for one in large.each]:
        raise ValueError(f"program({low}) and program({high}) launch other kernels: there is nothing to extrapolate")

    def at(first: int, second: int) -> int:
        found = first + Fraction(second - first, high - low) * (size - low)
        if found.denominator != 1:
            raise ValueError(f"counts of {first:,} and {second:,} at {low} and {high} give no whole number at {size}")
        return int(found)

    pairs = zip(small.each, large.each, strict=True)
    return Moved(
        tuple(Launched(two.name, two.kernel, extrapolated(one.counts, two.counts, at, at)) for one, two in pairs)
    )


@dataclass(frozen=True, repr=False)
class FusionTable:
    """Operations as separate kernels and as one: a line each."""

    heads: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        return "\n".join(text_table(list(self.heads), [list(row) for row in self.cells], left=0))

    def _repr_html_(self) -> str:
        caption = "Launches, bytes and FLOPs are <strong>counted</strong>, registers come from the compiler"
        return table(caption, self.heads, self.cells, left=(0,))


def fusion_table(rows: Mapping[str, Moved], *, gpu: str, published: Mapping[str, str] | None = None) -> FusionTable:
    """One line for each way to do an operation: launches, DRAM bytes, FLOPs, most registers, and the time on `gpu`.

    published: what others measured, in words, by the names of rows. ValueError for a name that is no row's.
    """
    beside = published or {}
    if lost := [name for name in beside if name not in rows]:
        raise ValueError(f"published: no row is called {lost[0]!r}; there are {', '.join(rows)}")
    heads: tuple[str, ...] = ("", "launches", "DRAM bytes", "FLOPs", "registers", f"modelled, {gpu}")
    cells: list[tuple[str, ...]] = [
        (name, str(one.launches), f"{one.nbytes:,}", f"{one.flops:,}", str(one.registers),
         seconds_text(one.seconds(gpu)))
        for name, one in rows.items()
    ]  # fmt: skip
    if beside:
        heads = (*heads, "published")
        cells = [(*row, beside.get(row[0], "")) for row in cells]
    return FusionTable(heads, tuple(cells))
