"""The picture of who waits for whom: rows, arrows and what is missing are those of the recording."""

import pytest

from helpers import cp, streams
from helpers.pictures import figures, plots

ADD = cp.RawKernel(
    'extern "C" __global__ void add(float* x, const float* y) { x[threadIdx.x] += y[threadIdx.x]; }', "add"
)


def joined(ordered: bool, further: int = 0) -> None:
    """A kernel in each of two streams, then one in the first that reads what the second has made."""
    one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    a, b, c = (cp.empty(32, "float32") for _ in range(3))
    ADD((1,), (32,), (a, c), stream=one)
    ADD((1,), (32,), (b, c), stream=two)
    if ordered:
        one.wait_event(two.record())
    for _ in range(1 + further):
        ADD((1,), (32,), (a, b), stream=one)
    one.synchronize()


def test_an_order_that_is_missing_is_named_and_an_event_becomes_an_arrow():
    loose, tied = (plots.stream_order(streams.dry_run(joined, ordered)) for ordered in (False, True))
    waits = "the host waits for add in stream 1"
    assert loose.finding == (
        f"4 operations in 2 streams. Across streams: {waits}. Missing is an order of add in stream 2 and add in "
        "stream 1."
    )
    assert tied.finding == (
        f"4 operations in 2 streams. Across streams: add in stream 1 waits for add in stream 2; {waits}. No order is "
        "missing."
    )
    rows = [text.get_text() for text in tied.figure.axes[0].texts]
    assert rows[:3] == ["the host", "stream 1", "stream 2"]
    assert len(figures.svg(tied.figure)) < figures.LARGEST_SVG


def test_more_than_fits_is_refused():
    with pytest.raises(ValueError, match="1 to 12 operations, and the recording has 14"):
        plots.stream_order(streams.dry_run(joined, True, further=10))
    with pytest.raises(ValueError, match="has 0"):
        plots.stream_order(streams.dry_run(lambda: None))
