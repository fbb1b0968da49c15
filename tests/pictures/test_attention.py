"""Attention in tiles: what the walk computes and counts, and what its pictures say of it."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from helpers import plots, separate_bytes, tiled_bytes, widgets
from helpers.models.attention import walk


def head(length: int, width: int) -> np.ndarray:
    return np.random.default_rng(length).normal(size=(3, length, width))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("length", "rows", "keys"), [(1, 1, 1), (8, 4, 2), (10, 4, 3), (7, 8, 2), (9, 2, 16)])
def test_the_last_tile_of_each_block_leaves_what_pytorch_computes(length, rows, keys, causal):
    q, k, v = head(length, 5)
    found = walk(q, k, v, rows, keys, causal)
    ends = {visit.rows: visit for visit in found.visits}.values()  # the last visit of each block
    ours = np.concatenate([visit.o / visit.l[:, None] for visit in ends])
    wanted = F.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v)), is_causal=causal)
    np.testing.assert_allclose(ours, wanted.numpy(), atol=1e-12)
    assert found.visits[-1].nbytes == tiled_bytes(length, 5, rows, causal=causal, keys=keys)
    tiles = -(-length // rows) * -(-length // keys)
    assert len(found.visits) + len(found.skipped) == tiles and (causal or not found.skipped)


def test_bytes_of_three_kernels_and_of_tiles():
    assert separate_bytes(2, 3) == 4 * (4 * 6 + 4 * 4)
    assert separate_bytes(2, 3, itemsize=2) == separate_bytes(2, 3) // 2
    assert tiled_bytes(8, 3, 4) == 4 * (2 * 24 + 2 * 24 * 2)  # two blocks, each of which loads K and V
    assert tiled_bytes(8, 3, 4, causal=True) == 4 * (2 * 24 + 2 * 3 * (4 + 8))


def test_the_picture_tells_the_state_of_the_watched_query():
    q = np.ones((2, 1))
    picture = plots.attention_tiles(walk(q, q, np.array([[1.0], [3.0]]), 2, 1), 1, 0)
    assert picture.finding == (
        "Step 1 of 2: queries 0 to 1 meet keys 0 to 0. Query 0 now has m = 1.00 and l = 1.00, and O / l is off by up "
        "to 1.00. Moved so far: 16 of 32 bytes; three kernels move 96."
    )


def test_bytes_against_length_say_how_far_counts_and_formulas_are_apart():
    picture = plots.attention_bytes({"tiles": {8: 100, 16: 202}}, {"tiles": {8: 100, 16: 200, 32: 400}})
    assert picture.finding == "Bytes at length 16, counted: tiles 202. Counts and formulas differ by at most 1.0%."


def test_the_explorer_takes_what_a_teacher_gives_and_says_what_does_not_fit():
    explorer = widgets.attention_tiles(*torch.ones(3, 6, 2, requires_grad=True), rows=4, keys=2, step=99)
    assert explorer.values == {"step": 6, "rows": 4, "keys": 2, "causal": False, "query": 3}
    explorer.controls["causal"].value = True
    assert explorer.controls["step"].max == 5 and "1 tile skipped" in explorer.shown.alt
    with pytest.raises(ValueError, match="one shape"):
        widgets.attention_tiles(np.ones((4, 2)), np.ones((4, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="at most 64"):
        widgets.attention_tiles(*np.ones((3, 65, 2)))
