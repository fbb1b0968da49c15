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
from typing import TYPE_CHECKING, Any

from vgpu.bench.kernels import WORKLOADS, Workload

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

        self.case = workload.arguments(n)
        args = [numba_cuda.to_device(a) if getattr(a, "ndim", 0) else a for a in self.case.args]
        start = time.perf_counter()
        self.prepared = workload.kernel.prepare(args, self.case.grid, self.case.block)
        self.to_ptx = time.perf_counter() - start

    def compile(self) -> float:
        """Seconds from PTX to machine code."""
        start = time.perf_counter()
        self.prepared.kernel.compiled(True)
        return time.perf_counter() - start

    def run(self, threads: int = 1) -> Counters:
        """The counters of a launch."""
        from vgpu.launch import launch

        counters = launch.launch(
            self.prepared.kernel, self.case.grid, self.case.block, self.prepared.params, self.prepared.arrays,
            observe=True, threads=threads,
        )  # fmt: skip
        assert counters is not None, "the launch is observed"
        return counters


def measure(name: str, workload: Workload, threads: int, repeat: int) -> dict:
    """One kernel: instructions a second with counters; seconds to compile, to load it again, and per thread."""
    ready = PreparedWorkload(workload, workload.size)
    compiling = ready.compile()
    seconds, several = best(ready.run, repeat), best(lambda: ready.run(threads), repeat)
    lanes = ready.run(threads).total["thread_instructions"]
    return {
        "kernel": name, "lane_instructions": lanes, "seconds": seconds, "rate": lanes / seconds,
        "seconds_on_all_threads": several, "to_ptx": ready.to_ptx, "compile": compiling,
        "again": best(lambda: PreparedWorkload(workload, workload.simulated).compile(), 3),
        "per_thread": seconds / ready.case.threads,
    }  # fmt: skip


def sanitized(repeat: int) -> dict[str, float]:
    """Lane-instructions a second of two kernels under the sanitizer, its report included."""
    from vgpu.standins import numba_cuda
    from vgpu.tools.sanitize import sanitize

    found = {}
    for name in ("tiled matmul", "block reduction"):
        workload = WORKLOADS[name]
        ready = PreparedWorkload(workload, workload.size)
        lanes = ready.run().total["thread_instructions"]
        args = tuple(numba_cuda.to_device(a) if getattr(a, "ndim", 0) else a for a in ready.case.args)
        watched = functools.partial(sanitize, workload.kernel, ready.case.grid, ready.case.block, args)
        watched()
        found[name] = lanes / best(watched, repeat)
    return found


def scaling(repeat: int) -> list[dict]:
    """Seconds and lane-instructions of launches over three decades of work, for kernels of two kinds."""
    found = []
    for name, sizes in (("saxpy", (1 << 14, 1 << 17, 1 << 20, 1 << 23)), ("tiled matmul", (64, 128, 256, 512))):
        for n in sizes:
            ready = PreparedWorkload(WORKLOADS[name], n)
            ready.compile()
            seconds = best(ready.run, repeat)
            lanes = ready.run().total["thread_instructions"]
            found.append({"kernel": name, "n": n, "lane_instructions": lanes, "seconds": seconds})
    return found


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
    options = parser.parse_args(argv)
    os.environ["VGPU_CACHE"] = "off"  # compilers are measured, too
    from vgpu.runtime import jit

    cores = os.cpu_count() or 1
    jit.address("wb_run_plain")
    simulated = {} if options.no_simulator else simulator()
    rows = [measure(name, workload, cores, options.repeat) for name, workload in WORKLOADS.items()]
    for row in rows:
        row["ratio"] = simulated[row["kernel"]] / row["per_thread"] if row["kernel"] in simulated else None
    report = {
        "cpu": jit.cpu(), "cores": cores, "launch_overhead": overhead(), "kernels": rows,
        "sanitized": sanitized(options.repeat), "scaling": scaling(options.repeat),
        "start": start_up(min(options.repeat, 3)),
    }  # fmt: skip
    print(json.dumps(report, indent=1) if options.json else table(report))
    return 0


def table(report: dict) -> str:
    """The report as text: all times measured on this machine, counters and bounds checks on."""
    lines = [
        f"virtual GPU on {report['cpu']}, {report['cores']} cores; counters and bounds checks on",
        f"{'kernel':16} {'G lane-instr/s':>14} {'one core':>10} {'all cores':>10} {'to PTX':>8} {'compile':>8} "
        f"{'again':>9} {'× simulator':>12}",
    ]
    for row in report["kernels"]:
        ratio = f"{row['ratio']:,.0f}" if row["ratio"] else "–"
        lines.append(
            f"{row['kernel']:16} {row['rate'] / 1e9:14.2f} {row['seconds'] * 1e3:7.1f} ms "
            f"{row['seconds_on_all_threads'] * 1e3:7.1f} ms {row['to_ptx']:6.2f} s {row['compile']:6.2f} s "
            f"{row['again'] * 1e6:6.0f} µs {ratio:>12}"
        )
    lines.append(
        f"launch overhead {report['launch_overhead'] * 1e3:.2f} ms; ratios to the simulator are per GPU thread"
    )
    rates = ", ".join(f"{name} {rate / 1e9:.2f}" for name, rate in report["sanitized"].items())
    lines.append(f"G lane-instructions/s under the sanitizer: {rates}")
    lines += ["", f"{'over three decades':16} {'n':>10} {'lane-instr':>14} {'one core':>10} {'ns each':>8}"]
    for row in report["scaling"]:
        lanes, seconds = row["lane_instructions"], row["seconds"]
        lines.append(
            f"{row['kernel']:18} {row['n']:>10} {lanes:14,d} {seconds * 1e3:7.2f} ms {seconds / lanes * 1e9:8.3f}"
        )
    start = report["start"]
    lines.append(
        f"import vgpu {start['import'] * 1e3:.1f} ms; from there to the end of the first kernel: "
        + ", ".join(f"{start[language]:.2f} s in {language}" for language in FIRST_KERNELS)
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
