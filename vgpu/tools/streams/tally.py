"""A program's work added up by kernel: launches, bytes and arithmetic. Counted, on any machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from vgpu.base.words import plural
from vgpu.launch.counters import Counters
from vgpu.tools.profile_table import text_table
from vgpu.tools.streams.recording import dry_run
from vgpu.tools.streams.spans import table

SECTOR_BYTES = 32
_HEADS = ("kernel", "launches", "bytes loaded", "bytes stored", "FLOPs")


@dataclass(frozen=True)
class KernelTotals:
    """A kernel's launches: how many, the bytes of the sectors that they load and store, and their FLOPs."""

    name: str
    launches: int
    loaded: int
    stored: int
    flops: int

    @property
    def cells(self) -> list[str]:
        return [self.name, *(f"{count:,}" for count in (self.launches, self.loaded, self.stored, self.flops))]


@dataclass(frozen=True, repr=False)
class Tally:
    """The kernels of a program in the order of their first launch; `launches`, `nbytes` and `flops` are of all."""

    rows: tuple[KernelTotals, ...]

    def __getitem__(self, name: str) -> KernelTotals:
        found = next((row for row in self.rows if row.name == name), None)
        if found is None:
            raise KeyError(f"no kernel {name!r} was launched; there are {', '.join(row.name for row in self.rows)}")
        return found

    launches = property(lambda self: sum(row.launches for row in self.rows))
    nbytes = property(lambda self: sum(row.loaded + row.stored for row in self.rows))
    flops = property(lambda self: sum(row.flops for row in self.rows))

    @property
    def _cells(self) -> list[list[str]]:
        return [row.cells for row in (*self.rows, added("in all", self.rows))]

    def __repr__(self) -> str:
        return "\n".join(text_table(list(_HEADS), self._cells, left=0))

    def _repr_html_(self) -> str:
        caption = f"<strong>counted</strong>: {plural(self.launches, 'launch')}"
        return table(caption, _HEADS, self._cells)


def added(name: str, rows: Iterable[KernelTotals]) -> KernelTotals:
    """Several rows as one."""
    rows = list(rows)
    parts = ("launches", "loaded", "stored", "flops")
    return KernelTotals(name, *(sum(getattr(row, part) for row in rows) for part in parts))


def tally(program: Callable[..., object], *args: Any, **named: Any) -> Tally:
    """Run `program(*args, **named)` on the virtual GPU and add up what its kernels do, one row per kernel.

    Kernels in CUDA C and in Numba are counted; the work of CuPy's own functions, such as filling an array, isn't.
    Raises ValueError where no kernel was launched.
    """
    found: dict[str, list[KernelTotals]] = {}
    for operation in dry_run(program, *args, **named).operations:
        if operation.kind == "kernel" and isinstance(operation.counters, Counters):
            total = operation.counters.total
            name = operation.label.split(" (")[0]
            flops = sum(total.get(f"flops_{precision}", 0) for precision in ("fp16", "fp32", "fp64"))
            loaded, stored = (SECTOR_BYTES * total[f"global_{way}_sectors"] for way in ("load", "store"))
            found.setdefault(name, []).append(KernelTotals(name, 1, loaded, stored, flops))
    if not found:
        raise ValueError("the program launches no kernel that is counted")
    return Tally(tuple(added(name, rows) for name, rows in found.items()))
