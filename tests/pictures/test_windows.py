"""Windows drawn by hand: sums, the im2col product, halos and reaches, for cases worked out on paper."""

import numpy as np
import pytest

from helpers import plots
from helpers.pictures import figures
from helpers.results.steps.touched import Touched

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


def _tile(loaded, stored, warp, thread) -> Touched:
    pixels, outputs = np.zeros((8, 9), np.int8), np.zeros((16, 9), np.int8)
    for place, level in ((stored, 1), (warp, 2), (thread, 3)):
        outputs[place] = level
    pixels[loaded] = 1
    return Touched("tiled", {"image": pixels, "out": outputs})


def test_the_halo_is_what_is_loaded_beside_the_outputs():
    found = _tile(np.s_[1:6, 2:8], np.s_[2:5, 3:7], np.s_[2:4, 3:7], (2, 3))
    picture = plots.halo_map({"3 × 4": found}, size=3)
    assert picture.finding == "3 × 4: 30 pixels loaded for 12 outputs, so a halo of 18; warp 0 has 2 rows of them."
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_halo_needs_a_block_that_stores():
    with pytest.raises(ValueError, match="touches nothing"):
        plots.halo_map({"idle": Touched("idle", {"image": np.zeros((4, 4)), "out": np.zeros((4, 4))})}, size=3)
    with pytest.raises(ValueError, match="as large as the image"):
        plots.halo_map({"other": Touched("other", {"image": np.zeros((4, 4)), "out": np.zeros((2, 4))})}, size=3)
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
