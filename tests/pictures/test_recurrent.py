"""Pictures of recurrent networks say what their data say."""

import pytest

from helpers import plots
from helpers.pictures import figures
from vgpu.tools.streams.spans import Schedule, Span


def test_gradients_are_read_at_the_last_step():
    picture = plots.gradient_curves({"a": [1, 0.5, 0.25], "b": [1, 1e3, 1e6]}, others={"a": [[1, 1e-30, 0]]})
    assert picture.finding == "2 steps back the gradient has of its norm: a 0.25; b 1e6 (calculated)."
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


@pytest.mark.parametrize(("norm", "told"), [(1, "1"), (0.0123, "0.012"), (0.00123, "1e-3"), (3.2e-24, "3e-24")])
def test_norms_are_told_by_their_size(norm, told):
    assert plots.gradient_curves({"a": [1, norm]}).finding.endswith(f"a {told} (calculated).")


def test_launch_lanes_say_how_long_the_gpu_works():
    spans = tuple(Span("SMs", "stream 1", at * 1e-5, at * 1e-5 + 2e-6, "k") for at in range(1, 6))
    host = tuple(Span("host", "stream 1", (at - 1) * 1e-5, at * 1e-5, "k") for at in range(1, 6))
    schedule = Schedule("A100", spans, 5.2e-5, host=host)
    picture = plots.launch_lanes({"small": schedule}, launches={"small": 5}, until=6e-5)
    assert picture.finding == ("Small: 5 launches, 52 µs, GPU at work 19% (launches counted, times modelled on A100).")


def test_forecasts_are_told_by_their_mean_error():
    picture = plots.forecast_fan([0, 1, 2], [3, 4], {"last": [2, 2], "right": [3, 4]})
    assert picture.finding == "On average over 2 steps ahead the forecasts are off by: last 1.50, right 0.00."
