"""A software pipeline of tiles: the model against its own rule."""

from itertools import pairwise

import pytest

from helpers.models.pipeline import pace, pipeline


@pytest.mark.parametrize("blocks", (1, 3))
@pytest.mark.parametrize(
    ("stages", "latency", "transfer", "compute", "bound"),
    ((1, 600, 100, 200, "latency"), (2, 50, 100, 200, "compute"), (4, 600, 300, 200, "transfer")),
)
def test_in_the_long_run_a_tile_takes_the_longest_of_three(stages, latency, transfer, compute, bound, blocks):
    few, many = (pipeline(stages, latency, transfer, compute, tiles=n, blocks=blocks) for n in (40, 80))
    expected, why = pace(stages, latency, transfer, compute, blocks)
    assert (many.clocks - few.clocks) / (40 * blocks) == pytest.approx(expected, rel=0.01)
    assert few.bound == why and (blocks > 1 or why == bound)
    assert few.bubble == pytest.approx(1 - compute * 40 * blocks / few.clocks)


def test_a_stage_holds_one_tile_at_a_time_and_blocks_share_the_sm():
    found = pipeline(2, 300, 40, 70, tiles=9, blocks=2)
    for block in (0, 1):
        for stage in (0, 1):
            held = [tile for tile in found.tiles if (tile.block, tile.stage) == (block, stage)]
            assert all(before.ended <= after.issued for before, after in pairwise(held))
    begun = sorted(tile.begun for tile in found.tiles)
    assert all(after - before >= 70 for before, after in pairwise(begun))
