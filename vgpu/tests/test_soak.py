"""A few seconds of `python -m vgpu.tests.soak`; the runs that were recorded took a quarter of an hour and more."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the address space, and reads /proc")


@pytest.mark.slow
def test_launches_in_a_process_that_is_short_of_memory():
    from vgpu.tests import soak

    tally, rows = soak.soak(6, seed=1, kernels=3, headroom=256)
    assert set(tally) == {"ran", "observed", "faulted", "out of memory"}
    assert rows[0]["launches"] == 0 and sum(tally.values()) >= rows[-1]["launches"] > 0
    # The first thousands still fill pools that are kept; what one launch left behind would be far more.
    assert max(row["resident"] for row in rows) - rows[0]["resident"] < 96 * soak.MIB


def test_growth_is_the_slope_of_the_samples():
    from vgpu.tests import soak

    rows = [{"launches": 1000 * i, "resident": (100 + 3 * i) * soak.MIB} for i in range(5)]
    assert soak.growth(rows) == pytest.approx(3)


def test_a_child_that_dies_is_seen(monkeypatch):
    from vgpu.tests import soak

    monkeypatch.setattr(soak.sys, "executable", "/bin/false")
    with pytest.raises(AssertionError, match="exit 1"):
        soak.soak(1)
