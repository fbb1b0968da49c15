"""The chart of a roofline: it says what the places say, and its labels stand clear of one another."""

import random

import pytest

from helpers import plots
from helpers.pictures import figures
from helpers.pictures.plots.labels import around, overlap, spread
from helpers.pictures.plots.roofline import roofline_tracks
from vgpu.hardware.gpus import GPUS
from vgpu.hardware.roofline_measurements import MEASURED_ROOFS
from vgpu.tools.roofline import PlacedLaunch

A100 = GPUS["A100"]


def stands(name, intensity, rate, limiter="DRAM", gpu="A100", measured=False):
    nbytes = 1e9
    flops = intensity * nbytes
    seconds = flops / rate if flops else 1.0
    return PlacedLaunch(name, gpu, "fp32", "DRAM", flops, nbytes, seconds, measured, limiter, 0.5, 9.56)


PLACES = {
    "saxpy": stands("saxpy", 1 / 6, 2e11),
    "product": stands("product", 85, 3e12, "L2"),
    "polynomial": stands("polynomial", 16, 1.6e13, "FP32"),
    "tiny": stands("tiny", 1 / 6, 1e9, "launch"),
    "copy": stands("copy", 0, 0),
}


def test_the_finding_says_the_ridge_and_who_is_bound_by_what():
    assert plots.roofline_chart(PLACES, A100, what_if=4).finding == (
        "A100, FP32, bytes at DRAM: ridge at 9.56 FLOP/byte. Memory-bound: saxpy, product; compute-bound: polynomial; "
        "latency-bound: tiny. No FLOP, so no place: copy. What if: at 4 FLOP/byte the roof is 8.16 TFLOP/s, "
        "memory-bound."
    )


def test_other_units_move_the_ridge():
    found = plots.roofline_chart({}, A100, "fp16_tensor", what_if=512).finding
    assert found.startswith("A100, FP16 tensor, bytes at DRAM: ridge at 153 FLOP/byte.")
    assert found.endswith("at 512 FLOP/byte the roof is 312 TFLOP/s, compute-bound.")


def texts(picture):
    return [text.get_text() for text in (*picture.figure.texts, *picture.figure.axes[0].texts)]


def test_the_key_names_bound_and_share_and_the_axis_says_measured_or_modelled():
    shown = texts(plots.roofline_chart(PLACES, A100))
    assert {"saxpy", "L2 50%", "FP32 50%", "launch 50%", "no FLOP; DRAM 50%"} <= set(shown)
    assert shown.count("–") == 1
    assert plots.roofline_chart(PLACES, A100).figure.axes[0].get_ylabel() == "FLOP/s (modelled)"
    timed = {"saxpy": stands("saxpy", 1 / 6, 2e11, measured=True)}
    assert plots.roofline_chart(timed, A100).figure.axes[0].get_ylabel() == "FLOP/s (measured)"


def test_too_many_kernels_are_refused():
    with pytest.raises(ValueError, match="21 kernels are too many for one roofline: show at most 20"):
        plots.roofline_chart({str(n): PLACES["saxpy"] for n in range(21)}, A100)


def drawn(picture, colour=figures.PALETTE["ink"]):
    """The strong lines of a chart: the chosen roofs."""
    return [line for line in picture.figure.axes[0].lines if line.get_color() == colour and line.get_lw() > 1]


def test_a_roof_that_no_document_gives_is_named_and_the_others_are_drawn():
    no_slope = plots.roofline_chart({"it": stands("it", 2, 1e12)}, GPUS["H100"], memory="L2", what_if=4)
    assert no_slope.finding.startswith(
        "H100, FP32, bytes at L2: no ridge. No document gives the L2 bandwidth of H100; the table has it for V100, "
        "A100. Memory-bound: it."
    )
    assert "What if" not in no_slope.finding and "H100. Roof: FP32 66.9 TFLOP/s, L2 not known" in texts(no_slope)
    assert "no bandwidth published for L2: no slope" in texts(no_slope)
    assert len(drawn(no_slope)) == 1 and len(drawn(plots.roofline_chart(PLACES, A100))) == 2
    no_units = plots.roofline_chart(PLACES, GPUS["T4"], "tf32_tensor")
    assert "no peak published for TF32 tensor: no flat roof" in texts(no_units) and drawn(no_units) == []
    assert roofline_tracks(
        no_units.figure.axes[0], GPUS["T4"], "tf32_tensor", "DRAM", at=(1, 1), bandwidths=(1,), arithmetics=(1,),
        what_ifs=(1,),
    ) == {}  # fmt: skip


@pytest.mark.parametrize("gpu", GPUS)
def test_every_gpu_can_be_drawn_within_the_size_of_a_figure(gpu):
    picture = plots.roofline_chart(PLACES, GPUS[gpu], "fp32", "L1", what_if=512)
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def numbers_in(picture):
    """The boxes that the numbers of the marks take, in points as they are drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(picture.figure)
    canvas.draw()
    axes = picture.figure.axes[0]
    found = [text for text in axes.texts if text.get_text().isdigit()]
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in found]
    return [(box.x0, box.y0, box.x1, box.y1) for box in boxes]


@pytest.mark.parametrize("seed", range(5))
def test_numbers_never_overlap(seed):
    dice = random.Random(seed)
    # Crowded: all within a factor of four, so that marks lie on one another.
    places = {
        f"kernel {n}": stands(
            "k", 2 ** dice.uniform(0, 2), 10 ** dice.uniform(11, 11.6), dice.choice(["DRAM", "launch"])
        )
        for n in range(14)
    }
    boxes = numbers_in(plots.roofline_chart(places, A100))
    assert len(boxes) == 14
    assert max(overlap(a, b) for n, a in enumerate(boxes) for b in boxes[:n]) == 0


def test_labels_keep_clear_of_marks_of_one_another_and_of_what_is_taken():
    marks = [(50.0, 50.0)] * 4 + [(54.0, 52.0), (95.0, 95.0)]
    taken = [around((50, 62), (40, 9))]
    centres = spread(marks, [(12, 9)] * 6, (0, 0, 100, 100), taken=taken)
    boxes = [around(centre, (12, 9)) for centre in centres]
    others = [around(mark, (8, 8)) for mark in marks] + taken
    assert all(overlap(box, other) == 0 for box in boxes for other in others)
    assert all(overlap(a, b) == 0 for n, a in enumerate(boxes) for b in boxes[:n])
    assert all(min(box) >= 0 and max(box) <= 100 for box in boxes)
    assert spread(marks, [(12, 9)] * 6, (0, 0, 100, 100), taken=taken) == centres


@pytest.mark.parametrize("row", MEASURED_ROOFS, ids=lambda row: row.name)
def test_published_rates_lie_under_the_roof_of_the_data_sheet(row):
    assert row.intensities == sorted(row.intensities) and row.source.url.startswith("https://")
    shares = [rate / row.roof(at) for at, rate in zip(row.intensities, row.rates, strict=True)]
    assert max(shares) < 1 and min(shares) > 0.4


def test_measured_roofs_tell_both_ends():
    finding = plots.measured_roofs().finding
    assert "A100 40 GB: 88% of its roof at 0.25 FLOP/byte, 96% at 60.25" in finding
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.measured_roofs(())
