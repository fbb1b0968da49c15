"""How fast the virtual GPU is: `python -m vgpu.bench`.

Prints lane-instructions per second with counters and bounds checks on, compile time, launch overhead, and the
ratio to Numba's simulator, measured on the same kernels in the same run. Times are the best of several runs, since
other load on the machine only adds to them.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vgpu.bench import page, pages, peaks
from vgpu.bench.kernels import BLOCK, WORKLOADS, Case, Workload

if TYPE_CHECKING:
    from vgpu.launch.counters import Counters

SIMULATE = """
import json, sys, time
from numba import cuda
from vgpu.bench.kernels import WORKLOADS
seconds = {}
for name, workload in WORKLOADS.items():
    c = workload.arguments(workload.simulated)
    args = [cuda.to_device(a) if getattr(a, "ndim", 0) else a for a in c.args]
    start = time.perf_counter()
    workload.kernel[c.grid, c.block](*args)
    seconds[name] = (time.perf_counter() - start) / c.threads
print(json.dumps(seconds))
"""


def best(call: Callable[[], object], repeat: int) -> float:
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def simulator() -> dict[str, float]:
    """Seconds per thread of each kernel on Numba's simulator, in a separate process; {} where it doesn't run."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, "-c", SIMULATE], env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"Numba's simulator did not run: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


class PreparedWorkload:
    """One workload on device arrays, ready for repeated launches."""

    def __init__(self, workload: Workload, n: int):
        from vgpu.standins import numba_cuda

        self.workload, self.case = workload, workload.arguments(n)
        args = [numba_cuda.to_device(a) if getattr(a, "ndim", 0) else a for a in self.case.args]
        start = time.perf_counter()
        self.prepared = workload.kernel.prepare(args, self.case.grid, self.case.block)
        self.to_ptx = time.perf_counter() - start

    def compile(self) -> float:
        """Seconds from PTX to machine code."""
        start = time.perf_counter()
        self.prepared.kernel.compiled(True)
        return time.perf_counter() - start

    def run(self, threads: int = 1, observe: bool = True) -> Counters | None:
        """The counters of a launch, if it is observed."""
        from vgpu.launch import launch

        return launch.launch(
            self.prepared.kernel, self.case.grid, self.case.block, self.prepared.params, self.prepared.arrays,
            observe=observe, threads=threads,
        )  # fmt: skip

    def counters(self) -> Counters:
        counters = self.run()
        assert counters is not None, "the launch is observed"
        return counters

    def lanes(self) -> int:
        """Instructions of all threads."""
        return self.counters().total["thread_instructions"]

    def sanitizes(self) -> Callable[[], object]:
        """A launch under the sanitizer, its report included."""
        from vgpu.standins import numba_cuda
        from vgpu.tools.sanitize import sanitize

        args = tuple(numba_cuda.to_device(a) if getattr(a, "ndim", 0) else a for a in self.case.args)
        return functools.partial(sanitize, self.workload.kernel, self.case.grid, self.case.block, args)


def measure(name: str, workload: Workload, repeat: int) -> dict:
    """One kernel on one core: seconds counted, uncounted and sanitized; to compile, and to load it again."""
    ready = PreparedWorkload(workload, workload.size)
    compiling = ready.compile()
    plain = lambda: ready.run(observe=False)
    sanitized = ready.sanitizes()
    for warm_up in (plain, sanitized):
        warm_up()
    counters = ready.counters()
    seconds = best(ready.run, repeat)
    return {
        "kernel": name, "lane_instructions": counters.total["thread_instructions"],
        "bytes": counters.footprint.read_bytes + counters.footprint.written_bytes,
        "seconds": seconds, "uncounted": best(plain, repeat), "sanitized": best(sanitized, repeat),
        "to_ptx": ready.to_ptx, "compile": compiling,
        "again": best(lambda: PreparedWorkload(workload, workload.simulated).compile(), 3),
        "per_thread": seconds / ready.case.threads,
    }  # fmt: skip


def of_roofline(row: dict, lanes: float, repeat: int) -> float:
    """The least time in which a core could do a kernel's work (its traffic, its instructions), by the time it takes."""
    timed = functools.partial(best, repeat=repeat)
    bound = max(row["lane_instructions"] / lanes, row["bytes"] / peaks.bytes_per_second(row["bytes"], timed))
    return bound / row["uncounted"]


SIZES = {
    "elements": {"saxpy": [1 << n for n in range(10, 25, 2)], "tiled matmul": [64, 128, 256, 512]},
    "blocks": {"block reduction": [BLOCK << n for n in range(0, 13, 2)]},
}
BLOCKS = (32, 64, 128, 256, 512, 1024)


def scaling(repeat: int) -> list[dict]:
    """Seconds, counted, over elements and blocks, threads of a block, and cores."""
    found = []

    def add(axis: str, name: str, n: int, ready: PreparedWorkload, threads: int = 1) -> None:
        run = lambda: ready.run(threads)
        run()
        lanes, seconds = ready.lanes(), best(run, repeat)
        found.append({"axis": axis, "kernel": name, "n": n, "lane_instructions": lanes, "seconds": seconds})

    for axis, kernels in SIZES.items():
        for name, sizes in kernels.items():
            for n in sizes:
                add(axis, name, n // (BLOCK if axis == "blocks" else 1), PreparedWorkload(WORKLOADS[name], n))
    for block in BLOCKS:
        saxpy = WORKLOADS["saxpy"]
        add("threads of a block", "saxpy", block, PreparedWorkload(in_blocks(saxpy, block), saxpy.size))
    for name, workload in WORKLOADS.items():
        ready = PreparedWorkload(workload, workload.size)
        for cores in (n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)):
            add("cores", name, cores, ready, cores)
    return found


def in_blocks(workload: Workload, block: int) -> Workload:
    """The same in blocks of so many threads."""

    def arguments(n: int) -> Case:
        return replace(workload.arguments(n), grid=(-(-n // block),), block=(block,))

    return replace(workload, arguments=arguments)


FIRST = """
import time
start = time.perf_counter()
import vgpu
imported = time.perf_counter()
{}
print(imported - start, time.perf_counter() - start)
"""
FIRST_KERNELS = {
    "CUDA C": """
from vgpu import cp
kernel = cp.RawKernel('extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }', "k")
kernel((1,), (32,), (cp.zeros(32, cp.float32),))
""",
    "Numba": """
import numpy as np
from vgpu.bench.kernels import WORKLOADS
case = WORKLOADS["saxpy"].arguments(1024)
WORKLOADS["saxpy"].kernel[case.grid, case.block](*case.args)
""",
}


def start_up(repeat: int) -> dict[str, float]:
    """Seconds to import `vgpu`, and until the first kernel of each language has run, each in a new process."""
    found: dict[str, float] = {}
    for language, code in FIRST_KERNELS.items():
        runs = []
        for _ in range(repeat):
            done = subprocess.run(
                [sys.executable, "-c", FIRST.format(code)], capture_output=True, text=True, check=True
            )
            runs.append(tuple(map(float, done.stdout.split())))
        found["import"] = min(found.get("import", 1e9), min(imported for imported, _ in runs))
        found[language] = min(total for _, total in runs)
    return found


def overhead(repeat: int = 200) -> float:
    """Seconds of a launch of one nearly empty block."""
    from vgpu.standins import numba_cuda as cuda

    @cuda.jit
    def nothing(x: Any) -> None:
        x[cuda.threadIdx.x] = 1

    x = cuda.device_array(32, "float32")
    configured = nothing[1, 32]
    configured(x)
    return best(lambda: configured(x), repeat)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m vgpu.bench", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs of each kernel; the best counts")
    parser.add_argument("--no-simulator", action="store_true", help="leave Numba's simulator out")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--save", action="store_true", help=f"keep the figures and write {page.PAGE.name}")
    options = parser.parse_args(argv)
    report = measured(options.repeat, not options.no_simulator)
    if options.save:
        page.save(report)
    print(json.dumps(report, indent=1) if options.json else page.text(report))
    return 0


def measured(repeat: int, simulate: bool) -> dict:
    """All figures, in seconds."""
    os.environ["VGPU_CACHE"] = "off"  # compilers are measured, too
    from vgpu.runtime import jit

    jit.address("wb_run_plain")
    simulated = simulator() if simulate else {}
    rows = [measure(name, workload, repeat) for name, workload in WORKLOADS.items()]
    lanes = peaks.lane_operations_per_second(functools.partial(best, repeat=repeat))
    for row in rows:
        row["of_roofline"] = of_roofline(row, lanes, repeat)
        row["ratio"] = simulated[row["kernel"]] / row["per_thread"] if row["kernel"] in simulated else None
    return {
        "made": pages.made(), "lane_operations": lanes, "launch_overhead": overhead(), "kernels": rows,
        "scaling": scaling(repeat), "start": start_up(min(repeat, 3)),
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
