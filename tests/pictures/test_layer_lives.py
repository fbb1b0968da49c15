"""From when to when layers' outputs are held, with checkpoints and without."""

import pytest
import torch
from torch import nn
from torch.profiler import record_function as phase
from torch.utils.checkpoint import checkpoint

from helpers.pictures.plots import layer_lives
from helpers.results.torch.lives import AGAIN, DROPPED, KEPT, lives
from helpers.results.torch.memory import memory_line


def forward(stack, segment: int):
    """Nothing outside keeps an output of a layer alive, as in a network's forward function."""
    x = torch.ones(64, 8, requires_grad=True)
    for first in range(0, len(stack), segment or len(stack)):
        part = nn.Sequential(*stack[first : first + (segment or len(stack))])
        x = checkpoint(part, x, use_reentrant=False) if segment else part(x)
    return x.square().sum()


def recorded(layers: int, segment: int):
    def step():
        stack = [nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(layers)]
        with phase("forward"):
            loss = forward(stack, segment)
        with phase("backward"):
            loss.backward()

    return memory_line(step)


def test_without_checkpoints_all_are_kept_and_the_last_goes_first():
    found = lives(recorded(4, 0), "aten::tanh")
    assert [each.kind for each in found.outputs] == [KEPT] * 4 and max(found.held) == 4
    assert [each.layer for each in sorted(found.outputs, key=lambda each: each.last)] == [4, 3, 2, 1]
    assert all(each.first < found.turn < each.last for each in found.outputs)


def test_with_checkpoints_segments_come_again_from_the_last_to_the_first():
    found = lives(recorded(4, 2), "aten::tanh")
    assert [each.layer for each in found.outputs if each.kind == DROPPED] == [1, 3]
    again = sorted((each for each in found.outputs if each.kind == AGAIN), key=lambda each: each.first)
    assert [each.layer for each in again] == [3, 4, 1, 2]
    told = layer_lives({"all": recorded(4, 0), "2 segments": recorded(4, 2)}, "aten::tanh").finding
    assert told == (
        "all: of 4 layers at most 4 outputs are held at once; 2 segments: of 4 layers at most 3 outputs are held at "
        "once, and 4 are computed again (counted)."
    )


def test_what_the_recording_does_not_tell_is_said():
    with pytest.raises(ValueError, match="no output of aten::relu"):
        lives(recorded(2, 0), "aten::relu")
    with pytest.raises(ValueError, match="mark the parts"):
        lives(memory_line(lambda: torch.ones(9)), "aten::tanh")
    with pytest.raises(ValueError, match="one to 3 steps"):
        layer_lives({}, "aten::tanh")
