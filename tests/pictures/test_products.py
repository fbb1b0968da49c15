"""Tiles of products and of attention: what is drawn is what a block touched, in order."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from helpers import Launch, cp, cuda, plots, separate_bytes, tiled_bytes, walked, widgets
from helpers.models.attention import walk
from helpers.pictures import figures
from helpers.pictures.chapters.ch17 import shared_units
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
        f"One warp of the kernel multiply steps through {tiles} of a and of b. The 256 sums for its tile of c are in "
        "the registers of its lanes: lane 0 holds 2 of them."
    )
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_tile_of_several_warps_is_a_blocks():
    assert plots.tile_walk(product(stored=BLOCK)).finding == (
        "One block of the kernel multiply steps through 4 tiles of a and of b. The 256 sums for its tile of c are in "
        "the registers of its threads: thread 0 holds 2 of them."
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


LENGTH, HELD, COMES = 12, 4, 3


@cuda.jit
def along(q, k, out):
    tile = cuda.shared.array((3, 2), np.float32)
    row, own = cuda.grid(1), cuda.shared.array((4, 2), np.float32)
    for d in range(2):
        own[cuda.threadIdx.x, d] = q[row, d]
    cuda.syncthreads()
    query, total = own[cuda.threadIdx.x, 0], np.float32(0)
    for start in range(0, k.shape[0], 3):
        if cuda.threadIdx.x < 3:
            for d in range(2):
                tile[cuda.threadIdx.x, d] = k[start + cuda.threadIdx.x, d]
        cuda.syncthreads()
        for j in range(3):
            total += query * tile[j, 0] * tile[j, 1]
        cuda.syncthreads()
    out[row, 0] = total


def launch(**names) -> Launch:
    q, k, out = cp.zeros((3, LENGTH, 2), dtype=np.float32)
    return Launch(along, LENGTH // HELD, HELD, (q, k, out), **names)


def test_maps_of_scales_say_how_many_there_are():
    maps = {"one": np.full((4, 8), 2.0), "two": np.repeat([[1.0, 4.0]], 4, axis=0).repeat(4, axis=1)}
    picture = plots.scale_maps(maps)
    assert picture.finding == "one: 1 different scale, 2^1; two: 2 different scales, 2^0 to 2^2."
    with pytest.raises(ValueError, match="1 to 4 maps"):
        plots.scale_maps({})


def test_gaps_are_those_of_the_last_steps():
    steps = np.zeros(60)
    losses = {"FP32": steps + 2, "FP8": np.where(np.arange(60) < 25, 2, 2.5)}
    picture = plots.loss_gaps(losses, "FP32")
    assert picture.finding == "After 50 steps FP32 is at a loss of 2.00; above it: FP8 +0.500."
    with pytest.raises(ValueError, match="one of FP32, FP8, not 'BF16'"):
        plots.loss_gaps(losses, "BF16")


def test_a_block_that_holds_queries_goes_along_the_keys():
    found = walked(launch(), block_index=1)
    assert found.tiles == tuple((range(4, 8), range(start, start + COMES)) for start in range(0, LENGTH, COMES))
    assert found.stored == {"out": range(4, 8)} and found.shape == (LENGTH, LENGTH)


def test_its_picture_tells_what_stays_and_what_comes_either_way_round():
    one, other = walked(launch(), block_index=1), walked(launch(), down="k", across="q", block_index=1)
    picture = plots.walked_tiles([one, other])
    words = (
        "Block 1 of along holds rows 4 to 7 of q, loads rows 0 to 11 of k in 4 tiles, and stores the same rows of out."
    )
    assert picture.finding == f"{words} {words}"
    assert other.tiles == tuple(tile[::-1] for tile in one.tiles)


def test_what_does_not_fit_is_said():
    with pytest.raises(TypeError, match="takes a Launch"):
        walked(along)
    with pytest.raises(KeyError, match="no 2-D argument is called 'keys'; there are: q, k, out"):
        walked(launch(), across="keys")
    with pytest.raises(ValueError, match="never has rows of both q and out"):
        walked(launch(), across="out")
    with pytest.raises(ValueError, match="1 to 2 kernels"):
        plots.walked_tiles([])


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
        "Step 1 of 2: queries 0 to 1, keys 0 to 0. Query 0 now has m = 1.00 and l = 1.00, and O / l is off by up "
        "to 1.00. Moved so far: 16 of 32 bytes; three kernels move 96."
    )


@pytest.mark.parametrize("causal", [False, True])
def test_the_longest_head_is_drawn_in_the_smallest_tiles(causal):
    explorer = widgets.attention_tiles(*np.random.default_rng(0).random((3, 64, 2)), rows=1, keys=1, causal=causal)
    assert explorer.shown.alt.startswith("Step 1 of 2080, 2,016 tiles skipped" if causal else "Step 1 of 4096:")


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


# ---------------------------------------------------------------- tensor cores: banks, lanes, the order of the work


def test_a_swizzle_spreads_a_column_over_the_banks():
    found = plots.bank_groups(
        {"rows": lambda row, chunk: 4 * row + chunk, "swizzled": lambda row, chunk: 4 * row + (chunk ^ row // 2 % 4)},
        (8, 4),
        column=1,
    )
    assert found.finding == (
        "rows: the first 8 rows of chunk 1 lie in 2 of 8 groups, 4 wavefronts; "
        "swizzled: the first 8 rows of chunk 1 lie in 8 of 8 groups, 1 wavefront."
    )


def test_a_lane_holds_as_many_elements_as_the_map_gives_it():
    row, column = np.indices((16, 8))
    lanes = row % 8 * 4 + column // 2
    assert plots.lane_map({"c": lanes}, lane=5).finding == "Lane 5 holds 4 of c. Every lane holds as many."
    with pytest.raises(ValueError, match="as many"):
        plots.lane_map({"c": row})


def test_a_load_of_a_warp_takes_its_own_lanes_of_tensor_memory():
    assert plots.tensor_memory({"sums": (0, 128), "more": (256, 64)}, (1, 8, 8)).finding == (
        "sums: columns 0 to 127, 64 KiB of 256 KiB; more: columns 256 to 319, 32 KiB of 256 KiB; "
        "one load of warp 1 reads lanes 32 to 63 of columns 8 to 15."
    )


@pytest.mark.parametrize(
    ("allocated", "load", "words"),
    [
        ({}, (0, 0, 8), "1 to 3"),
        ({"sums": (0, 96)}, (0, 0, 8), "96 columns from 0 on"),
        ({"sums": (448, 128)}, (0, 0, 8), "128 columns from 448 on"),
        ({"sums": (0, 128), "more": (64, 64)}, (0, 0, 8), "more: 64 columns from 64 on"),
        ({"sums": (0, 128)}, (4, 0, 8), "of warp 4"),
        ({"sums": (0, 128)}, (0, 508, 8), "columns 508 to 515"),
    ],
)
def test_what_tensor_memory_does_not_have(allocated, load, words):
    with pytest.raises(ValueError, match=words):
        plots.tensor_memory(allocated, load)


def test_a_map_of_lanes_says_whether_fragments_have_the_same_order():
    row, column = np.indices((16, 8))
    lanes, slots = row % 8 * 4 + column // 2, column % 2 + row // 8 * 2
    same = plots.lane_map({"sums": lanes, "left": lanes}, lane=6, slots={"sums": slots, "left": slots})
    assert same.finding.endswith("Every lane holds as many. Lane 6's elements have the same places and order.")
    other = plots.lane_map({"sums": lanes, "left": lanes}, lane=6, slots={"sums": slots, "left": 3 - slots})
    assert other.finding.endswith("Lane 6's elements differ.")


def test_a_compact_wave_needs_fewer_bands():
    by_rows = [(number // 8, number % 8) for number in range(64)]
    square = sorted(by_rows, key=lambda tile: (tile[0] // 4, tile[1] // 4))
    assert plots.tile_orders({"rows": by_rows, "squares": square}, 16).finding == (
        "rows: the first 16 tiles need 2 bands of a and 8 of b; "
        "squares: the first 16 tiles need 4 bands of a and 4 of b."
    )


def test_the_longest_lane_sets_how_busy_the_sms_are():
    found = plots.work_lanes({"tiles": [[(0, 8), (2, 8)], [(1, 8)]], "even": [[(0, 8), (1, 4)], [(1, 4), (2, 8)]]})
    assert found.finding == ("tiles: 16 steps, SMs busy 75% of the time; even: 12 steps, SMs busy 100% of the time.")


@pytest.mark.parametrize("plot", [plots.bank_groups, plots.lane_map, plots.tile_orders, plots.work_lanes])
def test_nothing_to_draw(plot):
    with pytest.raises(ValueError, match="1 to 3"):
        plot({}, *{plots.bank_groups: [(8, 4)], plots.tile_orders: [4]}.get(plot, []))


PRODUCTS, SOFTMAX = 0, 1


def test_two_groups_that_take_turns_keep_the_tensor_cores_busy_and_two_in_step_do_not():
    turns = [(0, PRODUCTS), (0, SOFTMAX), (1, PRODUCTS), (1, SOFTMAX)] * 2
    in_step = [(0, PRODUCTS), (1, PRODUCTS), (0, SOFTMAX), (1, SOFTMAX)] * 2
    clocks = {PRODUCTS: 10, SOFTMAX: 10}
    assert shared_units(turns, clocks)[:3] == [(0, PRODUCTS, 0, 10), (0, SOFTMAX, 10, 20), (1, PRODUCTS, 10, 20)]
    assert shared_units(in_step, clocks)[:2] == [(0, PRODUCTS, 0, 20), (1, PRODUCTS, 0, 20)]
    picture = plots.taking_turns({"turns": turns, "in step": in_step}, clocks)
    assert picture.finding == (
        "Two warpgroups: turns, 50 clocks, tensor cores busy for 80%; in step, 80 clocks, tensor cores busy for 50% "
        "(modelled)."
    )
