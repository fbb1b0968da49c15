"""A launch of a kernel, tried: what it is given, and what is seen of it. What is expected is nobody's business here.

A `Trial` holds a launch's inputs, and `Seen` what came of them, both as plain data: so the kernel can run in a process
that knows nothing else (`trial_as_json` writes both), while whoever holds the right result compares and decides.
`Here` runs trials of a kernel in this process, as for a learner's own kernel.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vgpu.base import settings
from vgpu.hardware.gpus import GPU
from vgpu.launch import launch
from vgpu.launch.counters import Counters
from vgpu.tools.compiled import machine_code_on, resources_on
from vgpu.tools.prepare import prepare
from vgpu.tools.sanitize.findings import Finding
from vgpu.tools.steps.dependencies import Chain, ChainTooLong, linked

if TYPE_CHECKING:
    from vgpu.compile.machine_code import MachineInstruction
    from vgpu.compile.resources import Resources

POISON = 0xFF
LONGEST = 20.0
"""Seconds that one launch may take, where the environment's VGPU_TIMEOUT says nothing else."""


class Stopped(Exception):
    """Something failed where the kernel ran that is no error of the virtual GPU; the message has its type and words."""


@dataclass(frozen=True, eq=False)
class Blank:
    """An output as a kernel gets it: of `dtype` and `shape`, every byte 0xFF, or holding `initial`."""

    dtype: np.dtype
    shape: tuple[int, ...]
    initial: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """A launch, counted. `arguments`: arrays, scalars and at least one `Blank`, in the kernel's order.

    `watch`: whether the sanitizer watches the launch. `follow`: the block and the warp in it whose every instruction is
    recorded, or None.
    """

    arguments: tuple
    grid: tuple[int, ...]
    block: tuple[int, ...]
    watch: bool = False
    follow: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Seen:
    """What came of a trial: the first output and what was counted while it was made, or the error that ended it.

    `chain`: what the warp executed that was to be followed; None where that is too much to be followed to its end.
    `findings`: the sanitizer's, of the same launch.
    """

    output: np.ndarray | None = None
    error: Exception | None = None
    counters: Counters | None = None
    chain: Chain | None = None
    findings: tuple[Finding, ...] = ()


class Runs(Protocol):
    """What runs trials of one kernel, here or elsewhere."""

    def run(self, trial: Trial) -> Seen:
        """Run a launch on fresh memory; never raises because of what the kernel does."""

    def resources(self, gpu: GPU) -> Resources:
        """Registers, shared memory and spills on `gpu`; raises CompileError where that cannot run the kernel."""

    def machine_code(self, gpu: GPU) -> tuple[MachineInstruction, ...]:
        """The kernel's `MachineInstruction`s on `gpu`; raises Unsupported without NVIDIA's disassembler."""

    def line(self, number: int) -> str:
        """The learner's source of a line, "" where it is not known."""


class Here:
    """Runs trials in this process."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._prepared: launch.Kernel | None = None

    def run(self, trial: Trial) -> Seen:
        arguments, outputs = place(trial)
        try:
            return self._launched(trial, arguments, outputs)
        except Exception as error:  # a learner's kernel may fail in any way
            return Seen(error=error)

    def _launched(self, trial: Trial, arguments: list, outputs: list) -> Seen:
        self._forget()
        _, prepared, finish = prepare("check", self._kernel, trial.grid, trial.block, tuple(arguments), {})
        self._prepared = prepared.kernel
        found, counters = (_watched if trial.watch else _counted)(trial, prepared)
        finish()
        chain = None
        if counters.path is not None:
            with contextlib.suppress(ChainTooLong):
                chain = linked(counters.path)
        return Seen(outputs[0].get(), counters=counters, chain=chain, findings=tuple(found))

    def _forget(self) -> None:
        """Let a kernel that came from elsewhere find nothing of earlier launches, by which it could tell this one."""
        if hasattr(self._kernel, "forget"):
            self._kernel.forget()

    def resources(self, gpu: GPU) -> Resources:
        kernel = self._prepared or self._kernel.kernel  # one that came from elsewhere is compiled already
        return resources_on(kernel, gpu)

    def machine_code(self, gpu: GPU) -> tuple[MachineInstruction, ...]:
        kernel = self._prepared or self._kernel.kernel
        return machine_code_on(kernel, gpu)

    def line(self, number: int) -> str:
        return self._prepared.line_text(number) if self._prepared else ""


def _counted(trial: Trial, prepared: launch.Prepared) -> tuple[Iterable[Finding], Counters]:
    """No findings, and what a launch counts: by one worker, so that a race comes out the same on every machine."""
    counters = launch.launch(
        prepared.kernel, trial.grid, trial.block, prepared.params, prepared.arrays, prepared.shared_bytes,
        observe=True, threads=1, timeout=_seconds(), cooperative=prepared.cooperative, watched=trial.follow,
    )  # fmt: skip
    assert counters is not None  # it was observed
    return (), counters


def _watched(trial: Trial, prepared: launch.Prepared) -> tuple[Iterable[Finding], Counters]:
    """The sanitizer's findings, and what the same launch counts."""
    from vgpu.tools.sanitize.run import counted

    return counted(prepared, trial.grid, trial.block, _seconds(), trial.follow)


def _seconds() -> float:
    return settings.timeout(default=LONGEST)


def place(trial: Trial) -> tuple[list, list]:
    """The arguments of a trial in the virtual GPU's memory, and the arrays among them that are outputs."""
    from vgpu.standins import cupy as cp

    arguments, outputs = [], []
    for given in trial.arguments:
        if isinstance(given, Blank):
            outputs.append(cp.empty(given.shape, given.dtype))
            arguments.append(outputs[-1])
        else:
            arguments.append(cp.empty(given.shape, given.dtype) if isinstance(given, np.ndarray) else given)
    fill(trial, arguments)
    return arguments, outputs


def fill(trial: Trial, arguments: list) -> None:
    """Let the arrays hold what they hold before the launch."""
    from vgpu.standins import cupy as cp

    for given, array in zip(trial.arguments, arguments, strict=True):
        if isinstance(given, Blank):
            array.view(np.uint8).fill(POISON)
            given = given.initial
        if isinstance(given, np.ndarray):
            array[...] = cp.asarray(given)
