"""The explorers of memory: any PyTorch program, and what an allocator holds step by step."""

import pytest
import torch
from torch.profiler import record_function

from helpers import widgets
from helpers.pictures.figures import show
from helpers.pictures.plots import block_map, memory_steps
from helpers.results.torch.memory import MIB, memory_line
from helpers.results.torch.replay import replay
from tests.pictures.widgets.choose import choose


def hold(count, half=False):
    with record_function("hold"):
        return torch.ones(count * MIB // 4, dtype=torch.float16 if half else torch.float32)


def test_a_move_runs_the_program_again():
    explorer = widgets.memory(hold, count=[1, 4], half=False)
    assert explorer.shown.alt == (
        "count 1, half False: tensors hold 1.00 MiB at most, in hold, and 0.00 MiB in the end; the allocator reserves "
        "2 MiB for them by then (modelled)."
    )
    explorer.controls["count"].value = 4
    assert "hold 4.00 MiB at most" in explorer.shown.alt and "reserves 20 MiB" in explorer.shown.alt
    assert "hold 2.00 MiB at most" in choose(explorer, half=True)
    assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value


def test_a_program_without_tensors_is_told_so():
    assert "allocates no tensor" in widgets.memory(lambda: None).shown


def test_phases_are_named_in_the_picture():
    shown = show(memory_steps(memory_line(lambda: hold(1)))).html(inline=True)
    assert "hold" in shown and "reserved, modelled" in shown and "Tensors hold 1.00 MiB" in shown


APART = [("alloc", name, 9 * MIB) for name in "abcd"]
FAILS = [*APART, ("free", "a"), ("free", "c"), ("alloc", "e", 12 * MIB)]
GROWS = [step for mib in (11, 13, 15) for step in (("alloc", mib, mib * MIB), ("alloc", -mib, 2 * MIB), ("free", mib))]


def test_the_map_says_what_is_held_and_what_is_of_no_use():
    shown = show(block_map(replay(FAILS, 40 * MIB)))
    assert shown.alt == (
        "After step 6 (e = 12 MiB) tensors hold 18.00 MiB of 40.00 MiB reserved in 2 segments, and the largest free "
        "block has 9.00 MiB: this step runs out of memory (modelled)."
    )
    drawn = shown.html(inline=True)
    assert drawn.count('fill="#ffffff"') == 5  # four free blocks beside others, and the legend's
    assert "step 6 of 6: e = 12 MiB: out of memory" in drawn and ">b<" in drawn and ">d<" in drawn


def test_a_map_of_many_small_blocks_stays_small():
    many = [("alloc", n, 600 + 512 * (n % 5)) for n in range(3000)] + [("free", n) for n in range(0, 3000, 2)]
    assert len(show(block_map(replay(many))).html(inline=True)) < 120_000
    wide = [("alloc", n, 11 * MIB) for n in range(15)]
    assert "and 4 segments more, 48 MiB" in block_map(replay(wide)).svg


def test_settings_replay_the_trace_again():
    explorer = widgets.block_map(GROWS, max_split_size_mb=[40], roundup_power2_divisions=[2])
    assert "7.00 MiB of 48.00 MiB reserved in 3 segments" in explorer.shown.alt
    assert choose(explorer, expandable=True).startswith("Expandable segments: after step 8 (del 15)")
    assert "of 40.00 MiB reserved in 1 segment" in explorer.shown.alt
    assert choose(explorer, divisions=2).startswith("Expandable segments, roundup_power2_divisions 2")


def test_a_replay_that_ends_early_has_fewer_steps():
    explorer = widgets.block_map({"as it is": FAILS, "longer": FAILS[:-1]}, capacity=[40 * MIB, None])
    assert (explorer.values["step"], explorer.controls["step"].max) == (6, 6)
    explorer.controls["program"].value = "longer"
    assert (explorer.values["step"], explorer.controls["step"].max) == (5, 5)
    assert "30.00 MiB of 52.00 MiB" in choose(explorer, limit=0, program="as it is")


def test_what_is_no_trace_is_told_so():
    with pytest.raises(TypeError, match="a trace is a list of steps"):
        widgets.block_map("alloc")
    with pytest.raises(ValueError, match="no steps"):
        widgets.block_map([])
