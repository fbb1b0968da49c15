"""An answer written with CuTe's layouts passes as well, where CUTLASS's headers are installed."""

import pytest

from helpers import cp
from helpers.checking.check import check
from vgpu.compile import cuda_c

pytestmark = pytest.mark.skipif(
    cuda_c.packaged(*cuda_c.CUTLASS) is None,
    reason="CUTLASS's headers are optional: python -m pip install --no-deps -c constraints.txt nvidia-cutlass",
)

TURNED = r"""
#include <cute/tensor.hpp>
using namespace cute;
extern "C" __global__ void turned(const float* x, float* out, int rows, int columns) {
    auto layout = LAYOUT;
    __shared__ float memory[cosize_v<decltype(layout)>];
    auto tile = make_tensor(make_smem_ptr(memory), layout);
    auto from = make_tensor(make_gmem_ptr(x), make_layout(make_shape(rows, columns), LayoutRight{}));
    auto to = make_tensor(make_gmem_ptr(out), make_layout(make_shape(rows, columns), LayoutLeft{}));
    auto side = Shape<_32, _32>{};
    auto block = make_coord(blockIdx.y, blockIdx.x);
    auto by_rows = Layout<Shape<_8, _32>, Stride<_32, _1>>{};
    auto by_columns = Layout<Shape<_32, _8>, Stride<_1, _32>>{};
    int t = threadIdx.x + 32 * threadIdx.y;
    copy(local_partition(local_tile(from, side, block), by_rows, t), local_partition(tile, by_rows, t));
    __syncthreads();
    copy(local_partition(tile, by_columns, t), local_partition(local_tile(to, side, block), by_columns, t));
}
"""
ROWS = "Layout<Shape<_32, _32>, Stride<_32, _1>>{}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "passes", "words"),
    [
        (f"composition(Swizzle<5, 0, 5>{{}}, {ROWS})", True, "right in every case, within budget"),
        (ROWS, False, "no swizzle"),
        ("Layout<Shape<_32, _32>, Stride<Int<33>, _1>>{}", False, "bytes of shared memory a block: 4,220"),
    ],
    ids=["swizzled", "by rows", "padded"],
)
def test_a_transpose_through_a_tile_of_cute(layout, passes, words):
    report = check(cp.RawKernel(TURNED.replace("LAYOUT", layout), "turned"), "ch13.turned")
    assert report.passed is passes and words in repr(report)
