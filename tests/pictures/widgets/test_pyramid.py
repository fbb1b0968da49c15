"""The pyramid of memories: every figure is a row's, has its source, and is called unknown where there is none."""

import pytest

from helpers import gpus, widgets
from helpers.hardware.gpus import GPUS
from helpers.hardware.memory_levels import levels

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


@EVERY
def test_the_picture_says_what_is_unknown(gpu):
    drawing, sources = widgets.pyramid(gpu.name).draw(gpu=gpu.name)
    unknown = sum(f.value is None for level in levels(gpu)
                  for f in (level.reach, level.total, level.latency, level.bandwidth))  # fmt: skip
    assert drawing.svg.count(">unknown<") == unknown
    assert ("unknown here" in drawing.finding) == (gpu.dram_latency is None)
    assert sources.body.count("<a href=") == int(sources.finding.split(" come from ")[1].split()[0])


def test_the_slider_has_all_gpus():
    explorer = widgets.pyramid("t4")
    assert explorer.values == {"gpu": "T4"}
    assert "registers are the largest, 10 MiB in all; no source gives its latencies" in explorer.shown.alt
    explorer.controls["gpu"].value = "V100"
    assert "a value from DRAM takes 436 clocks, 19 times as long" in explorer.shown.alt
    with pytest.raises(KeyError, match="The table has"):
        widgets.pyramid("GTX 480")
