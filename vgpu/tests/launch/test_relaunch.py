"""A launch in the memory of an earlier one: nothing of that one is left, and what was changed meanwhile counts."""

import gc

import numpy as np
import pytest

from vgpu.base.errors import KernelError, LaunchError
from vgpu.hardware import device
from vgpu.launch import grid, launch
from vgpu.standins import cupy as cp
from vgpu.storage import heap, memory

FILL = """extern "C" __global__ void fill(int* out, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}"""


@pytest.fixture(autouse=True)
def made(monkeypatch):
    """The grids that a test makes."""
    found, original = [], grid.Grid.__init__
    monkeypatch.setattr(grid.Grid, "__init__", lambda self, *a, **k: (found.append(self), original(self, *a, **k))[1])
    launch._ended.clear()
    return found


def test_the_same_shape_takes_the_same_memory_with_other_parameters(made):
    fill = cp.RawKernel(FILL, "fill")
    for value in range(5):
        out = cp.zeros(64, np.int32)  # which changes the table of allocations
        fill((2,), (32,), (out, value, 60))
        assert out.get().tolist() == [value] * 60 + [0] * 4
    assert len(made) == 1
    fill((1,), (64,), (out, 7, 64))
    assert len(made) == 2 and (out.get() == 7).all()


def test_many_workers_take_their_memory_again(made, compiled):
    fill, out = compiled.c(FILL), np.zeros(1 << 14, np.int32)
    for value in (3, 4):
        fill(64, 256, out, value, out.size, threads=3)
        assert (out == value).all()
    assert len(made) == 1 and len(made[0].workers) == 3
    fill(64, 256, out, 5, out.size, threads=2)
    assert (out == 5).all() and len(made[1].workers) == 2


def test_what_no_thread_wrote_is_as_new(made):
    """Shared and local memory hold 0xFF bytes, and registers 0, whatever the launch before left there."""
    kernel = cp.RawKernel(
        """extern "C" __global__ void k(int* out, int write, int at) {
            __shared__ volatile int tile[32];
            volatile int own[8];
            if (write) { tile[threadIdx.x] = 5; for (int i = 0; i < 8; i++) own[(i + at) & 7] = 6; }
            __syncthreads();
            out[threadIdx.x] = tile[threadIdx.x] + own[at];
        }""",
        "k",
    )
    out = cp.zeros(32, np.int32)
    for write, expected in ((1, 11), (0, -2), (1, 11), (0, -2)):
        kernel((1,), (32,), (out, write, 3))
        assert (out.get() == expected).all()
    assert len(made) == 1


def test_memory_that_was_freed_meanwhile_is_out_of_bounds():
    fill, out = cp.RawKernel(FILL, "fill"), cp.zeros(32, np.int32)
    fill((1,), (32,), (out, 1, 32))
    freed, kept = memory.allocate(128), cp.zeros(32, np.int32)
    address = freed.address
    arguments = (kept.data + (address - kept.data.ptr), 1, 32)
    fill((1,), (32,), arguments)
    freed.free()
    with pytest.raises(KernelError):
        fill((1,), (32,), arguments)


def test_a_launch_that_failed_leaves_nothing_to_the_next(made):
    fill, out = cp.RawKernel(FILL, "fill"), cp.zeros(32, np.int32)
    fill((1,), (64,), (out, 1, 32))
    with pytest.raises(KernelError, match="thread"):
        fill((1,), (64,), (out, 2, 64))
    fill((1,), (64,), (out, 3, 32))
    assert (out.get() == 3).all() and len(made) == 2


def test_counts_are_those_of_one_launch(made, compiled):
    fill, out = compiled.c(FILL), np.zeros(128, np.int32)
    first = fill(4, 32, out, 1, 128, observe=True)
    whole, of_warps = dict(first.total), first.by_warp.instructions.copy()
    part = fill(4, 32, out, 2, 32, observe=True)
    assert (out[:32] == 2).all() and (out[32:] == 1).all()
    assert (first.footprint.written_bytes, part.footprint.written_bytes) == (512, 128)
    assert part.total["instructions"] < whole["instructions"]
    assert part.by_warp.instructions.sum() == part.total["instructions"]
    again = fill(4, 32, out, 3, 128, observe=True)
    assert (first.by_warp.instructions == of_warps).all() and (again.by_warp.instructions == of_warps).all()
    assert first.total == again.total == whole and first.lines == again.lines
    assert len(made) == 1


def test_counted_and_cooperative_launches_have_their_own(made, compiled):
    fill, out = compiled.c(FILL), np.zeros(32, np.int32)
    fill(1, 32, out, 1, 32)
    fill(1, 32, out, 2, 32, observe=True)
    fill(1, 32, out, 3, 32)
    fill(1, 32, out, 4, 32, cooperative=True)
    fill(1, 32, out, 5, 32, schedule="random", seed=1)
    fill(1, 32, out, 6, 32, observe=True, watched=(0, 0))
    assert (out == 6).all() and [each.reusable for each in made] == [True, True, False, False, False]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_blocks_of_a_launch_that_was_short_before(threads, compiled):
    """It begins in the caller's thread, and goes on in another where it takes longer this time."""
    kernel = compiled.c("""extern "C" __global__ void k(int* out, int steps, int n) {
        int x = 1;
        for (int i = 0; i < steps; i++) x = x * 48271 ^ i;
        out[blockIdx.x] = steps ? x : n;
    }""")
    out = np.zeros(300, np.int32)
    for steps in (0, 0, 200_000, 0):
        kernel(300, 32, out, steps, 5, threads=threads)
        assert (out == (5 if steps == 0 else out[0])).all()
    with pytest.raises(KernelError, match="did not end within"):
        kernel(300, 32, out, 2_000_000_000, 5, threads=threads, timeout=0.3)
    kernel(300, 32, out, 0, 6, threads=threads)
    assert (out == 6).all()


def test_settings_count_from_the_next_launch_on(monkeypatch):
    endless = cp.RawKernel('extern "C" __global__ void k(volatile int* x) { while (x[0]) x[1] = 1; }', "k")
    x = cp.zeros(2, np.int32)
    endless((1,), (32,), (x,))
    monkeypatch.setenv("VGPU_TIMEOUT", "0.2")
    x[:] = 1
    with pytest.raises(KernelError, match=r"0\.2 s"):
        endless((1,), (32,), (x,))
    fill, out = cp.RawKernel(FILL, "fill"), cp.zeros(32, np.int32)
    fill((1,), (32,), (out, 1, 32), shared_mem=48 << 10)
    monkeypatch.setenv("VGPU_GPU", "no such")
    with pytest.raises(KeyError, match="no GPU called"):
        fill((1,), (32,), (out, 1, 32), shared_mem=48 << 10)


def test_the_modelled_gpu_is_asked_at_each_launch(compiled):
    fill, out = compiled.c(FILL), np.zeros(32, np.int32)
    fill(1, 32, out, 1, 32, shared_bytes=100 << 10)
    with device.kept(device.gpus.find("T4")), pytest.raises(LaunchError, match="shared memory"):
        fill(1, 32, out, 1, 32, shared_bytes=100 << 10)


def test_variables_live_no_longer_than_their_kernel():
    source = '__device__ int table[1000]; extern "C" __global__ void k(int i) { table[i] = i; }'
    launch._load.cache_clear()
    gc.collect()
    before = memory.usage("device")
    kernel = cp.RawKernel(source, "k")
    kernel((1,), (32,), (3,))
    assert memory.usage("device") == (before[0] + 4000, before[1] + 1)
    del kernel
    launch._load.cache_clear()
    assert memory.usage("device") == before


def test_a_bounded_number_is_kept_and_large_ones_are_not(made):
    fill, out = cp.RawKernel(FILL, "fill"), cp.zeros(32, np.int32)
    for threads in range(32, 32 + 2 * launch.MOST_ENDED):
        fill((1,), (threads,), (out, 1, 32))
    assert len(launch._ended) == launch.MOST_ENDED
    large = cp.RawKernel(
        'extern "C" __global__ void k(int* x, int i) { volatile int own[65536]; own[i] = i; x[0] = own[i]; }',
        "k",
    )
    large((1,), (32,), (out, 1))
    large((1,), (32,), (out, 1))
    assert [each.kernel.name for each in made if not each.reusable] == ["k", "k"]  # 8 MB of local memory each


def test_memory_that_a_kernel_allocates_meanwhile_can_be_accessed():
    """The heap is made when a kernel first needs it, which may be after the first launch of one that gets a pointer."""
    source = """
    extern "C" __global__ void make(int** p) { p[0] = (int*)malloc(128); p[0][threadIdx.x] = 7; }
    extern "C" __global__ void use(int** p, int* out) { if (p[0]) out[threadIdx.x] = p[0][0]; }
    extern "C" __global__ void end(int** p) { free(p[0]); }
    """
    module = cp.RawModule(code=source)
    make, use, end = map(module.get_function, ("make", "use", "end"))
    pointer, out, stream = cp.zeros(1, np.uint64), cp.zeros(32, np.int32), cp.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    use((1,), (32,), (pointer, out), stream=stream)
    graph = stream.end_capture()
    before, heap._heap = heap._heap, None
    try:
        use((1,), (32,), (pointer, out))
        graph.launch(stream)
        make((1,), (1,), (pointer,))
        use((1,), (32,), (pointer, out))
        assert (out.get() == 7).all()
        out[:] = 0
        graph.launch(stream)
        assert (out.get() == 7).all()
        end((1,), (1,), (pointer,))
    finally:
        heap._heap = before
