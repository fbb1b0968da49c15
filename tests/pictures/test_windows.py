"""Windows drawn by hand: sums, the im2col product, halos and reaches, for cases worked out on paper."""

import numpy as np
import pytest

from helpers import Launch, cp, plots, touched
from helpers.pictures import figures
from vgpu.tools.steps.touched import TouchedElements

IMAGE, WEIGHT = [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 0], [2, -1]]


def test_the_first_sum_is_that_under_the_window():
    picture = plots.window_sums(IMAGE, WEIGHT)
    assert picture.finding.endswith("has 4 places in an image of 3 × 3 pixels; the first sum is 4.")
    drawn = figures.svg(picture.figure)
    for words in ("1·1 + 2·0 + 4·2 + 5·(−1) = 4", ">6<", ">10<", ">12<"):
        assert words in drawn


def test_the_product_tells_what_the_matrix_holds():
    picture = plots.im2col_product(IMAGE, WEIGHT)
    assert "the filter's 4 weights with a matrix of 4 columns" in picture.finding
    assert picture.finding.endswith("The matrix holds 16 values of the image's 9 pixels.")
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


@pytest.mark.parametrize("draw", [plots.window_sums, plots.im2col_product])
@pytest.mark.parametrize(
    ("image", "weight"), [(np.ones((3, 10)), WEIGHT), (np.ones((2, 2)), np.ones((3, 3))), (np.ones(3), WEIGHT),
                          (np.ones((5, 5)), WEIGHT)],
)  # fmt: skip
def test_what_cannot_be_written_out_is_refused(draw, image, weight):
    with pytest.raises(ValueError, match=r"written out|has to fit"):
        draw(image, weight)


def _tile(loaded, stored, warp, thread) -> TouchedElements:
    pixels, outputs = np.zeros((8, 9), np.int8), np.zeros((16, 9), np.int8)
    for place, level in ((stored, 1), (warp, 2), (thread, 3)):
        outputs[place] = level
    pixels[loaded] = 1
    return TouchedElements("tiled", {"image": pixels, "out": outputs})


def test_the_halo_is_what_is_loaded_beside_the_outputs():
    found = _tile(np.s_[1:6, 2:8], np.s_[2:5, 3:7], np.s_[2:4, 3:7], (2, 3))
    picture = plots.halo_map({"3 × 4": found}, size=3)
    assert picture.finding == "3 × 4: 30 pixels loaded for 12 outputs, so a halo of 18; warp 0 has 2 rows of them."
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


SUM = """extern "C" __global__ void k(const float* x, float* out) {
    extern __shared__ float tile[];
    int t = threadIdx.x, first = blockIdx.x * 16;
    for (int j = t; j < 22; j += 16) tile[j] = x[first + j];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 7; ++j) sum += tile[t + j];
    out[first + t] = sum;
}"""


def test_a_row_has_its_halo_at_both_ends():
    x, out = cp.ones(54, "f4"), cp.zeros(48, "f4")
    found = touched(Launch(cp.RawKernel(SUM, "k"), 3, 16, (x, out), shared_bytes=88), block_index=(1, 0, 0))
    assert {name: levels.shape for name, levels in found.levels.items()} == {"x": (1, 54), "out": (1, 48)}
    assert np.flatnonzero(found.levels["x"][0]).tolist() == list(range(16, 38))
    picture = plots.halo_strip(found, radius=3)
    assert picture.finding == (
        "A block loads 22 elements for 16 results, so 6 of them are its halo; each thread adds up 7."
    )
    idle = TouchedElements("idle", {"x": np.zeros((1, 54)), "out": np.zeros((1, 48))})
    with pytest.raises(ValueError, match="stores nothing to out"):
        plots.halo_strip(idle, radius=3)


MOVES = """extern "C" __global__ void k(const float* x, float* out) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    out[%s] = x[row * 64 + column];
}"""


@pytest.mark.parametrize(
    ("index", "stores"),
    [("row * 64 + column", "along a row"), ("column * 64 + row", "down a column"), ("column * 65", "from 32 rows")],
)
def test_what_a_warp_loads_and_stores_is_said_by_rows_and_columns(index, stores):
    x, out = (cp.zeros((64, 64), "f4") for _ in range(2))
    seen = touched(Launch(cp.RawKernel(MOVES % index, "k"), (2, 2), (32, 32), (x, out)), warp=3, lane=5)
    assert plots.moves([seen]).finding == f"k: a warp loads along a row and stores {stores}."
    with pytest.raises(ValueError, match="one to 3 kernels"):
        plots.moves([])


def test_a_halo_needs_a_block_that_stores():
    with pytest.raises(ValueError, match="touches nothing"):
        plots.halo_map({"idle": TouchedElements("idle", {"image": np.zeros((4, 4)), "out": np.zeros((4, 4))})}, size=3)
    with pytest.raises(ValueError, match="as large as the image"):
        levels = {"image": np.zeros((4, 4)), "out": np.zeros((2, 4))}
        plots.halo_map({"other": TouchedElements("other", levels)}, size=3)
    with pytest.raises(ValueError, match="one to 3 blocks"):
        plots.halo_map({}, size=3)


def test_reaches_count_the_inputs_of_each_output():
    spread = np.zeros((6, 13))
    for row in range(6):
        spread[row, 2 * row : 2 * row + 3] = 1
    said = plots.reaches({"kernel 3": spread, "identity": np.eye(4)}).finding
    assert said.endswith("kernel 3: outputs in the middle are reached by 1 and 2; identity: outputs in the middle are "
                         "reached by 1.")  # fmt: skip
    with pytest.raises(ValueError, match="can be drawn"):
        plots.reaches({"long": np.eye(25)})
