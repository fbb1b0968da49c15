"""Marks that can be dragged: where they stand in a picture, and that they and the controls move one another."""

import html
import math
import re
from itertools import pairwise

import pytest

from helpers import gpus, plots, widgets
from helpers.pictures import figures
from helpers.pictures.figures import Drawing, Picture, Track
from helpers.pictures.plots.roofline import rates_shown, roofline_tracks
from helpers.pictures.widgets.controls import choice, dropdown, slider, words_for
from helpers.pictures.widgets.draggable import Draggable
from helpers.pictures.widgets.explorer import Explorer
from tests.pictures.widgets.choose import choose
from vgpu.tools.roofline import MEMORIES, PRECISIONS, roofs_missing, scaled

WIDE, HIGH = 504, 252  # points of a wide figure
# scales, a place in data, the same in points from the upper left: axes from 0 to 8, or from 1 to 256
PLACES = (
    ("linear", (0, 0), (50.4, 201.6)),
    ("linear", (8, 8), (453.6, 50.4)),
    ("linear", (2, 4), (151.2, 126.0)),
    ("log", (1, 1), (50.4, 201.6)),
    ("log", (256, 256), (453.6, 50.4)),
    ("log", (4, 16), (151.2, 126.0)),
)


def axes_of(scale):
    _, axes = figures.new(place=(0.1, 0.2, 0.8, 0.6))
    ends = (0, 8) if scale == "linear" else (1, 256)
    axes.set(xscale=scale, yscale=scale, xlim=ends, ylim=ends)
    return axes


@pytest.mark.parametrize(("scale", "data", "points"), PLACES)
def test_places_are_found_on_linear_and_on_logarithmic_axes(scale, data, points):
    assert plots.track(axes_of(scale), {"it": data}).places["it"] == pytest.approx(points)


def test_a_line_is_told_as_seen_from_the_mark():
    track = plots.track(axes_of("linear"), {1: (4, 2), 2: (4, 4)}, "y", line=((0, 4), (8, 4)), at=2)
    assert [part for end in track.line for part in end] == pytest.approx([-201.6, 0, 201.6, 0])


def test_a_third_way_is_refused():
    with pytest.raises(ValueError, match='along "x" or "y", not \'z\''):
        Track({}, "z")


# -- a mark and its control -----------------------------------------------------------------------------

BOX = '<svg viewBox="0 0 100 50"></svg>'


def draw(**values):
    """A mark for each control, 10 units a step; where "hidden" stands at 2, a mark has lost its place."""
    if values.get("fails"):
        raise ValueError("nothing is known of this GPU")
    tracks = {
        "n": Track({n: (10 * n, 5) for n in range(1, 6)}),
        "factor": Track({factor: (5, 40 - 10 * factor) for factor in (0.5, 1, 2)}, "y", ((0, 0), (9, 0))),
        "nobody": Track({1: (0, 0)}),
    }
    return Drawing(BOX, f"All controls of this test stand at {values}.", 100, tracks)


def explorer(**more):
    controls = {
        "n": slider("a number", 2, 1, 6),
        "factor": choice("how many times", 1, [("half", 0.5), ("once", 1), ("twice", 2)]),
        "fails": dropdown("fails", False, [False, True]),
    }
    return Explorer("bench", draw, controls | more, draggable=True)


def test_every_mark_with_a_control_has_a_handle_with_its_name_places_and_words():
    view = explorer().view
    assert view.handles == [
        {
            "name": "n", "label": "a number", "along": "x", "line": None, "words": ["1", "2", "3", "4", "5"],
            "places": [[10, 5], [20, 5], [30, 5], [40, 5], [50, 5]],
        },
        {
            "name": "factor", "label": "how many times", "along": "y", "line": [[0, 0], [9, 0]],
            "words": ["half", "once", "twice"], "places": [[5, 35], [5, 30], [5, 20]],
        },
    ]  # fmt: skip
    assert view.at == {"n": 1, "factor": 1}
    assert repr(view) == "Draggable(n, factor)"


# What the browser says, and what the controls hold then.
DRAGGED = (
    ({"n": 4, "factor": 1}, (5, 1)),
    ({"n": 1, "factor": 0}, (2, 0.5)),
    ({"n": 0, "factor": 2}, (1, 2)),
    ({"n": 5, "factor": 1}, (2, 1)),  # there is no sixth place
    ({"n": -1, "factor": 1}, (2, 1)),
    ({"n": 1, "factor": 1, "other": 3}, (2, 1)),
)


@pytest.mark.parametrize(("told", "held"), DRAGGED, ids=str)
def test_what_is_dragged_sets_the_control_and_draws_anew(told, held):
    made = explorer()
    made.view.set_state({"at": told})  # as a message from the browser does
    assert (made.controls["n"].value, made.controls["factor"].value) == held
    assert f"'n': {held[0]}, 'factor': {held[1]}" in html.unescape(made.view.value)


def test_a_control_takes_its_handle_along():
    made = explorer()
    choose(made, n=4, factor=0.5)
    assert made.view.at == {"n": 3, "factor": 0}
    made.controls["n"].value = 6
    assert made.view.at == {"factor": 0}, "a value without a place has no handle"
    assert [handle["name"] for handle in made.view.handles] == ["factor"]


def test_where_words_stand_for_a_picture_nothing_can_be_dragged():
    made = explorer()
    made.controls["fails"].value = True
    assert 'role="alert"' in made.view.value and (made.view.handles, made.view.at) == ([], {})
    made.controls["fails"].value = False
    assert len(made.view.handles) == 2


def test_an_explorer_whose_marks_stay_needs_no_javascript():
    plain = Explorer("bench", lambda n: Picture(axes_of("log").figure, "The axes of this figure go from 1 to 256.",
                     {"n": Track({1: (0, 0)})}), {"n": slider("n", 1, 1, 2)})  # fmt: skip
    assert type(plain.view).__name__ == "HTML"


def test_the_words_for_a_value():
    assert words_for(choice("c", 1, [("one", 1), ("two", 2)]), 2) == "two"
    assert words_for(choice("c", "a", ["a", "b"]), "b") == "b"
    assert words_for(slider("s", 1, 1, 2000), 1001) == "1,001"


def test_the_browser_s_part_is_in_the_package():
    assert "export default { render }" in str(Draggable._esm) and ".ring" in str(Draggable._css)


def test_old_views_are_forgotten_when_many_were_seen():
    from helpers.pictures.widgets.explorer import MOST_KEPT

    made = Explorer("bench", draw, {"n": slider("n", 1, 1, MOST_KEPT + 9)})
    for n in range(1, MOST_KEPT + 9):
        made.controls["n"].value = n
    assert len(made._drawn) == MOST_KEPT


# -- the roofline ---------------------------------------------------------------------------------------

FACTORS = dict(bandwidths=(0.25, 1, 4), arithmetics=(0.5, 1, 2))


def roofline_axes(row):
    chart = plots.roofline_chart({}, row, what_if=8, rates=rates_shown([], row, 2))
    return chart.figure.axes[0]


def test_the_star_stands_over_its_intensity_and_on_the_roof():
    row = gpus.find("A100")
    axes = roofline_axes(row)
    tracks = roofline_tracks(axes, row, "fp32", "DRAM", at=(1, 1), what_ifs=(1 / 64, 8, 512), **FACTORS)
    box, ((left, right), (low, high)) = axes.get_position(), (axes.get_xlim(), axes.get_ylim())
    for intensity, (x, y) in tracks["what_if"].places.items():
        assert x == pytest.approx(WIDE * (box.x0 + box.width * math.log(intensity / left, right / left)))
        roof = min(row.peak("fp32"), intensity * row.memory_bandwidth)
        assert HIGH - y == pytest.approx(HIGH * (box.y0 + box.height * math.log(roof / low, high / low)))
    # The star of the picture is drawn where its handle is.
    drawn = re.search(rf'<use [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*{figures.PALETTE["orange"]}', figures.svg(axes.figure))
    assert tracks["what_if"].places[8] == pytest.approx(tuple(map(float, drawn.groups())), abs=0.02)
    # Twice the height is the same way up for a slope and for a flat roof.
    octave = HIGH * box.height * math.log(2, high / low)
    for name in ("bandwidth", "arithmetic"):
        heights = [y for _, y in tracks[name].places.values()]
        steps = [one - other for one, other in pairwise(heights)]
        assert steps == pytest.approx([octave * (2 if name == "bandwidth" else 1)] * 2, rel=0.02)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("gpu", gpus.GPUS)
def test_every_handle_stays_within_the_axes_and_on_its_own_roof(gpu, memory):
    row = gpus.find(gpu)
    axes = roofline_axes(row)
    box = axes.get_position()
    left, right, low, high = box.x0 * WIDE, box.x1 * WIDE, (1 - box.y1) * HIGH, (1 - box.y0) * HIGH
    for precision in PRECISIONS:
        for at in ((1, 1), (4, 0.5), (0.25, 2)):
            tracks = roofline_tracks(axes, row, precision, memory, at=at, what_ifs=(1, 512), **FACTORS)
            if roofs_missing(row, precision, memory):
                assert tracks == {}
                continue
            assert list(tracks) == ["arithmetic", "what_if"] if memory == "L1" else len(tracks) == 3
            for name, track in tracks.items():
                for x, y in track.places.values():
                    assert left <= x <= right and low <= y <= high, (precision, at, name)
            flat = tracks["arithmetic"].places[at[1]]
            for name in set(tracks) - {"what_if"}:
                # The line goes through the mark, and neither end lies above the flat roof.
                x, y = tracks[name].places[dict(bandwidth=at[0], arithmetic=at[1])[name]]
                (dx1, dy1), (dx2, dy2) = tracks[name].line
                assert dx1 < 0 < dx2 and dx1 * dy2 == pytest.approx(dx2 * dy1, abs=0.01)
                assert min(y + dy1, y + dy2) >= flat[1] - 0.01


def test_a_roof_that_is_dragged_stays_under_the_pointer():
    made = widgets.roofline({"small": small_profile()}, gpu="T4")
    axes = [made.draw(**made.values | {"bandwidth": bandwidth, "arithmetic": arithmetic}).figure.axes[0].get_ylim()
            for bandwidth, arithmetic in ((1, 1), (0.25, 0.5), (4, 2))]  # fmt: skip
    assert axes[0] == axes[1] == axes[2]
    for name in ("bandwidth", "arithmetic"):
        before = {handle["name"]: handle["places"] for handle in made.view.handles}[name]
        made.view.set_state({"at": made.view.at | {name: 0}})
        after = {handle["name"]: handle["places"] for handle in made.view.handles}[name]
        assert [y for _, y in after] == pytest.approx([y for _, y in before])


def small_profile():
    import numpy as np

    from helpers import Launch, cp, cuda

    @cuda.jit
    def saxpy(a, x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a * x[i] + y[i]

    x, y, out = (cp.ones(4096, "float32") for _ in range(3))
    return Launch(saxpy, 16, 256, (np.float32(2), x, y, out)).profile()


def test_dragging_says_what_the_sliders_say():
    dragged, moved = (widgets.roofline({"small": small_profile()}, gpu="A100") for _ in range(2))
    values = dict.fromkeys(("what_if", "bandwidth", "arithmetic"), 2.0)
    at = {handle["name"]: handle["words"].index(words) for handle, words in
          zip(dragged.view.handles, ("× 2", "× 2", "2"), strict=True)}  # fmt: skip
    dragged.view.set_state({"at": at})
    for name, value in values.items():
        moved.controls[name].value = value
    assert dragged.values == moved.values and dragged.shown.alt == moved.shown.alt
    assert "A100, 2 × lanes, 2 × bandwidth" in moved.shown.alt and moved.view.at == at == dragged.view.at


def test_the_slope_of_l1_goes_with_the_clock_and_cannot_be_dragged():
    made = widgets.roofline({"small": small_profile()}, gpu="A100", memory="L1")
    assert [handle["name"] for handle in made.view.handles] == ["arithmetic", "what_if"]
    row = gpus.find("A100")
    assert MEMORIES["L1"].bandwidth(scaled(row, memory=4)) == MEMORIES["L1"].bandwidth(row)


@pytest.mark.parametrize("what_if", [1 / 64, 1 / 6, 4, 10, 512])
def test_any_intensity_of_the_axis_may_be_asked_for(what_if):
    made = widgets.roofline({"small": small_profile()}, gpu="A100", what_if=what_if)
    assert made.values["what_if"] == what_if and f"at {what_if:.3g} FLOP/byte" in made.shown.alt
    assert {0.25, 0.5, 1, 2, 64, 512} <= {value for _, value in made.controls["what_if"].options}


@pytest.mark.parametrize("what_if", [0, -1, 1000])
def test_other_intensities_are_refused(what_if):
    with pytest.raises(ValueError, match=f"what_if is FLOP/byte from 1/64 to 512, not {what_if}"):
        widgets.roofline({"small": small_profile()}, what_if=what_if)
