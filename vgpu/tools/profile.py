"""Profile a kernel: exact counts per source line, the compiler's numbers, and a modelled time.

`profile(kernel, grid, block, args)` runs the kernel once, for real, on its arguments (a kernel that adds to
its input has added to it afterwards; nothing is replayed), with every counter on. The counting is always done
on the virtual GPU: the arrays of a real one are copied there, and what the kernel made of them is copied back.
"""

from __future__ import annotations

import contextlib
import difflib
import math
import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from vgpu.base.errors import CompileError, Unsupported
from vgpu.base.words import sizes
from vgpu.hardware import gpus
from vgpu.hardware.device import current
from vgpu.hardware.occupancy import Occupancy, occupancy
from vgpu.tools.compare import Comparison, compare
from vgpu.tools.compiled import assembled_for, resources_on
from vgpu.tools.profile_table import METRICS, as_html, as_text, summary
from vgpu.tools.roofline import Model, model_time
from vgpu.tools.sass import AssembledRequests, note, shared_requests

if TYPE_CHECKING:
    from vgpu.compile.resources import Resources
    from vgpu.hardware.gpus import GPU
    from vgpu.launch.counters import Counters
    from vgpu.launch.launch import Kernel
    from vgpu.launch.shares import Shares
    from vgpu.tools.prepare import Dimensions, Grid
    from vgpu.tools.sanitize.findings import Finding
    from vgpu.tools.steps.dependencies import Chain

__all__ = ["Comparison", "Line", "Profile", "compare", "profile"]


@dataclass(frozen=True, eq=False)
class Line:
    """One source line of a kernel and its counters (key → count, only those that are not zero)."""

    number: int
    source: str
    counts: Mapping[str, int]

    def __getitem__(self, key: str) -> int:
        return self.counts.get(key, 0)


@dataclass(frozen=True, repr=False)
class Profile:
    """What one launch of a kernel did, line by line, and what that means on one GPU.

    `profile[name]` takes a plain key ("global_load_sectors"), a derived one ("sectors_per_load_request") or
    Nsight Compute's name; `metrics()` has them all. `counters` are counted, `resources` (registers, shared
    memory, spills) come from the compiler, `occupancy` is arithmetic on those, `model` is a modelled time. `races` are
    what the sanitizer found in shared memory in the launch's first blocks (`vgpu.tools.sanitize.sample`).
    """

    kernel: Kernel
    gpu: GPU
    counters: Counters
    dynamic_shared_bytes: int
    resources: Resources
    occupancy: Occupancy
    model: Model
    lines: tuple[Line, ...]
    races: tuple[Finding, ...] = ()

    def __getitem__(self, name: str) -> float | None:
        metric = _BY_NAME.get(name)
        if metric is not None:
            return metric.value(self)
        try:
            return self.counters[name]
        except KeyError:
            raise KeyError(_unknown(name)) from None

    def metrics(self) -> dict[str, float | None]:
        """Every number by Nsight Compute's name, or the plain key: the counters, then the derived metrics."""
        from vgpu.launch.counters import COUNTERS

        found: dict[str, float | None] = {
            counter.nsight or counter.key: self.counters.total[counter.key] for counter in COUNTERS
        }
        return found | {metric.nsight or metric.key: metric.value(self) for metric in METRICS}

    @property
    def registers(self) -> int:
        """Registers per thread on the modelled GPU, from the compiler."""
        return self.resources.registers

    @property
    def total(self) -> Mapping[str, int]:
        """Every counter of the whole launch by its plain key."""
        return self.counters.total

    @property
    def by_warp(self) -> Shares:
        """What each warp did: instructions, and requests to global memory."""
        shares = self.counters.by_warp
        assert shares is not None, "counted launches have it"
        return shares

    @property
    def chain(self) -> Chain | None:
        """What the watched warp executed, and which instructions wait for which; None where no warp was watched.

        `ChainTooLong` for more than 20,000 instructions.
        """
        from vgpu.tools.steps.dependencies import linked

        return None if self.counters.path is None else linked(self.counters.path)

    @property
    def name(self) -> str:
        """The kernel's name in the source."""
        return self.kernel.name

    @property
    def title(self) -> str:
        grid, block = (sizes(dims, " × ") for dims in (self.counters.grid, self.counters.block))
        blocks, threads = ("" if math.prod(n) == 1 else "s" for n in (self.counters.grid, self.counters.block))
        return f"Profile of {self.name}: {grid} block{blocks} of {block} thread{threads}"

    @cached_property
    def machine_note(self) -> str:
        """Where the machine code's memory accesses differ from the counted ones of PTX, in one line; "" if nowhere."""
        return note(self.kernel, self.counters, assembled_for(self.gpu, self.kernel))

    @cached_property
    def assembled(self) -> tuple[AssembledRequests, ...]:
        """The lines where the machine code makes other requests to shared memory than PTX; () where it isn't known."""
        with contextlib.suppress(CompileError, Unsupported):
            return shared_requests(self.kernel, self.counters, assembled_for(self.gpu, self.kernel))
        return ()

    @property
    def summary(self) -> tuple[str, ...]:
        """The lines below the table, each saying whether it is counted, the compiler's or modelled."""
        return tuple(summary(self))

    def table(self) -> list[dict]:
        """The table per source line as plain rows: line, source and its counters."""
        return [{"line": line.number, "source": line.source, **line.counts} for line in self.lines]

    def by_line(self, name: str) -> dict[Line, float]:
        """A counter, or a metric of counters, of each source line that has it. KeyError as for `profile[name]`."""
        self[name]
        metric = _BY_NAME.get(name)
        found = {}
        for line in self.lines:
            alone = SimpleNamespace(counters=SimpleNamespace(total=defaultdict(int, line.counts)))
            with contextlib.suppress(AttributeError):  # a metric of the whole launch, such as occupancy
                if value := line[name] if metric is None else metric.value(alone):  # type: ignore[arg-type]
                    found[line] = value
        return found

    def on(self, gpu: GPU | str) -> Profile:
        """The same counts seen from another GPU: its registers, occupancy and modelled time."""
        return _assemble(self.kernel, self.counters, self.dynamic_shared_bytes, _gpu_row(gpu), self.races)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


_BY_NAME = {name: metric for metric in METRICS for name in (metric.key, metric.nsight) if name}


def _unknown(name: str) -> str:
    from vgpu.launch.counters import COUNTERS

    known = [*_BY_NAME, *(found for counter in COUNTERS for found in (counter.key, counter.nsight) if found)]
    near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"no metric called {name!r}.{hint} `profile.metrics()` has them all."


def _gpu_row(gpu: GPU | str | None) -> GPU:
    """A row of the table from a name, a row, a `Device`, or None for the GPU chosen by `device(...)`."""
    if gpu is None:
        return current()
    if isinstance(gpu, str):
        return gpus.find(gpu)
    return getattr(gpu, "models", gpu)


def _text(source: list[str], at: int) -> str:
    # A line of a header, or of code that the compiler generated, isn't in the user's source.
    return source[at] if 0 <= at < len(source) else ""


def _assemble(
    kernel: Kernel, counters: Counters, dynamic_shared_bytes: int, gpu: GPU, races: tuple[Finding, ...]
) -> Profile:
    needs = resources_on(kernel, gpu)
    shared = needs.shared_bytes + dynamic_shared_bytes
    resident = occupancy(needs.registers, shared, math.prod(counters.block), gpu)
    source = textwrap.dedent("\n".join(kernel.source)).split("\n")
    lines = tuple(
        Line(number, _text(source, number - kernel.first_line), MappingProxyType(dict(counts)))
        for number, counts in sorted(counters.lines.items())
    )
    model = model_time(counters, resident, gpu)
    return Profile(kernel, gpu, counters, dynamic_shared_bytes, needs, resident, model, lines, races)


def profile_of(
    kernel: Kernel, counters: Counters, dynamic_shared_bytes: int = 0, gpu: GPU | None = None,
    races: tuple[Finding, ...] = (),
) -> Profile:  # fmt: skip
    """The profile of a launch that was counted already; `kernel` as the engine loads it."""
    return _assemble(kernel, counters, dynamic_shared_bytes, _gpu_row(gpu), races)


def modelled(kernel: Kernel, counters: Counters, gpu: GPU) -> tuple[Occupancy, Model]:
    """The occupancy and the modelled time of a counted launch; `kernel` as the engine loads it."""
    needs = resources_on(kernel, gpu)
    shared = max(counters.shared_bytes, needs.shared_bytes)
    resident = occupancy(needs.registers, shared, math.prod(counters.block), gpu)
    return resident, model_time(counters, resident, gpu)


def profile(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence,
    *, shared_bytes: int = 0, device: GPU | str | None = None, timeout: float | None = None,
    watched: tuple[int, int] | None = None, **meta: Any,
) -> Profile:  # fmt: skip
    """Run `kernel` once with every counter on and say what it did.

    `kernel` is a `@cuda.jit` or `@triton.jit` kernel or a `cp.RawKernel`, of the virtual GPU or of a real one;
    `grid` and `block` are ints or tuples of up to three; `args` is the tuple of arguments, which the launch
    really changes. `shared_bytes` is dynamic shared memory per block, `device` a GPU of the table for the
    compiler's and the modelled numbers (else the one chosen by `device("...")`), `timeout` in seconds. `watched`: the
    number of a block, x first, and of a warp in it, whose instructions `Profile.chain` then has. A Triton kernel
    chooses its block itself: `profile(add, grid, None, (x, y, out, n), BLOCK=1024, num_warps=8)`, where `grid` may be
    a function as in a launch. The sanitizer looks at the first blocks, for races in shared memory: `sanitize` looks for
    all mistakes in all blocks. Raises what a launch raises, and TypeError for what is no kernel.
    """
    gpu = _gpu_row(device)
    from vgpu.launch import launch
    from vgpu.tools.prepare import prepare
    from vgpu.tools.sanitize.sample import Sample

    kernel, prepared, finish = prepare("profile", kernel, grid, block, args, meta)
    dynamic = shared_bytes or prepared.shared_bytes
    shape = launch.check_dimensions(prepared.grid or grid, prepared.block or block)
    lowered, _ = prepared.kernel.compiled(count=True, follow=watched is not None, rows=launch.in_rows(*shape))
    sample = Sample(prepared, lowered, *shape, dynamic)
    counters = launch.launch(
        prepared.kernel, *shape, prepared.params, prepared.arrays, dynamic,
        observe=True, timeout=timeout, cooperative=prepared.cooperative, watched=watched,
    )  # fmt: skip
    assert counters is not None, "the launch is observed"
    races = sample.races(counters)
    finish()
    return _assemble(prepared.kernel, counters, dynamic, gpu, races)
