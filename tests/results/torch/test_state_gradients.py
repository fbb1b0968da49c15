"""Gradients over time steps, of cells whose gradients are known in closed form."""

import pytest
import torch

from helpers.results.torch.state_gradients import state_gradients


class Decay:
    """h = factor · h + x: each step back multiplies the gradient by the factor."""

    input_size = 4

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x, state):
        x = x.requires_grad_()
        return x if state is None else self.factor * state + x


class WithMemory(Decay):
    """A cell with two states, whose second alone is handed on."""

    def __call__(self, x, state):
        x = x.requires_grad_()
        c = x if state is None else self.factor * state[1] + x
        return 1 * c, c


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_a_factor_makes_a_power_of_the_steps(factor):
    assert state_gradients(Decay, factor, 6) == pytest.approx([factor**back for back in range(6)], rel=1e-5)


def test_all_parts_of_a_state_count():
    # At the last step h and c both have the gradient of h; before it h leads nowhere.
    found = state_gradients(WithMemory, 0.5, 4)
    assert found == pytest.approx([1, *(0.5**back / 2**0.5 for back in (1, 2, 3))], rel=1e-5)


def test_the_learners_generator_is_left_alone():
    torch.manual_seed(7)
    wanted = torch.rand(3)
    torch.manual_seed(7)
    first = state_gradients(lambda value: torch.nn.GRUCell(3, 5), 0, 5)
    assert torch.equal(torch.rand(3), wanted)
    assert first == state_gradients(lambda value: torch.nn.GRUCell(3, 5), 0, 5)


def test_a_gradient_that_is_no_number_is_said():
    with pytest.raises(ValueError, match="no number at the value 1e"):
        state_gradients(Decay, 1e38, 5)
