"""What a program launched: kernels with their counters, and what the sanitizer found in them."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vgpu import operations
from vgpu.launch import launch
from vgpu.launch.grid import Grid
from vgpu.tools.profile import Profile, profile_of
from vgpu.tools.sanitize.findings import Finding, Findings
from vgpu.tools.sanitize.program import watching
from vgpu.tools.sanitize.sample import Sample

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU
    from vgpu.launch.counters import Counters


@dataclass
class Launched:
    """Launches of one kernel with one grid and block: how many, and the counters of the first of them."""

    kernel: launch.Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int
    counters: Counters
    races: tuple[Finding, ...] = ()
    launches: int = 1

    def profile(self, gpu: GPU | None = None) -> Profile:
        """The first launch's profile on a GPU of the table, else on the modelled one."""
        return profile_of(self.kernel, self.counters, self.dynamic_shared_bytes, gpu, self.races)


@dataclass
class Found:
    """What the sanitizer found in the launches of one kernel, each mistake once."""

    kernel: str
    launches: int = 0
    findings: dict[tuple, tuple[Finding, int]] = field(default_factory=dict)
    """By kind, lines and array: the first finding, and in how many launches there was one."""

    def add(self, found: Findings) -> None:
        """Add what was found in one more launch."""
        self.launches += 1
        for cause, each in {finding.cause: finding for finding in reversed(found)}.items():
            first, times = self.findings.get(cause, (each, 0))
            self.findings[cause] = first, times + 1

    @property
    def errors(self) -> int:
        """How many of the mistakes are errors, and not hints."""
        return sum(first.level == "error" for first, _ in self.findings.values())


class Observed:
    """The launches of a program and what was found in them, filled while it runs."""

    def __init__(self) -> None:
        self._launched: dict[tuple, Launched] = {}
        self._found: dict[str, Found] = {}
        self._races: dict[tuple, tuple[Finding, ...]] = {}
        self.refused: Counter[str] = Counter()
        """The calls that CUDA's runtime refused: how many by message."""

    @property
    def launched(self) -> list[Launched]:
        """Kernels by grid and block, in the order of their first launches."""
        return list(self._launched.values())

    @property
    def found(self) -> list[Found]:
        """Kernels under the sanitizer, in the order of their first launches."""
        return list(self._found.values())

    @property
    def errors(self) -> int:
        """The number of errors that the sanitizer found, and of calls that were refused for different reasons."""
        return sum(each.errors for each in self.found) + len(self.refused)

    def note(self, done: Grid) -> None:
        """Note a launch that has ended."""
        key = done.kernel.entry, done.kernel.ptx, done.kernel.cluster, done.grid, done.block
        if key in self._launched:
            self._launched[key].launches += 1
            return
        races = self._races.pop(key, ())
        self._launched[key] = Launched(done.kernel, done.grid, done.block, done.dynamic_shared, done.counters(), races)

    def run(
        self, kernel: launch.Kernel, grid: Any, block: Any, params: Any, arrays: Any, shared_bytes: int, **named: Any
    ) -> Grid:
        """Run a launch, and look for races in it if it is the first of its kind."""
        key = kernel.entry, kernel.ptx, kernel.cluster, grid, block
        cooperative = named.get("cooperative", False)
        prepared = launch.Prepared(kernel, list(params), list(arrays), shared_bytes, cooperative=cooperative)
        fresh = key not in self._launched
        lowered, _ = kernel.compiled(count=True, rows=launch.in_rows(grid, block))
        sample = Sample(prepared, lowered, grid, block, shared_bytes) if fresh else None
        done = launch.run(kernel, grid, block, params, arrays, shared_bytes, **named)
        if sample is not None:
            self._races[key] = sample.races(done.counters())
        return done

    def note_findings(self, found: Findings, done: Grid) -> None:
        """Note what the sanitizer found in a launch."""
        self._found.setdefault(found.kernel, Found(found.kernel)).add(found)

    def note_refused(self, error: Exception) -> None:
        """Note a call that was refused."""
        self.refused[str(error)] += 1


@contextlib.contextmanager
def observing(
    *, counters: bool = False, races: bool = False, sanitizer: bool = False, seeds: Sequence[int] = ()
) -> Iterator[Observed]:
    """Observe all launches of the `with` block: count them, and run them under the sanitizer, as asked.

    races: look for races in the first blocks of counted launches.
    seeds: the sanitizer runs each launch once for each of these random schedules.
    """
    observed = Observed()
    with contextlib.ExitStack() as stack:
        if counters:
            stack.enter_context(launch.FINISHED.hearing(observed.note))
        if races:
            stack.enter_context(launch.RUNNERS.hearing(observed.run))
        if sanitizer:
            stack.enter_context(watching(observed.note_findings, seeds=seeds))
            stack.enter_context(operations.REFUSED.hearing(observed.note_refused))
        yield observed


def seconds(launched: Launched, profile: Profile) -> float:
    """The modelled seconds of all launches that were like the first one."""
    return launched.launches * profile.model.seconds


def as_data(value: Any) -> Any:
    """A figure as JSON has it: numbers of NumPy as Python's, infinity as null."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
