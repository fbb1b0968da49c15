"""Rooflines against sums done by hand on the data sheet's figures."""

import pytest

from helpers.gpus import GPUS
from helpers.roofline import peak_flops, roofline, seconds_text

A100 = GPUS["A100"]


def test_left_of_the_ridge_is_memory_bound():
    # saxpy: 2 FLOPs for 12 bytes.
    point = roofline(2e9, 12e9, A100)
    assert point.intensity == pytest.approx(1 / 6)
    assert point.attainable == pytest.approx(2039e9 / 6)
    assert point.bound == "memory"
    assert repr(point).startswith("Point(modelled on A100: 0.167 FLOP/byte")


def test_right_of_the_ridge_is_compute_bound():
    point = roofline(1e12, 1e9, A100)
    assert (point.attainable, point.bound) == (A100.peak("fp32"), "compute")
    assert roofline(point.ridge * 1e9, 1e9, A100).bound == "compute"


def test_tensor_units_have_their_own_roof():
    assert peak_flops(A100, "fp16_tensor") == 312e12
    with pytest.raises(ValueError, match="A100 has no published peak for 'fp8_tensor'"):
        peak_flops(A100, "fp8_tensor")
    with pytest.raises(ValueError, match="0 bytes have no intensity"):
        roofline(1, 0, A100)


@pytest.mark.parametrize(
    "seconds, text", [(2, "2 s"), (0.0123, "12.3 ms"), (5e-6, "5 µs"), (1e-9, "1 ns"), (0, "0 ns")]
)
def test_units_of_time(seconds, text):
    assert seconds_text(seconds) == text
