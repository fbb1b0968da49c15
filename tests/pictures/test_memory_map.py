"""The map of memories says what the GPU's row says, and leaves out what no source gives."""

import pytest

from helpers import gpus, plots
from helpers.hardware.gpus import GPUS


def test_the_map_of_an_a100_has_the_figures_of_its_row():
    drawing = plots.memory_map(gpus.find("A100"))
    for words in (
        "108 multiprocessors",
        ">64 KiB<",
        ">192 KiB<",
        ">40 MiB<",
        ">80 GiB<",
        ">2.04 TB/s<",
        ">571 clocks<",
    ):
        assert words in drawing.svg, words
    assert drawing.finding.endswith("a load from shared memory takes 29 clocks, one from DRAM 571.")


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_what_no_source_gives_is_left_out(gpu):
    drawing = plots.memory_map(gpu)
    assert "None" not in drawing.svg
    # The legend says the word once, then L2 and DRAM once each, and L1 and shared memory once each in one text.
    assert drawing.svg.count("clocks") == 1 + (gpu.l2_latency is not None) + (gpu.dram_latency is not None) + 2 * (
        gpu.l1_latency is not None
    )
