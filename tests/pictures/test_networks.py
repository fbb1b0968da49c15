"""Pictures of networks: windows, steps of recurrent layers, generated images, for cases worked out by hand."""

import numpy as np
import pytest

from helpers import Launch, cp, plots, rivers, touched
from helpers.pictures import figures
from vgpu.base.words import plural
from vgpu.tools.steps.touched import TouchedElements
from vgpu.tools.streams.spans import Schedule, Span

IMAGE, WEIGHT = [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 0], [2, -1]]


def test_the_first_sum_is_that_under_the_window():
    picture = plots.window_sums(IMAGE, WEIGHT)
    assert picture.finding.endswith("has 4 positions in an image of 3 × 3 pixels; the first sum is 4.")
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
    assert [seen.count("x", level) for level in (1, 2, 3)] == [1024, 32, 1], "of the block, the warp, the thread"
    assert plots.moves([seen]).finding == f"k: a warp loads along a row and stores {stores}."
    with pytest.raises(ValueError, match="1 to 3 kernels"):
        plots.moves([])


def test_a_halo_needs_a_block_that_stores():
    with pytest.raises(ValueError, match="touches nothing"):
        plots.halo_map({"idle": TouchedElements("idle", {"image": np.zeros((4, 4)), "out": np.zeros((4, 4))})}, size=3)
    with pytest.raises(ValueError, match="as large as the image"):
        plots.halo_map(
            {"other": TouchedElements("other", {"image": np.zeros((4, 4)), "out": np.zeros((2, 4))})}, size=3
        )
    with pytest.raises(ValueError, match="1 to 3 blocks"):
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


def shaped(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 20])
def test_each_step_hands_on_its_state(steps):
    x, outputs, h = shaped(steps, 8, 16), shaped(steps, 8, 64), shaped(1, 8, 64)
    said = plots.unrolled(x, outputs, (h, h), backward=True)
    assert f"{plural(steps, 'step')} passes on h and c, 8 × 64 each: 1,024 numbers" in said.finding
    assert "In the backward pass a cell gets a gradient from above and 2 from the next step" in said.finding
    assert figures.svg(said.figure).count(">cell</text>") == min(steps, 4)
    assert "h, 8 × 64: 512 numbers" in plots.unrolled(x, outputs, h).finding


@pytest.mark.parametrize(
    ("x", "outputs", "state", "words"),
    [
        (shaped(20, 16), shaped(20, 64), shaped(1, 64), "in the shape (steps, batch, inputs)"),
        (shaped(20, 8, 16), shaped(19, 8, 64), shaped(1, 8, 64), "in the shape (steps, batch, inputs)"),
        (shaped(20, 8, 16), shaped(20, 8, 64), shaped(2, 8, 64), "cell_rounds() draws several layers"),
    ],
)
def test_what_cannot_be_unrolled_is_refused(x, outputs, state, words):
    with pytest.raises(ValueError) as refused:
        plots.unrolled(x, outputs, state)
    assert words in str(refused.value)


def test_rounds_are_counted_and_the_fullest_is_framed():
    layers, steps = np.mgrid[:3, :10]
    picture = plots.cell_rounds(layers + steps + 1)
    assert picture.finding == "3 layers × 10 steps: 30 cells in 12 rounds, at most 3 of them at the same time."
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


@pytest.mark.parametrize("rounds", [np.ones((2, 3)), np.ones((9, 1)), np.arange(25)[None] + 1, np.array([1, 2, 3])])
def test_a_cell_that_does_not_wait_is_refused(rounds):
    with pytest.raises(ValueError):
        plots.cell_rounds(rounds)


def test_gradients_are_read_at_the_last_step():
    picture = plots.gradient_curves({"a": [1, 0.5, 0.25], "b": [1, 1e3, 1e6]}, others={"a": [[1, 1e-30, 0]]})
    assert picture.finding == "The gradient's norm 2 steps back, as a share: a: 0.25; b: 1e6 (calculated)."
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


@pytest.mark.parametrize(("norm", "told"), [(1, "1"), (0.0123, "0.012"), (0.00123, "1e-3"), (3.2e-24, "3e-24")])
def test_norms_are_told_by_their_size(norm, told):
    assert plots.gradient_curves({"a": [1, norm]}).finding.endswith(f"a: {told} (calculated).")


def test_launch_lanes_say_how_long_the_gpu_works():
    spans = tuple(Span("SMs", "stream 1", at * 1e-5, at * 1e-5 + 2e-6, "k") for at in range(1, 6))
    host = tuple(Span("host", "stream 1", (at - 1) * 1e-5, at * 1e-5, "k") for at in range(1, 6))
    schedule = Schedule("A100", spans, 5.2e-5, host=host)
    picture = plots.launch_lanes({"small": schedule}, launches={"small": 5}, until=6e-5)
    assert picture.finding == ("Small: 5 launches, 52 µs, GPU at work 19% (launches counted, times modelled on A100).")


def test_an_alignment_says_which_word_each_symbol_looks_at():
    picture = plots.alignment([[0.9, 0.1], [0.25, 0.75]], ["six", "ten"], ["6", "end"])
    assert picture.finding == "The word that each symbol attends to most: 6 at six (90%), end at ten (75%)."
    with pytest.raises(ValueError, match="don't fit"):
        plots.alignment([[1.0]], ["six", "ten"], ["6"])


def test_pictures_of_a_river_say_what_the_series_say():
    days = rivers.catchment(2 * rivers.YEAR, 0)
    year = plots.river_year(days, first=rivers.YEAR)
    assert f"{days.snow[rivers.YEAR :].max():.0f} mm of snow" in year.finding
    models = plots.river_models(days.flow, {"itself": days.flow, "nothing": np.zeros_like(days.flow)})
    worse = rivers.efficiency(np.zeros_like(days.flow), days.flow)
    assert models.finding == f"Efficiency over all 2 years: itself 1.00, nothing {worse:.2f}; shown are 365 days."
    stores = plots.probed_stores({"snow": days.snow}, {"snow": days.snow})
    assert stores.finding.endswith("is 1.00 of snow.")
    assert all(len(figures.svg(each.figure)) < figures.LARGEST_SVG for each in (year, models, stores))


CORNERS = np.array([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)])


def test_rows_of_images_say_how_much_their_images_differ():
    same, halves = np.ones((4, 3, 3)), np.stack([np.zeros((3, 3)), np.ones((3, 3))])[:, None]
    picture = plots.image_rows({"same": same, "halves": halves})
    assert picture.finding.endswith("— same: 4 images, 0.00; halves: 2 images, 0.50.")
    assert "<image" in figures.svg(picture.figure)


@pytest.mark.parametrize("shape", [(8, 8), (2, 3, 8, 8), (0, 8, 8)])
def test_what_is_no_batch_of_grey_images_is_refused(shape):
    with pytest.raises(ValueError, match="images are"):
        plots.image_rows({"given": np.zeros(shape)})


def test_a_mode_is_reached_by_a_share_of_the_points_that_are_near():
    points = np.vstack([np.repeat(CORNERS[:1], 99, axis=0), CORNERS[1:2] + 0.05])
    clouds = {"all but one": points, "none": np.zeros((5, 2)), "every": CORNERS}
    said = plots.point_clouds(clouds, CORNERS, reach=0.1).finding
    assert said == "Of 4 modes reached — all but one: 2; none: 0; every: 4 (1 % of the points within 0.1)."


def test_many_points_stay_within_the_largest_picture():
    cloud = np.random.default_rng(0).normal(size=(5000, 2))
    picture = plots.point_clouds({str(n): cloud for n in range(7)}, CORNERS, reach=0.1)
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_walk_says_its_largest_step():
    walk = np.stack([np.full((2, 2), value) for value in (0.0, 0.25, 1.0)])
    said = plots.walk_frame(walk, 1, verdict="a seven").finding
    assert said.startswith("The walk's step 1 of 2: a seven.")
    assert "changes by 0.75 at most" in said and "end to end by 1.00" in said


def test_a_moment_says_losses_and_score():
    said = plots.training_moment(
        np.zeros((4, 2, 2)), 0, [10, 20], {"D": [1.5, 1.0], "G": [0.5, 2.0]}, [2.0, 7.25]
    ).finding
    assert said == "Step 10: losses D 1.50, G 0.50; score 2.00, which ends at 7.25."


def test_the_legend_of_a_moment_stays_where_no_curve_is():
    curves = {"D": [0.2, 0.3, 0.9, 1.0], "G": [3.0, 2.0, 1.1, 1.0]}

    def place(at):
        figure = plots.training_moment(np.zeros((4, 2, 2)), at, [10, 20, 30, 40], curves, [1.0, 2.0, 3.0, 4.0]).figure
        figure.draw_without_rendering()
        where = figure.axes[1]
        return where.transAxes.inverted().transform(where.get_legend().get_window_extent()).round(2).tolist()

    ((left, low), (right, high)) = place(0)
    assert left > 0.4 and low > 0.5 and right <= 1 and high <= 1
    assert place(3) == place(0)
