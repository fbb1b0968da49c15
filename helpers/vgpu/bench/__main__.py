"""How fast the virtual GPU is: `python -m helpers.vgpu.bench`.

Prints lane-instructions per second with counters and bounds checks on, compile time, launch overhead, and the
ratio to Numba's simulator, measured on the same kernels in the same run. Times are the best of several, since on a
busy machine every disturbance adds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

from helpers.vgpu.bench.kernels import KERNELS, SIMULATOR_SIZES, SIZES, case

SIMULATE = """
import json, sys, time
from numba import cuda
from helpers.vgpu.bench.kernels import KERNELS, SIMULATOR_SIZES, case
seconds = {}
for name, n in SIMULATOR_SIZES.items():
    c = case(name, n)
    args = [cuda.to_device(a) if getattr(a, "ndim", 0) else a for a in c.args]
    start = time.perf_counter()
    KERNELS[name][c.grid, c.block](*args)
    seconds[name] = (time.perf_counter() - start) / c.threads
print(json.dumps(seconds))
"""


def best(f, repeat: int) -> float:
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


def simulator() -> dict[str, float]:
    """Seconds a thread of each kernel on Numba's simulator, in a process of its own; {} where it does not run."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, "-c", SIMULATE], env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"Numba's simulator did not run: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def measure(name: str, kernel, threads: int, repeat: int) -> dict:
    """One kernel: instructions a second with counters, seconds to compile and seconds a thread."""
    from helpers.vgpu import launch, numba_cuda

    size = case(name, SIZES[name])
    args = [numba_cuda.to_device(a) if getattr(a, "ndim", 0) else a for a in size.args]
    start = time.perf_counter()
    prepared = kernel.prepare(args, size.grid, size.block)
    front_end = time.perf_counter() - start
    start = time.perf_counter()
    prepared.kernel.compiled(True)
    compiling = time.perf_counter() - start
    found = []

    def run(n: int) -> None:
        found.append(
            launch.launch(
                prepared.kernel,
                size.grid,
                size.block,
                prepared.params,
                prepared.arrays,
                observe=True,
                threads=n,
            )
        )

    seconds = best(lambda: run(1), repeat)
    several = best(lambda: run(threads), repeat)
    lanes = found[-1].total["thread_instructions"]
    return {
        "kernel": name, "lane_instructions": lanes, "seconds": seconds, "rate": lanes / seconds,
        "seconds_on_all_threads": several, "to_ptx": front_end, "compile": compiling,
        "per_thread": seconds / size.threads,
    }  # fmt: skip


def overhead(repeat: int = 200) -> float:
    """Seconds of a launch of one block that does next to nothing."""
    from helpers.vgpu import numba_cuda as cuda

    @cuda.jit
    def nothing(x):
        x[cuda.threadIdx.x] = 1

    x = cuda.device_array(32, "float32")
    configured = nothing[1, 32]
    configured(x)
    return best(lambda: configured(x), repeat)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.vgpu.bench", description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="runs of each kernel; the best counts")
    parser.add_argument("--no-simulator", action="store_true", help="leave Numba's simulator out")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(argv)
    from helpers.vgpu import jit

    cores = os.cpu_count() or 1
    jit.address("wb_run_blocks")
    simulated = {} if options.no_simulator else simulator()
    rows = [measure(name, kernel, cores, options.repeat) for name, kernel in KERNELS.items()]
    for row in rows:
        row["ratio"] = simulated[row["kernel"]] / row["per_thread"] if row["kernel"] in simulated else None
    report = {"cpu": jit.cpu(), "cores": cores, "launch_overhead": overhead(), "kernels": rows}
    print(json.dumps(report, indent=1) if options.json else table(report))
    return 0


def table(report: dict) -> str:
    """The report as text: all times measured on this machine, counters and bounds checks on."""
    lines = [
        f"virtual GPU on {report['cpu']}, {report['cores']} cores; counters and bounds checks on",
        f"{'kernel':16} {'G lane-instr/s':>14} {'one core':>10} {'all cores':>10} {'to PTX':>8} {'compile':>8} "
        f"{'× simulator':>12}",
    ]
    for r in report["kernels"]:
        ratio = f"{r['ratio']:,.0f}" if r["ratio"] else "–"
        lines.append(
            f"{r['kernel']:16} {r['rate'] / 1e9:14.2f} {r['seconds'] * 1e3:7.1f} ms "
            f"{r['seconds_on_all_threads'] * 1e3:7.1f} ms {r['to_ptx']:6.2f} s {r['compile']:6.2f} s {ratio:>12}"
        )
    lines.append(f"launch overhead {report['launch_overhead'] * 1e3:.2f} ms")
    lines.append(
        f"simulator sizes: {', '.join(f'{k} {n}' for k, n in SIMULATOR_SIZES.items())}; ratios are per GPU thread"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
