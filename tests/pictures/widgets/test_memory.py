"""The memory explorer: any PyTorch program, its arguments as controls."""

import torch
from torch.profiler import record_function

from helpers import widgets
from helpers.pictures.figures import show
from helpers.pictures.plots import memory_steps
from helpers.results.torch.memory import MIB, memory_line


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
    explorer.controls["half"].value = True
    assert "hold 2.00 MiB at most" in explorer.shown.alt
    assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value


def test_a_program_without_tensors_is_told_so():
    assert "allocates no tensor" in widgets.memory(lambda: None).shown


def test_phases_are_named_in_the_picture():
    shown = show(memory_steps(memory_line(lambda: hold(1)))).html(inline=True)
    assert "hold" in shown and "reserved, modelled" in shown and "Tensors hold 1.00 MiB" in shown
