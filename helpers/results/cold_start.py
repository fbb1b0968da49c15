"""What a program pays before its first kernel runs: a fresh Python process measured stage by stage.

    cold_start()                         # libraries, context, compiler, first launch, and the launches after it

A process of its own, because in this one everything has long been loaded. What CuPy and the virtual GPU keep of
compiled kernels on disk is left out of it, so that compilers work as on the first day. On a machine without a GPU the
same stages are measured of the virtual GPU, and the table says what they are there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from vgpu.hardware.time_model import seconds_text
from vgpu.tools.profile_table import text_table
from vgpu.tools.streams.spans import table

LONGEST = 120  # seconds; a first start may read gigabytes of libraries from a cold disk
STAGES = (
    # name, what happens on a GPU, what happens on the virtual one
    ("libraries", "importing CuPy and what it needs", "importing the stand-in for CuPy"),
    ("context", "the first array: the driver makes a context for the process", "the first array: no driver to wake"),
    ("compile", "CUDA C to machine code, loaded as a module", "CUDA C to PTX, by NVIDIA's compiler"),
    ("first launch", "code that is loaded only when it is called", "PTX to machine code of this CPU"),
    ("second launch", "the same again", "the same again"),
    ("later launches", "the median of twenty more", "the median of twenty more"),
)
_PROGRAM = r"""
import json, statistics, time
marks = [time.perf_counter()]
def mark():
    marks.append(time.perf_counter())
import numpy as np
from helpers import cp
mark()
x = cp.zeros(4096, dtype="float32")
cp.cuda.Device().synchronize()
mark()
source = 'extern "C" __global__ void add(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f; }'
kernel = cp.RawKernel(source, "add")
kernel.compile()
mark()
def launch():
    kernel((16,), (256,), (x,))
    cp.cuda.Device().synchronize()
    mark()
for _ in range(22):
    launch()
times = [after - before for before, after in zip(marks, marks[1:])]
from helpers import device
print(json.dumps([*times[:5], statistics.median(times[5:])]))
print(device().runs_on)
"""


class ColdStartError(RuntimeError):
    """The process that was to be measured ended in an error, whose last line is the message."""


@dataclass(frozen=True, repr=False)
class ColdStart:
    """Measured seconds of each stage in the order of `STAGES`, and on what."""

    seconds: tuple[float, ...]
    on: str

    def __getitem__(self, stage: str) -> float:
        names = [name for name, *_ in STAGES]
        if stage not in names:
            raise KeyError(f"no stage called {stage!r}; there are {', '.join(names)}")
        return self.seconds[names.index(stage)]

    @property
    def ratio(self) -> float:
        """From an empty process to the end of the first launch, libraries left out, over a later launch."""
        return sum(self[name] for name in ("context", "compile", "first launch")) / self["later launches"]

    def _cells(self) -> list[list[str]]:
        virtual = self.on == "virtual GPU"
        return [[name, seconds_text(self[name]), what[virtual]] for name, *what in STAGES]

    def __repr__(self) -> str:
        rows = [[name, seconds] for name, seconds, _ in self._cells()]
        return "\n".join(text_table(("stage", f"measured on the {self.on}"), rows, left=0))

    def _repr_html_(self) -> str:
        return table(f"A fresh process, <strong>measured</strong> on the {self.on}", ("stage", "time", "what happens"),
                     self._cells())  # fmt: skip


def cold_start() -> ColdStart:
    """Start a process, let it run its first kernels, and read its clock; takes a few seconds.

    Raises ColdStartError where the process fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=LONGEST, check=False,
            env={**os.environ, "CUPY_CACHE_DIR": folder, "VGPU_CACHE": "off"},
        )  # fmt: skip
    if found.returncode:
        said = found.stderr.strip().splitlines()
        raise ColdStartError(f"the fresh process failed: {said[-1] if said else f'exit {found.returncode}'}")
    times, on = found.stdout.strip().splitlines()[-2:]
    return ColdStart(tuple(json.loads(times)), on)
