"""The pyramid of memories: every figure is a row's, has its source, and is called unknown where there is none."""

import pytest

from helpers import widgets
from tests.pictures.widgets.choose import choose
from vgpu.hardware.gpus import GPUS
from vgpu.hardware.memory_levels import levels

EVERY = pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)


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
    assert "a value from DRAM takes 436 clocks, 19 times as long" in choose(explorer, gpu="V100")
    with pytest.raises(KeyError, match="The table has"):
        widgets.pyramid("GTX 480")
