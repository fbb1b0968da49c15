"""Recurrent networks drawn over their steps say what the shapes and the rounds say."""

import numpy as np
import pytest

from helpers import plots
from helpers.pictures import figures
from helpers.vgpu.base.words import plural


def shaped(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 20])
def test_each_step_hands_on_its_state(steps):
    x, outputs, h = shaped(steps, 8, 16), shaped(steps, 8, 64), shaped(1, 8, 64)
    said = plots.unrolled(x, outputs, (h, h), backward=True)
    assert f"{plural(steps, 'step')} hands to the next h and c, 8 × 64 each: 1,024 numbers" in said.finding
    assert "Backwards a cell gets a gradient from above and 2 from the next step" in said.finding
    assert figures.svg(said.figure).count(">cell</text>") == min(steps, 4)
    assert "h, 8 × 64: 512 numbers" in plots.unrolled(x, outputs, h).finding


@pytest.mark.parametrize(
    ("x", "outputs", "state", "words"),
    [
        (shaped(20, 16), shaped(20, 64), shaped(1, 64), "in the shape (steps, batch, inputs)"),
        (shaped(20, 8, 16), shaped(19, 8, 64), shaped(1, 8, 64), "in the shape (steps, batch, inputs)"),
        (shaped(20, 8, 16), shaped(20, 8, 64), shaped(2, 8, 64), "cell_rounds() draws several layers"),
    ],
)
def test_what_cannot_be_unrolled_is_refused(x, outputs, state, words):
    with pytest.raises(ValueError) as refused:
        plots.unrolled(x, outputs, state)
    assert words in str(refused.value)


def test_rounds_are_counted_and_the_fullest_is_framed():
    layers, steps = np.mgrid[:3, :10]
    picture = plots.cell_rounds(layers + steps + 1)
    assert picture.finding == "3 layers × 10 steps: 30 cells in 12 rounds, at most 3 of them at the same time."
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


@pytest.mark.parametrize("rounds", [np.ones((2, 3)), np.ones((9, 1)), np.arange(25)[None] + 1, np.array([1, 2, 3])])
def test_a_cell_that_does_not_wait_is_refused(rounds):
    with pytest.raises(ValueError):
        plots.cell_rounds(rounds)
