"""The explorers of number formats and of gradients: what they say is what the formats do."""

import numpy as np
import pytest
import torch
from torch import nn

from helpers import FORMATS, widgets
from tests.pictures.widgets.choose import choose


def test_the_line_tells_how_far_values_are_apart():
    shown = widgets.number_line(chosen="E4M3")
    assert choose(shown) == "From 0 to 2 E4M3 has 65 values: 0.0625 apart below 1 and 0.125 from there on."
    assert "From 0.5 to 1.5 E4M3 has 13 values" in choose(shown, zoom=1) and "it ends at 448" in choose(shown, power=9)
    assert "E4M3 has no value: it ends at 448." in choose(shown, power=11)
    assert "1 apart below 2048 and 2 from there on" in choose(shown, chosen="FP16", zoom=8)
    assert "2^-24 apart on both sides of 2^-14, as they are subnormal" in choose(shown, power=-14)


def test_a_format_of_a_teacher():
    shown = widgets.number_line({"mine": (3, 1), "FP8": FORMATS["E5M2"]})
    assert choose(shown).startswith("From 0 to 2 mine has 9 values") and "FP8 has" in choose(shown, chosen="FP8")


@pytest.mark.parametrize("chosen", FORMATS)
@pytest.mark.parametrize("power, zoom", [(-30, 0), (-30, 14), (18, 0), (18, 14)])
def test_every_corner_is_drawn(chosen, power, zoom):
    assert "From" in choose(widgets.number_line(chosen=chosen), power=power, zoom=zoom)


def after_backward() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    model(torch.randn(4, 8)).square().mean().backward()
    return model


def test_a_loss_scale_saves_small_gradients_until_large_ones_overflow():
    sizes = torch.tensor([0.0, 2.0**-30, 2.0**-20, 2.0**-10, 2.0**-2])
    shown = widgets.gradients(sizes)
    assert choose(shown) == (
        "Of 4 gradients that are not zero (20 % of all were zero before), in FP16 with a loss scale of 1: 25 % become "
        "zero, 25 % are subnormal, 0 % overflow."
    )
    assert "0 % become zero, 25 % are subnormal, 0 % overflow" in choose(shown, loss_scale=2.0**12)
    assert "loss scale of 2^20: 0 % become zero, 0 % are subnormal, 25 % overflow" in choose(shown, loss_scale=2.0**20)
    assert "in BF16" in choose(shown, format="BF16") and "0 % overflow" in choose(shown)


@pytest.mark.parametrize(
    "given",
    [
        after_backward,
        lambda: [weight.grad for weight in after_backward().parameters()],
        lambda: np.concatenate([weight.grad.numpy().ravel() for weight in after_backward().parameters()]),
    ],
    ids=["a network", "a list", "an array"],
)
def test_gradients_in_any_form(given):
    assert choose(widgets.gradients(given())).startswith("Of ")
    both = widgets.gradients({"one": given(), "other": given()})
    assert choose(both, which="other").startswith("other: of ")


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: widgets.number_line([(5, 10)]), TypeError, "mapping such as"),
        (lambda: widgets.number_line({"mine": "5, 10"}), TypeError, "pair of whole numbers"),
        (lambda: widgets.number_line({"mine": (5, 99)}), ValueError, "bits of exponent"),
        (lambda: widgets.number_line(chosen="FP61"), ValueError, "Did you mean 'FP16'"),
        (lambda: widgets.number_line({str(n): (5, n) for n in range(9)}), ValueError, "room for 8"),
        (lambda: widgets.gradients(nn.Linear(2, 2)), ValueError, "call backward"),
        (lambda: widgets.gradients(torch.tensor([1.0, float("inf")])), ValueError, "infinite or NaN"),
        (lambda: widgets.gradients({}), ValueError, "mapping is empty"),
        (lambda: widgets.gradients(torch.ones(2), loss_scale=1000), ValueError, "cannot be 1000"),
    ],
)
def test_what_is_no_format_and_no_gradient(make, error, words):
    with pytest.raises(error, match=words):
        make()
