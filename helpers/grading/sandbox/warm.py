"""What the fork server does once, so that no job has to: imports, and a first use of each compiler.

Nothing here may leave a thread running. A fork has only the thread that forked; another's locks would never open.
"""

from __future__ import annotations

import gc
import importlib
import os
import time
from collections.abc import Sequence
from typing import Any

THREAD_SECONDS = 5.0

C_KERNEL = 'extern "C" __global__ void warm(float* x) { x[threadIdx.x] = 2.0f * threadIdx.x; }'


def cuda_c() -> None:
    from helpers import cp

    values = cp.zeros(32, dtype=cp.float32)
    cp.RawKernel(C_KERNEL, "warm")((1,), (32,), (values,))


def python() -> None:
    from helpers import cp, cuda

    @cuda.jit
    def warm(x: Any) -> None:
        i = cuda.grid(1)
        if i < x.size:
            x[i] = 2 * x[i]

    warm[1, 32](cp.zeros(32, dtype=cp.float32))


def exercises() -> None:
    """Read the exercises of all chapters, and of the labs where they are shown."""
    from helpers.checking.exercise import exercises

    dict(exercises())


def rest() -> None:
    from vgpu.launch import running

    running.rest()


HERE = "helpers.grading.sandbox.warm"
ROLES = {
    "student": (
        "helpers.grading.sandbox.courier",
        # What IPython's kernel imports when it starts.
        "IPython.core.completerlib",
        "IPython.core.debugger",
        "IPython.core.oinspect",
        "IPython.extensions.storemagic",
        "ipykernel.ipkernel",
        "tornado.platform.asyncio",
        "numpy",
        "helpers",
        "vgpu.standins.backend",
        "helpers.checking.check",
        "helpers.pictures.figures",
        "helpers.checking.probe",
        "vgpu.standins.cupy",
        "vgpu.standins.numba_cuda",
        "vgpu.tools.sanitize",
        *(f"{HERE}:{name}" for name in ("cuda_c", "python", "exercises", "rest")),
    ),
    # Each launch is a fork of it: the less it holds, the quicker.
    "runner": ("helpers.grading.runner", "helpers.grading.warm:runner", f"{HERE}:rest"),
    "judge": ("helpers.grading.judge", f"{HERE}:exercises", f"{HERE}:rest"),
}
"""What the fork server of each role imports, and calls, before any job comes, beside what `open_sandbox` is given."""


def warm_up(names: Sequence[str]) -> str:
    """Import modules and call functions, given as "module:function"; "" or what failed, which jobs may live without."""
    problems = []
    for name in names:
        module, _, function = name.partition(":")
        try:
            found = importlib.import_module(module)
            if function:
                getattr(found, function)()
        except Exception as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
    # Objects made so far are kept for good; a collection in a job would else touch, and so copy, all their pages.
    gc.collect()
    gc.freeze()
    return "; ".join(problems)


def threads() -> int:
    """How many threads this process has, after giving those that are ending the time to."""
    until = time.monotonic() + THREAD_SECONDS
    while (count := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    return count
