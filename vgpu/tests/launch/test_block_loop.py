"""The block loop: warps that come to a barrier together or apart, and workers that take several blocks at once."""

import numpy as np
import pytest

from vgpu.base.errors import KernelError
from vgpu.launch import grid, launch, running
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda

APART = """extern "C" __global__ void apart(int* out, int rounds, int leaving) {
    __shared__ int s[96];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = t;
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        int value = s[(t + 1) % n];
        if (t < 8) value += 1;             // lanes of one warp part before the barrier
        __syncthreads();
        s[t] = value;
        if (round == leaving && t >= 64) return;   // a warp ends, the others go on
        if (round % 3 == 2) {
            int any = __syncthreads_or(value == -1);   // a barrier that reduces
            s[t] += any;
        } else __syncthreads();
    }
    out[t] = s[t];
}"""


def expected(threads: int, rounds: int, leaving: int) -> list[int]:
    s, out, live = list(range(threads)), [0] * threads, threads
    for number in range(rounds):
        s[:live] = [s[(t + 1) % threads] + (t < 8) for t in range(live)]
        if number == leaving:
            live = min(live, 64)
    out[:live] = s[:live]
    return out


@pytest.mark.parametrize("threads", [96, 64, 70, 33])
@pytest.mark.parametrize("leaving", [-1, 4])
def test_warps_that_part_at_barriers(engine, threads, leaving):
    out = np.zeros(threads, np.int32)
    engine.c(APART)(2, threads, out, 10, leaving)
    assert out.tolist() == expected(threads, 10, leaving)


def test_more_barriers_than_the_loop_passes_without_a_look_at_the_clock(engine):
    out = np.zeros(64, np.int32)
    engine.c(APART)(1, 64, out, 5_000, -1)
    assert out.tolist() == expected(64, 5_000, -1)


def test_endless_barriers_end_with_the_time(monkeypatch):
    monkeypatch.setenv("VGPU_TIMEOUT", "0.3")
    kernel = cp.RawKernel('extern "C" __global__ void k(int* x) {\n while (x[0] == 0)\n  __syncthreads();\n}', "k")
    with pytest.raises(KernelError, match="did not end within") as failed:
        kernel((4,), (64,), (cp.zeros(1, np.int32),))
    assert "line 2" in str(failed.value) or "line 3" in str(failed.value)


@cuda.jit
def mark(seen, workers):
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(seen, cuda.blockIdx.x, 1)


@pytest.mark.parametrize(("blocks", "workers"), [(1, 2), (63, 2), (64, 2), (1000, 3), (5000, 4)])
def test_every_block_runs_once_whoever_takes_it(blocks, workers):
    seen = cuda.to_device(np.zeros(blocks, np.int32))
    prepared = mark.prepare((seen, workers), (blocks,), (32,))
    launch.launch(prepared.kernel, (blocks,), (32,), prepared.params, prepared.arrays, threads=workers)
    assert (seen.copy_to_host() == 1).all()


def test_neighbouring_blocks_go_to_one_worker(monkeypatch):
    taken, begin = [], grid.Grid.run
    monkeypatch.setattr(grid.Grid, "run", lambda self, threads: (begin(self, threads), taken.append(self))[0])
    seen = cuda.to_device(np.zeros(5000, np.int32))
    prepared = mark.prepare((seen, 2), (5000,), (32,))
    launch.launch(prepared.kernel, (5000,), (32,), prepared.params, prepared.arrays, threads=2)
    (ran,) = taken
    ends = [worker["own_end"] for worker in ran.workers]
    assert all(end % running.MOST_AT_ONCE == 0 for end in ends) and max(ends) >= 5000


@cuda.jit
def stop_at(x, blocks):
    if cuda.blockIdx.x >= blocks:
        x[cuda.blockIdx.x + 10_000_000] = 1


def test_of_two_workers_faults_that_of_the_lowest_block_is_told():
    x = cuda.to_device(np.zeros(10, np.int32))
    prepared = stop_at.prepare((x, 700), (2000,), (32,))
    for _ in range(5):
        with pytest.raises(KernelError, match=r"block \(?700\b"):
            launch.launch(prepared.kernel, (2000,), (32,), prepared.params, prepared.arrays, threads=2)
