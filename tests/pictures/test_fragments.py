"""Tiles along a product, and fours of which two are kept: what is said is what was touched, and what is stored."""

import numpy as np
import pytest

from helpers import plots
from helpers.pictures import figures
from vgpu.tools.steps.touched import BLOCK, THREAD, WARP, TouchedElements


def product(side=64, tile=16, stored=WARP):
    """What one warp touches for the tile of the result in row 1 and column 2, with two elements of lane 0."""
    a, b, c = (np.zeros((side, side), np.int8) for _ in range(3))
    a[tile : 2 * tile], b[:, 2 * tile : 3 * tile], c[tile : 2 * tile, 2 * tile : 3 * tile] = BLOCK, BLOCK, stored
    c[tile, 2 * tile : 2 * tile + 2] = THREAD
    return TouchedElements("multiply", {"a": a, "b": b, "c": c})


@pytest.mark.parametrize(("step", "tiles"), [(16, "4 tiles"), (8, "8 tiles"), (64, "1 tile")])
def test_a_warp_goes_along_its_bands(step, tiles):
    picture = plots.tile_walk(product(), step=step)
    assert picture.finding == (
        f"One warp of multiply goes along {tiles} of a and of b for its tile of c, whose 256 sums lie in the registers "
        "of its lanes: lane 0 holds 2 of them."
    )
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_tile_of_several_warps_is_a_blocks():
    assert plots.tile_walk(product(stored=BLOCK)).finding == (
        "One block of multiply goes along 4 tiles of a and of b for its tile of c, whose 256 sums lie in the registers "
        "of its threads: thread 0 holds 2 of them."
    )


def test_what_is_no_band_of_tiles_is_refused():
    with pytest.raises(ValueError, match="not 1 to 16 tiles of 48"):
        plots.tile_walk(product(), step=48)
    torn = product()
    torn.levels["c"][16, 40] = 0
    with pytest.raises(ValueError, match="no rectangle"):
        plots.tile_walk(torn)


ROW = [0.5, -2, 0.25, 1, 3, 0, -4, 0.125]


def test_two_of_four_are_stored_with_their_places():
    picture = plots.packed_fours(ROW, [-2, 1, 3, -4], [1, 3, 0, 2])
    assert picture.finding.endswith("as halves 72 bits in place of 128.")
    svg = figures.svg(picture.figure)
    assert [f">{place}</text>" in svg for place in ("01", "11", "00", "10")] == [True] * 4


@pytest.mark.parametrize(
    ("row", "values", "places", "words"),
    [
        (ROW, [-2, 1, 3, 4], [1, 3, 0, 2], "the weight at its place"),
        (ROW, [-2, 1, 3, -4], [1, 3, 0, 6], "the weight at its place"),
        (ROW[:6], [-2, 1, 3], [1, 3, 0], "a multiple of 4"),
    ],
)
def test_what_is_not_packed_two_of_four_is_refused(row, values, places, words):
    with pytest.raises(ValueError, match=words):
        plots.packed_fours(row, values, places)
