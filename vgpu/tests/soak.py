"""`python -m vgpu.tests.soak --minutes 15`: generated kernels launched again and again, in a process short of memory.

A child process compiles a set of kernels, runs each once in every way, and is then allowed --headroom MiB of address
space more than it has. From there on it launches: kernels of all languages, in order and at random, plain, counted,
watched and traced, with arrays that come and go, with faults, and with wishes for more memory than there is. Memory
that is still resident may not grow; a wish that cannot be granted ends in `OutOfMemory`; nothing ends the process.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from vgpu import cp, cuda, profile, sanitize, trace
from vgpu.base.errors import Deadlock, OutOfBounds, OutOfMemory
from vgpu.compile import cuda_c_to_ptx
from vgpu.launch import launch
from vgpu.storage import memory
from vgpu.tests import random_kernels
from vgpu.tests.fuzz import programs, record

MIB = 1 << 20
SAMPLE = 1000  # launches between two looks at the memory
GROWTH = 0.5  # MiB of resident memory that 1,000 launches may leave behind, on average

FAULTY = cp.RawKernel('extern "C" __global__ void past(float* x) { x[blockDim.x + threadIdx.x] = 1; }', "past")
STUCK = cp.RawKernel(
    """extern "C" __global__ void stuck(float* x) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 2, 64;"); }""",
    "stuck",
)
LOCAL = cp.RawKernel(
    """extern "C" __global__ void local(float* x) { float a[20000]; for (int i = 0; i < 20000; i++) a[i] = i;
    x[threadIdx.x] = a[(int)x[0] & 1023]; }""",
    "local",
)


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


@cuda.jit
def total(x, result):
    tile = cuda.shared.array(64, "float32")
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    step = 32
    while step:
        cuda.syncthreads()
        if t < step:
            tile[t] += tile[t + step]
        step //= 2
    if t == 0:
        cuda.atomic.add(result, 0, tile[0])


def generated(seed: int) -> Callable[[random.Random], str]:
    """A random kernel in CUDA C++, launched with any grid in any way."""
    (kernel,) = launch.load(cuda_c_to_ptx(random_kernels.source(seed, wide=True)).ptx, language="cuda").values()

    def run(chance: random.Random) -> str:
        blocks, threads = chance.choice((1, 3, 17)), 64
        given, out = memory.array(64, np.uint32), memory.array(blocks * threads + 320, np.uint32)
        given[:], out[:] = 7, 0
        params = [struct.pack("<Q", array.ctypes.data) for array in (given, out)] + [struct.pack("<I", seed % 97)]
        options = chance.choice(({}, {"observe": True}, {"threads": 2}, {"schedule": "random", "seed": seed}))
        launch.launch(kernel, blocks, threads, params, **options)
        return "ran"

    return run


def program(seed: int) -> Callable[[random.Random], str]:
    """Random PTX of the instruction table's rows."""
    (kernel,) = launch.load(programs.source(seed), language="cuda").values()

    def run(chance: random.Random) -> str:
        given = memory.array(128, np.uint64)
        out = memory.array(64 + programs.BLOCKS * programs.THREADS * programs.SLOTS, np.uint64)
        given[:], out[:] = 11, 0
        params = [struct.pack("<Q", array.ctypes.data) for array in (given, out)] + [struct.pack("<I", 13)]
        launch.launch(kernel, programs.BLOCKS, programs.THREADS, params, observe=chance.random() < 0.5)
        return "ran"

    return run


def in_python(chance: random.Random) -> str:
    n = chance.choice((0, 1, 1000, 4097))
    x, y = cp.ones(n, np.float32), cp.ones(n, np.float32)
    saxpy[n // 128 + 1, 128](2.0, x, y)
    assert (y.get() == 3).all()
    return "ran"


def observed(chance: random.Random) -> str:
    x, result = cp.ones(256, np.float32), cp.zeros(1, np.float32)
    look = chance.choice((profile, sanitize, trace))
    try:
        look(total, 4, 64, (x, result))
    except MemoryError:
        return "out of memory"
    return "observed"


def expect(error: type[Exception], act: Callable[[], object]) -> None:
    try:
        act()
    except error as found:
        assert len(str(found)) > 40, f"{error.__name__} has no words: {found}"
    else:
        raise AssertionError(f"{error.__name__} was expected")


def faults(chance: random.Random) -> str:
    kernel, error = chance.choice(((FAULTY, OutOfBounds), (STUCK, Deadlock)))
    expect(error, lambda: kernel((2,), (64,), (cp.zeros(64, np.float32),)))
    return "faulted"


def greedy(chance: random.Random) -> str:
    """Ask for more than there is: for arrays, one huge or many large, and for local memory."""

    def hoard() -> None:
        kept = []
        while True:
            kept.append(cp.zeros(32 * MIB, np.uint8))

    huge = chance.choice((1 << 33, 1 << 40, 1 << 50))
    wishes = (lambda: cp.empty(huge, np.uint8), hoard, lambda: cuda.device_array(huge, np.uint8))
    expect(OutOfMemory, chance.choice(wishes))
    return "out of memory"


def crowded(chance: random.Random) -> str:
    """A kernel with 80 KB of local memory a thread: it runs, or says that there is no room."""
    try:
        LOCAL((2,), (chance.choice((32, 1024)),), (cp.zeros(1024, np.float32),))
    except OutOfMemory:
        return "out of memory"
    return "ran"


def shapes(seed: int, kernels: int) -> list[tuple[float, Callable[[random.Random], str]]]:
    """What is launched: (how often, function) pairs."""
    made = [(1.0, generated(seed + i)) for i in range(kernels)] + [
        (1.0, program(seed + i)) for i in range(kernels // 3)
    ]
    often = len(made)
    return [*made, (often / 3, in_python), (often / 20, observed), (often / 20, faults), (often / 200, greedy),
            (often / 200, crowded)]  # fmt: skip


def resident() -> int:
    """Bytes of this process that are in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def address_space() -> int:
    """Bytes of addresses that this process has taken."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def child(seconds: float, seed: int, kernels: int, headroom: int) -> None:
    """Launch for a while, and print a row of JSON for every `SAMPLE` launches, and one at the end."""
    chance = random.Random(seed)
    table = shapes(seed, kernels)
    weights, functions = zip(*table, strict=True)
    for _, function in table:
        for _ in range(12 if function is not greedy else 0):
            function(chance)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + headroom * MIB, resource.RLIM_INFINITY))
    for _ in range(3):
        greedy(chance)
    gc.collect()
    tally, books = Counter(), memory.usage()
    end, count = time.monotonic() + seconds, 0
    print(json.dumps({"launches": 0, "resident": resident()}), flush=True)
    while time.monotonic() < end:
        for function in chance.choices(functions, weights, k=100):
            tally[function(chance)] += 1
        count += 100
        if count % SAMPLE == 0:
            gc.collect()
            assert memory.usage() == books, (memory.usage(), books)
            print(json.dumps({"launches": count, "resident": resident()}), flush=True)
    print(json.dumps({"tally": tally}), flush=True)


def growth(rows: list[dict]) -> float:
    """MiB that 1,000 launches leave behind: the slope of the line through the samples."""
    launches, bytes_resident = (np.array([row[name] for row in rows], float) for name in ("launches", "resident"))
    return float(np.polyfit(launches, bytes_resident, 1)[0]) * 1000 / MIB


def soak(seconds: float, seed: int = 0, kernels: int = 24, headroom: int = 512) -> tuple[dict, list[dict]]:
    """Run a child for `seconds`: (how often what happened, the samples). AssertionError when it does not end well."""
    command = [sys.executable, "-m", "vgpu.tests.soak", "--child", str(seconds), str(seed), str(kernels), str(headroom)]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TRITON_CACHE_DIR": cache}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + 600, env=environment, check=False
        )
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr[-3000:]}"
    *rows, last = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return last["tally"], rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vgpu.tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kernels", type=int, default=24, help="how many generated kernels")
    parser.add_argument("--headroom", type=int, default=512, help="MiB of address space after everything is compiled")
    parser.add_argument("--record", action="store_true", help="add the run to the fuzzer's runs.jsonl and FUZZING.md")
    parser.add_argument("--child", nargs=4, type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ["VGPU_CACHE"] = "off"  # nobody asks for random kernels again
    if given.child:
        seconds, *rest = given.child
        return child(seconds, *map(int, rest))
    tally, rows = soak(60 * given.minutes, given.seed, given.kernels, given.headroom)
    slope = growth(rows)
    for row in rows[:: max(len(rows) // 20, 1)]:
        print(f"{row['launches']:>9,} launches: {row['resident'] / MIB:,.1f} MiB resident")
    print(f"{dict(tally)}; {slope:+.3f} MiB for 1,000 launches")
    if given.record:
        note = f"{slope:+.3f} MiB resident for 1,000 launches, under {given.headroom} MiB of headroom"
        record.add("soak", given.seed, tally, given.minutes, note=note)
        record.write_table()
    assert slope < GROWTH, f"memory grows by {slope:.2f} MiB for 1,000 launches"


if __name__ == "__main__":
    main()
