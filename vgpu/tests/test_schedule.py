"""Random schedules: what has a race varies with the seed, what has none does not, and a seed repeats its run."""

import itertools
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from vgpu.base import schedule
from vgpu.launch import running
from vgpu.standins import cupy as cp
from vgpu.tools.sanitize import sanitize

i4 = np.int32
SEEDS = range(10)


def results(kernel, grid, block, make, *more, seeds=SEEDS, **options):
    """What is in the first array after a launch under each seed, as bytes."""
    found = []
    for seed in seeds:
        out = make()
        kernel(grid, block, out, *more, schedule="random", seed=seed, **options)
        found.append(out.tobytes())
    return found


def zeros(n):
    return lambda: np.zeros(n, i4)


RACES = {
    "between warps": ('extern "C" __global__ void k(int* x) { x[0] += 1; }', 1, 128, 1),
    "between blocks": ('extern "C" __global__ void k(int* x) { if (threadIdx.x == 0) x[0] += 1; }', 12, 32, 1),
    "no __syncthreads": (
        """extern "C" __global__ void k(int* x) { __shared__ int s[128]; int t = threadIdx.x;
        s[t] = t; x[t] = s[(t + 32) % 128]; }""", 1, 128, 128,
    ),
    "a block reads what another writes": (
        """extern "C" __global__ void k(int* x) { int b = blockIdx.x;
        if (threadIdx.x == 0) { x[b] = b + 1; x[16 + b] = x[(b + 1) % 16]; } }""", 16, 32, 32,
    ),
    "no __syncwarp": (
        """extern "C" __global__ void k(int* x) { __shared__ volatile int s[64]; int t = threadIdx.x;
        s[t] = t; s[t + 32] = 0; for (int d = 16; d; d /= 2) s[t] += s[t + d]; x[t] = s[0]; }""", 1, 32, 32,
    ),
    "which lane is last": (
        """extern "C" __global__ void k(int* x) { if (threadIdx.x & 1) x[0] = 1; else x[0] = 2; }""", 1, 32, 1,
    ),
    "order of updates": (
        'extern "C" __global__ void k(int* x) { x[1 + atomicAdd(x, 1)] = threadIdx.x / 32 + 10 * blockIdx.x; }',
        3, 64, 200,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RACES)
def test_a_race_shows(engine, name):
    source, grid, block, words = RACES[name]
    assert len(set(results(engine.c(source), grid, block, zeros(words)))) > 1


@pytest.mark.parametrize("name", RACES)
def test_in_order_the_same_race_hides(engine, name):
    source, grid, block, words = RACES[name]
    kernel, found = engine.c(source), set()
    for _ in range(3):
        out = np.zeros(words, i4)
        kernel(grid, block, out)
        found.add(out.tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_a_seed_repeats_its_run(compiled, threads):
    source, grid, block, words = RACES["order of updates"]
    runs = results(compiled.c(source), grid, block, zeros(words), seeds=[7, 7, 7], threads=threads)
    assert len(set(runs)) == 1


ORDER_OF_TREES = """extern "C" __global__ void k(int* x) { __shared__ int s[256]; int t = threadIdx.x; s[t] = t;
for (int d = 128; d; d /= 2) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
if (t == 0) x[1 + atomicAdd(x, 1)] = blockIdx.x; }"""


def test_a_seed_repeats_its_run_on_a_busy_machine(compiled, monkeypatch):
    """Neither a slow clock nor a fast one changes when a worker comes back to Python: a schedule hangs on that."""
    found = set()
    for tick in (0.0, 0.02):
        clock = itertools.count(1.0, tick) if tick else itertools.repeat(1.0)
        monkeypatch.setattr(
            running, "time", SimpleNamespace(monotonic=lambda ticks=clock: next(ticks), sleep=time.sleep)
        )
        found |= set(results(compiled.c(ORDER_OF_TREES), 391, 256, zeros(392), seeds=[1], timeout=1e9))
    assert len(found) == 1


def test_a_seed_repeats_what_the_sanitizer_finds_on_a_busy_machine(monkeypatch):
    kernel, found = cp.RawKernel(ORDER_OF_TREES, "k"), set()
    for tick in (0.0, 0.02):
        clock = itertools.count(1.0, tick) if tick else itertools.repeat(1.0)
        reading = SimpleNamespace(monotonic=lambda ticks=clock: next(ticks), sleep=time.sleep)
        monkeypatch.setattr(running, "time", reading)
        x = cp.zeros(392, np.int32)
        findings = sanitize(kernel, 391, 256, (x,), schedule="random", seed=1, races_in_global=True, timeout=1e9)
        found.add((str(findings), x.get().tobytes()))
    assert len(found) == 1


def test_a_seed_repeats_its_run_when_interpreted(interpreted):
    source, grid, block, words = RACES["order of updates"]
    assert len(set(results(interpreted.c(source), grid, block, zeros(words), seeds=[7, 7]))) == 1


CORRECT = {
    "atomics": ('extern "C" __global__ void k(int* x) { atomicAdd(x, 1); atomicMax(x + 1, threadIdx.x); }', 5, 96),
    "__syncthreads": (
        """extern "C" __global__ void k(int* x) { __shared__ int s[96]; int t = threadIdx.x; s[t] = t;
        for (int r = 0; r < 3; r++) { __syncthreads(); int v = s[(t + 7) % 96]; __syncthreads(); s[t] = v + r; }
        x[blockIdx.x * 96 + t] = s[t]; }""", 3, 96,
    ),
    "__syncwarp": (
        """extern "C" __global__ void k(int* x) { __shared__ volatile int s[64]; int t = threadIdx.x; s[t] = t;
        s[t + 32] = 0; __syncwarp();
        for (int d = 16; d; d /= 2) { int v = s[t + d]; __syncwarp(); s[t] += v; __syncwarp(); } x[t] = s[0]; }""",
        1, 32,
    ),
    "shuffles": (
        """extern "C" __global__ void k(int* x) { int v = threadIdx.x * threadIdx.x;
        for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
        x[blockIdx.x * 64 + threadIdx.x] = v + __popc(__ballot_sync(~0u, v & 1)); }""", 3, 64,
    ),
    "shuffles in a branch": (
        """extern "C" __global__ void k(int* x) { int t = threadIdx.x, v = t;
        if (t < 16) v += __shfl_xor_sync(0xffff, v, 3); else v += __shfl_down_sync(0xffff0000, v, 2, 16);
        x[t] = v + __reduce_add_sync(~0u, v); }""", 1, 32,
    ),
    "reducing barriers": (
        """extern "C" __global__ void k(int* x) { int t = threadIdx.x;
        x[t] = __syncthreads_count(t % 3 == 0) + 100 * __syncthreads_or(t == 5);
        x[t] += 1000 * __syncthreads_and(t < 95); }""",
        1, 96,
    ),
    "barriers with a count": (
        """extern "C" __global__ void k(int* x) { __shared__ int s[64]; int t = threadIdx.x;
        if (t < 64) { s[t] = t + 1; asm volatile("bar.arrive 1, 128;" ::: "memory"); }
        else { asm volatile("bar.sync 1, 128;" ::: "memory"); x[t] = s[t - 64]; } }""", 1, 128,
    ),
    "a loop of its own for each lane": (
        """extern "C" __global__ void k(int* x) { int t = threadIdx.x, sum = 0;
        for (int i = 0; i < t % 11; i++) { if (i % 3 == 1) continue; x[t] += i; sum += x[t]; }
        x[t] += sum; }""", 1, 64,
    ),
    "the last block sums": (
        """extern "C" __global__ void k(int* x) { __shared__ bool last; int b = blockIdx.x;
        if (threadIdx.x == 0) { x[8 + b] = b * b; __threadfence(); last = atomicAdd(x, 1) == gridDim.x - 1; }
        __syncthreads();
        if (last && threadIdx.x == 0) { int s = 0; for (int i = 0; i < gridDim.x; i++) s += ((volatile int*)x)[8 + i];
        x[1] = s; } }""", 13, 64,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CORRECT)
def test_what_is_right_stays_right(engine, name):
    source, grid, block = CORRECT[name]
    kernel, expected = engine.c(source), np.zeros(512, i4)
    kernel(grid, block, expected)
    assert set(results(kernel, grid, block, zeros(512))) == {expected.tobytes()}


def test_blocks_beyond_those_resident_together(compiled):
    source = 'extern "C" __global__ void k(int* x) { x[blockIdx.x] += blockIdx.x; }'
    expected = (np.arange(1000, dtype=i4)).tobytes()
    source = source.replace("x[blockIdx.x] +=", "if (threadIdx.x == 0) x[blockIdx.x] +=")
    assert set(results(compiled.c(source), 1000, 32, zeros(1000), seeds=[1, 2])) == {expected}


# ---------------------------------------------------------------- how it is asked for

LAST = cp.RawKernel('extern "C" __global__ void k(int* x) { x[1 + atomicAdd(x, 1)] = blockIdx.x; }', "k")


def order_of_blocks():
    x = cp.zeros(9, i4)
    LAST((8,), (1,), (x,))
    return cp.asnumpy(x)[1:].tolist()


def test_launches_within_a_with_statement():
    with schedule.scheduled("random", seed=3):
        mixed = order_of_blocks()
        with schedule.scheduled("sequential"):
            assert all(order_of_blocks() == list(range(8)) for _ in range(20))  # though there are several cores
        assert order_of_blocks() == mixed
    assert sorted(mixed) == list(range(8)) and mixed != list(range(8))
    assert schedule.chosen() == schedule.Schedule()


def test_other_threads_are_not_affected():
    seen = []
    with schedule.scheduled("random", seed=3):
        other = threading.Thread(target=lambda: seen.append(schedule.chosen()))
        other.start()
        other.join()
        assert schedule.chosen().seed == 3
    assert seen == [schedule.Schedule()]


def test_a_schedule_is_one_that_there_is():
    with pytest.raises(ValueError, match="sequential"), schedule.scheduled("fair"):
        pass
    with pytest.raises(ValueError, match="seed"), schedule.scheduled("sequential", seed=1):
        pass


def test_notebooks_import_it_and_it_says_what_it_is():
    from vgpu import scheduled

    random = scheduled("random", seed=3)
    call = 'scheduled("random", seed=3)'
    assert repr(random) == f"<{call}, not in use: write `with {call}:` above the launch>"
    with random as inside:
        assert inside is random and repr(random) == '<scheduled("random", seed=3), in use>'
        assert schedule.chosen().seed == 3
    assert schedule.chosen() == schedule.Schedule() and "not in use" in repr(random)
    assert repr(scheduled("sequential")).startswith('<scheduled("sequential"), not in use')
    with pytest.raises(TypeError, match="whole number"):
        scheduled(seed=1.5)


def test_a_function_can_be_scheduled():
    @schedule.scheduled("random", seed=3)
    def orders():
        return order_of_blocks()

    assert orders() == orders() != list(range(8))


def test_blocks_that_wait_for_earlier_ones_start_with_them():
    order = schedule.block_order(1000, 5)
    assert sorted(order) == list(range(1000)) and list(order) != list(range(1000))
    assert (order // schedule.WINDOW == np.arange(1000) // schedule.WINDOW).all()
