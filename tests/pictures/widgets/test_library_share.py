"""The staircase of library shares, the grid of a layout and the tiles of a product: what they say is what was given."""

import numpy as np
import pytest

from helpers import Launch, cp, plots, touched, widgets
from tests.pictures.widgets.choose import choose

SUM = r"""
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
"""


def product(side: int) -> Launch:
    a, b, c = (cp.ones((side, side), "float32") for _ in range(3))
    blocks = (side // 16, side // 16)
    return Launch(cp.RawKernel(SUM, "product"), blocks, (16, 16), (a, b, c, np.int32(side)))


def share(**options):
    return widgets.library_share({"plain": product}, counted=(32, 64), **options)


def test_the_share_is_of_the_peak_until_a_library_is_known():
    explorer = share(published={"somebody": {"plain": 0.085}}, library={"V100": {"fp32": 14e12}})
    assert "100 % is the peak for FP32" in explorer.shown.alt
    assert explorer.shown.alt.endswith("Published (somebody): from 8.5 % to 8.5 %.")
    assert "100 % is a library's 14 TFLOP/s for FP32" in choose(explorer, gpu="V100")
    assert "Published" not in choose(explorer, beside="nothing")


WRONG = {
    "a list": (lambda: widgets.library_share([product]), TypeError, "mapping from short names"),
    "no function": (lambda: widgets.library_share({"plain": 7}), TypeError, "is a function"),
    "a share of nobody": (lambda: share(published={"x": {"plane": 0.5}}), ValueError, "Did you mean 'plain'"),
    "a share in per cent": (lambda: share(published={"x": {"plain": 50}}), ValueError, "from 0 to 1"),
    "an unknown GPU": (lambda: share(library={"V10": {}}), KeyError, "V100"),
    "a line of no places": (lambda: widgets.layout_grid("4:1", line=0), ValueError, "1 to 64"),
    "no layout": (lambda: widgets.layout_grid({}), ValueError, "mapping is empty"),
    "a colour": (lambda: widgets.layout_grid("4:1", colour="red"), ValueError, "'place'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_teacher_gives_by_mistake_is_told(name):
    call, error, words = WRONG[name]
    with pytest.raises(error, match=words):
        call()


def test_a_layout_says_where_its_index_lies_and_which_cells_meet():
    explorer = widgets.layout_grid({"rows": "(8, 8):(8, 1)", "padded": "(8, 8):(9, 1)", "small": "(2, 2):(1, 2)"})
    assert "8 × 8 coordinates on places 0 to 63, each used once." in explorer.shown.alt
    assert "of the grid has up to 8 of its cells in one column of memory, and a row up to 1." in explorer.shown.alt
    assert "Index 9, (1, 1), lies at 9." in choose(explorer, index=9)
    explorer.controls["layout"].value = "padded"
    assert "7 holes. Index 9, (1, 1), lies at 10. A column of the grid has up to 1 of its" in explorer.shown.alt
    explorer.controls["layout"].value = "small"
    assert explorer.controls["index"].value == 3 and "lies at 3" in explorer.shown.alt


def test_a_block_touches_the_rows_and_columns_of_its_results():
    found = touched(product(32), block_index=(1, 0, 0))
    levels = found.levels
    assert {name: found.count(name, 1) for name in "abc"} == {"a": 16 * 32, "b": 32 * 16, "c": 256}
    assert found.count("c", 2) == 32 and found.count("c", 3) == 1
    assert levels["c"][0, 16] == 3 and levels["c"][1, 31] == 2 and levels["c"][15, 31] == 1 and not levels["c"][0, 15]
    assert (
        plots.product_tiles([found]).finding
        == "product: 256 results per block, 32 per warp, 1 per thread, which loads 32 of a and 32 of b."
    )
    with pytest.raises(ValueError, match="1 to 3"):
        plots.product_tiles([])
    with pytest.raises(TypeError, match="takes a Launch"):
        touched(product)
