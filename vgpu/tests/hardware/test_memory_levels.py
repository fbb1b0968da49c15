"""The levels of memory: every figure is a row's and has its source, or is unknown."""

import pytest

from vgpu.hardware import gpus
from vgpu.hardware.gpus import GPUS
from vgpu.hardware.memory_levels import levels

EVERY = pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)


@EVERY
def test_every_figure_has_a_source_and_unknown_ones_none(gpu):
    for level in levels(gpu):
        for figure in (level.reach, level.total, level.latency, level.bandwidth):
            assert (figure.value is None) == (figure.sources == ()), level.name


@EVERY
def test_a_thread_reaches_more_the_further_it_goes(gpu):
    reach = [level.reach.value for level in levels(gpu) if level.reach.value is not None]
    assert reach == sorted(reach)


def test_sizes_and_bandwidths_of_an_a100():
    by = {level.name: level for level in levels(gpus.find("A100"))}
    assert by["registers"].reach.value == 1020 and by["registers"].total.value == 27 * 2**20
    assert by["L1"].total.value == 108 * 192 * 1024
    assert by["shared memory"].bandwidth.value == pytest.approx(128 * 108 * 1.41e9)
    assert by["registers"].bandwidth.value is None and by["host memory"].latency.value is None
