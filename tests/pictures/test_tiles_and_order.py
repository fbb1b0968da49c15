"""Pictures of tiles in shared memory, of the order of blocks, and of fences: their sentences say what kernels did."""

from __future__ import annotations

import pytest

from helpers import cp, cuda, plots, record, trace

SIDE = 32
TILE = """
extern "C" __global__ void tile(const float* x, float* out) {
    __shared__ float tile[32][WIDTH];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def transposed(width):
    kernel = cp.RawKernel(TILE, "tile", options=(f"-DWIDTH={width}",))
    x, out = cp.zeros((SIDE, SIDE), dtype="float32"), cp.zeros((SIDE, SIDE), dtype="float32")
    return trace(kernel, 1, (SIDE, SIDE), (x, out))


@pytest.mark.parametrize(("width", "banks"), [(32, "1 bank"), (33, "32 banks"), (34, "16 banks")])
def test_the_words_of_a_column_are_in_so_many_banks(width, banks):
    picture = plots.tile_in_banks([transposed(width)], warps=(5,))
    assert picture.finding == f"tile: the 32 words that warp 5 loads are in {banks}."


def test_a_warp_without_a_load_has_no_picture():
    with pytest.raises(ValueError, match="warp 40 of tile loads nothing"):
        plots.tile_in_banks([transposed(32)], warps=(40,))


PRODUCT = """
extern "C" __global__ void product(const float* a, const float* b, float* c) {
    __shared__ float both[2][8][8];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int step = 0; step < 16; step += 8) {
        both[0][y][x] = a[y * 16 + step + x];
        both[1][y][x] = b[(step + y) * 8 + x];
        __syncthreads();
        for (int k = 0; k < LIMIT; ++k)
            sum += both[0][y][k] * both[1][k][x];
        __syncthreads();
    }
    c[y * 8 + x] = sum;
}
"""


def of_a_product(limit):
    kernel = cp.RawKernel(PRODUCT, "product", options=(f"-DLIMIT={limit}",))
    arrays = tuple(cp.zeros(shape, dtype="float32") for shape in ((8, 16), (16, 8), (8, 8)))
    return trace(kernel, 1, (8, 8), arrays)


def test_who_reads_what_a_thread_loads():
    whole = plots.tile_reuse(of_a_product(8), thread=(5, 3), width=8).finding
    assert "thread (5, 3) of the kernel product loads 2 elements and reads 16; 8 threads read the" in whole
    part = plots.tile_reuse(of_a_product(4), thread=(1, 3), width=8).finding
    assert "reads 8; 8 threads read the element that it loads into a_tile, and 8 the one in b_tile" in part


@cuda.jit
def mirror(x, out):
    i = cuda.grid(1)
    x[i] = 2 * x[i]
    cuda.syncthreads()
    out[i] = x[x.size - 1 - i]


@cuda.jit
def double(x):
    i = cuda.grid(1)
    x[i] = 2 * x[i]


@cuda.jit
def read_mirrored(x, out):
    i = cuda.grid(1)
    out[i] = x[x.size - 1 - i]


def traces(kernel, *arguments):
    return [trace(kernel, 4, 32, arguments, block_index=block) for block in range(4)]


def test_what_blocks_read_too_early_in_one_launch_and_in_two():
    x, out = cp.ones(128, dtype="float32"), cp.zeros(128, dtype="float32")
    one = [traces(mirror, x, out)]
    two = [traces(double, x), traces(read_mirrored, x, out)]
    assert plots.block_turns({"one": one, "two": two}).finding == (
        "Blocks one after another. one: blocks read 128 elements that others write, 64 of them too early; "
        "two: blocks read 128 elements that others write, 0 of them too early."
    )


PASSED = """
extern "C" __global__ void passed(int* parts, int* tickets, int* out) {
    parts[blockIdx.x] = 1;
    FIRST;
    if (atomicAdd(tickets, 1) < gridDim.x - 1)
        return;
    SECOND;
    for (int b = 0; b < gridDim.x; ++b)
        *out += parts[b];
}
"""


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [("__threadfence()", "__threadfence()", "fences order"), ("__threadfence()", "", "nothing orders"),
     ("", "__threadfence()", "nothing orders")],
)  # fmt: skip
def test_two_fences_order_a_write_before_its_read(first, second, words):
    kernel = cp.RawKernel(PASSED, "passed", options=(f"-DFIRST={first}", f"-DSECOND={second}"))

    def recorded(block):
        arguments = (cp.zeros(4, "int32"), cp.full(1, block, "int32"), cp.zeros(1, "int32"))
        return record(kernel, 4, 1, arguments, block)

    picture = plots.fence_paths([(recorded(0), recorded(3))], data="parts", flag="tickets")
    assert picture.finding == f"passed: {words} the write of parts before its read."
