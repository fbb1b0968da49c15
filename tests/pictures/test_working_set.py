"""Requests drawn as found or not, and published bandwidths over the size of the data."""

import pytest

from helpers import plots
from helpers.models.cache_model import Asked
from vgpu.hardware.cache_measurements import REREAD


def test_marks_are_counted_in_the_words():
    asked = (Asked("x", 0, 4, 0), Asked("x", 128, 4, 3), Asked("x", 0, 4, 4))
    picture = plots.cache_requests({"once": asked[:1], "thrice": asked}, 2048)
    assert (
        picture.finding
        == "A cache of 2 KiB (modelled): once: 0 of 4 sectors are found; thrice: 7 of 12 sectors are found."
    )
    lines = {line.get_label(): list(line.get_xdata()) for line in picture.figure.axes[1].lines}
    assert lines == {"found in the cache": [2], "not found: fetched": [0, 1]}


@pytest.mark.parametrize("count", [0, 1201])
def test_without_requests_or_with_too_many_nothing_is_drawn(count):
    with pytest.raises(ValueError, match=f"made {count:,} requests"):
        plots.cache_requests({"": (Asked("x", 0, 1, 0),) * count}, 2048)


@pytest.mark.parametrize("row", REREAD, ids=lambda row: row.name)
def test_published_rates_fall_where_l2_ends(row):
    assert row.nbytes == sorted(row.nbytes) and row.source.url.startswith("https://")
    near = [rate for size, rate in zip(row.nbytes, row.rates, strict=True) if size < row.l2_bytes / 2]
    far = [rate for size, rate in zip(row.nbytes, row.rates, strict=True) if size > 2 * row.l2_bytes]
    assert min(near) > 2.5 * max(far)


def test_the_curves_tell_both_ends():
    picture = plots.reread_bandwidth(REREAD)
    assert "A100 80 GB: 5.5 TB/s over 2 MiB, 1.7 TB/s over 1.02 GiB, with an L2 of 40 MiB" in picture.finding
