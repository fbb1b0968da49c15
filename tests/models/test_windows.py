"""Windows over an image: sizes and taps as PyTorch has them, fields as a gradient finds them."""

import numpy as np
import pytest
import torch
from torch import nn

from helpers.models.windows import Window, outputs, paths, receptive_field

WINDOWS = [Window(1), Window(5, 1, 2), Window(3, 2, 1), Window(2, 2), Window(3, 1, 2, 2), Window(4, 3, 1)]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_sizes_are_pytorchs(window):
    layer = nn.Conv2d(1, 1, window.kernel, window.stride, window.padding, window.dilation)
    assert layer(torch.zeros(1, 1, 17, 17)).shape[-1] == window.outputs(17)


@pytest.mark.parametrize("stack", [WINDOWS[:1], WINDOWS[1:4], [WINDOWS[4], WINDOWS[2], WINDOWS[2]]])
def test_paths_are_what_a_gradient_through_ones_counts(stack):
    image = torch.zeros(1, 1, 19, requires_grad=True)
    value = image
    for window in stack:
        layer = nn.Conv1d(1, 1, window.kernel, window.stride, window.padding, window.dilation, bias=False)
        nn.init.ones_(layer.weight)
        value = layer(value)
    assert value.shape[-1] == outputs(stack, 19)
    for position in (0, value.shape[-1] // 2, value.shape[-1] - 1):
        (slope,) = torch.autograd.grad(value[0, 0, position], image, retain_graph=True)
        assert paths(stack, 19, position).tolist() == slope[0, 0].tolist()


def test_a_field_is_as_wide_as_what_is_seen_in_the_middle():
    stack = [Window(5, 1, 2), Window(2, 2), Window(5), Window(2, 2)]  # a LeNet
    assert receptive_field(stack) == (16, 4)
    seen = np.flatnonzero(paths(stack, 64, 5))
    assert seen[-1] - seen[0] + 1 == 16


def test_what_cannot_be_says_what_was_meant():
    with pytest.raises(ValueError, match="kernel, stride and dilation are 1 or more"):
        Window(3, 0)
    with pytest.raises(ValueError, match="spans 9 pixels does not fit 8 pixels"):
        Window(5, dilation=2).outputs(8)
    with pytest.raises(IndexError, match="leaves 6 outputs"):
        paths([Window(3)], 8, 6)
