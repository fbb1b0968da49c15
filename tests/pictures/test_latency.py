"""Pictures of what hides latency: each says what its data say, and refuses what it cannot draw."""

import pytest

from helpers import gpus, occupancy
from helpers.models.warp_scheduler import IssueSlots
from helpers.pictures import plots
from helpers.pictures.figures import show
from helpers.workbook.run import unnamed_pictures
from vgpu.tools.steps.dependencies import Chain


def busy(warps: int, memory: float, issued: int = 10) -> IssueSlots:
    """A scheduler of so many warps whose memory is at work for a share of 100 clocks."""
    chain = Chain(kernel="k", links=())
    return IssueSlots("A100", chain, 100, ((),) * warps, ((0, 100 * memory),), 0, issued)


@pytest.mark.parametrize("name", gpus.GPUS)
def test_the_quarters_of_every_gpu_are_drawn_with_a_number_for_each_resident_warp(name):
    held = occupancy(56, 0, 256, gpus.find(name))
    picture = plots.sm_quarters(held, gpus.find(name))
    numbers = [text.get_text() for text in picture.figure.axes[0].texts if text.get_text().isdigit()]
    assert len(numbers) == held.warps_per_sm
    assert {int(number) for number in numbers} == set(range(held.blocks_per_sm))
    assert f"{held.warps_per_sm} of {held.max_warps_per_sm} warps" in picture.finding
    assert unnamed_pictures(show(picture).html()) == []


def test_bytes_under_way_are_bandwidth_times_latency():
    picture = plots.bytes_under_way([gpus.find("A100"), gpus.find("RTX 4090")], {"A100": 16 * 1024})
    # 2,039 GB/s over 108 SMs of 1.41 GHz, times 571 clocks: 7,646 bytes
    assert "A100: all warps ask for 8.0, Little's law wants 7.5, CUB aims at 16" in picture.finding
    assert picture.finding.endswith("RTX 4090: all warps ask for 6.0, Little's law wants 1.7.")


def test_a_latency_that_nobody_measured_is_asked_for():
    with pytest.raises(ValueError, match="no latency is known for T4"):
        plots.bytes_under_way([gpus.find("T4")], {})


def test_curves_say_from_how_many_warps_on_a_unit_is_busy():
    found = {"late": [busy(4, 0.95), busy(1, 0.2)], "never": [busy(8, 0.5)]}
    picture = plots.hiding_curves(found)
    assert "late needs 4 warps and never gets to 50% at most" in picture.finding
    assert "one needs 2 warps" in plots.hiding_curves({"one": [busy(2, 0, issued=90)]}, "issue").finding


@pytest.mark.parametrize(
    "found, unit, words", [({}, "memory", "at least one kernel"), ({"k": []}, "L1", "unit is one of")]
)
def test_curves_say_what_they_need(found, unit, words):
    with pytest.raises(ValueError, match=words):
        plots.hiding_curves(found, unit)
