"""How much of a machine one job may use."""

from __future__ import annotations

import contextlib
import platform
import re
from dataclasses import dataclass

MIB = 1 << 20
THREADS = 1
"""How many threads NumPy, PyTorch and other libraries compute with: what a fork server has must not run any beside it,
and training on few data is no quicker with more."""
COUNTED = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM", "BLIS")


@dataclass(frozen=True)
class Limits:
    """Limits of one job; of memory, files, outputs and messages in bytes, of time in seconds.

    `memory`, `processes` (threads count) and `scratch` (all files in /tmp, the home and /dev/shm) are of the whole job;
    `cpu_seconds`, `open_files` and `file_size` of each process in it; `cell_seconds` is the time of one cell where
    nothing else is said; `output` the bytes that one cell may print and show, in at most `outputs` pieces; `message`
    those of one message.
    """

    memory: int = 2048 * MIB
    cpu_seconds: int = 300
    cell_seconds: float = 30.0
    processes: int = 128
    open_files: int = 512
    file_size: int = 64 * MIB
    scratch: int = 128 * MIB
    output: int = 8 * MIB
    outputs: int = 2000
    message: int = 4 * MIB
    start_seconds: float = 600.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"{name} is a positive number, not {value!r}")


def threads() -> dict[str, str]:
    """The variables of the environment that libraries take the number of their threads from."""
    return {f"{name}_NUM_THREADS": str(THREADS) for name in COUNTED}


def apply(limits: Limits, memory_here: bool, processes_here: bool) -> None:
    """Limit this process and all that it starts.

    `memory_here` and `processes_here`: whether memory and processes are limited here, because no control group does it.
    RLIMIT_AS is never used: Numba, LLVM and PyTorch map far more addresses than they ever fill, and honest work would
    fail. RLIMIT_DATA counts what is writable and private. It is of one process, so a watchdog outside adds them up.
    RLIMIT_NPROC counts the processes of a user in this user namespace and below from Linux 5.14 on. Before, and without
    a user namespace of its own, it counts those of all graders together, so that honest kernels starve one another:
    then it is not set, and the watchdog counts.
    """
    import resource

    wanted = {
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if memory_here:
        # The watchdog comes first, if it can: it ends a job, and Python without memory may hang instead.
        wanted[resource.RLIMIT_DATA] = 2 * limits.memory + data_bytes()
    if processes_here and linux() >= (5, 14):
        wanted[resource.RLIMIT_NPROC] = limits.processes
    for which, most in wanted.items():
        _, hard = resource.getrlimit(which)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # After the soft limit of seconds comes SIGXCPU, which can be ignored; after the hard one nothing can.
        hard = most + 1 if which == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else most
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (most, hard))


def linux() -> tuple[int, ...]:
    """The version of Linux that runs, as (6, 1)."""
    numbers = re.match(r"(\d+)\.(\d+)", platform.release())
    return tuple(map(int, numbers.groups())) if numbers else (0, 0)


def data_bytes() -> int:
    """Bytes of private writable memory that this process has mapped already."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
