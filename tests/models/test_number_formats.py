"""Number formats: their values are those that PyTorch's types have, and rounding is PyTorch's."""

import numpy as np
import pytest
import torch

from helpers.models.number_formats import FORMATS, Format, shares

TORCH = {
    "FP16": torch.float16, "BF16": torch.bfloat16, "E5M2": torch.float8_e5m2, "E4M3": torch.float8_e4m3fn,
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", TORCH)


@EVERY
def test_its_values_are_those_of_all_codes(name):
    form = FORMATS[name]
    codes = torch.arange(1 << (form.bits - 1)).to(torch.int16 if form.bits == 16 else torch.uint8)
    theirs = codes.view(TORCH[name]).double().numpy()
    finite = theirs[np.isfinite(theirs)]
    assert np.array_equal(form.between(0, form.largest), finite)
    assert (form.smallest, form.largest) == (finite[1], finite[-1])
    assert form.smallest_normal == torch.finfo(TORCH[name]).tiny


@EVERY
def test_it_rounds_as_pytorch_does(name):
    form, dice = FORMATS[name], np.random.default_rng(0)
    x = (dice.standard_normal(20_000) * 10.0 ** dice.uniform(-9, 2, 20_000)).astype(np.float32)
    assert np.array_equal(form.nearest(x), torch.from_numpy(x).to(TORCH[name]).double().numpy())


def test_values_of_four_bits():
    form = FORMATS["E2M1"]
    assert form.between(0, 10).tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert form.nearest([0.25, 0.75, 2.5, 5.0, -3.5]).tolist() == [0, 1, 2, 4, -4]


@pytest.mark.parametrize("name", ["FP16", "E5M2", "E4M3", "E2M1"])
@pytest.mark.parametrize("low, high", [(0.0, 2.0), (0.3, 1.7), (1.0, 1.0), (0.0, 0.0), (0.5, 1.5), (5.0, 600.0)])
def test_values_are_counted_without_listing_them(name, low, high):
    form = FORMATS[name]
    assert form.count(low, high) == len(form.between(low, high))


def test_too_many_values_are_not_listed():
    assert FORMATS["FP32"].count(1.0, 2.0) == 2**23 + 1
    with pytest.raises(ValueError, match="more than 65,536 values"):
        FORMATS["FP32"].between(1.0, 2.0)


def test_steps_double_at_a_power_of_two():
    form = FORMATS["E4M3"]
    assert (form.spacing(0.99), form.spacing(1.0), form.spacing(0.0)) == (1 / 16, 1 / 8, 2.0**-9)


def test_what_becomes_of_gradients():
    sizes = [0.0, 2.0**-25, 2.0**-24, 2.0**-14, 1.0, -70000.0]
    assert shares(sizes, FORMATS["FP16"]) == {"zero": 20, "subnormal": 20, "normal": 40, "overflow": 20}
    assert shares(sizes, FORMATS["FP16"], 2.0**10) == {"zero": 0, "subnormal": 20, "normal": 60, "overflow": 20}
    assert set(shares([0.0], FORMATS["FP16"]).values()) == {0.0}


@pytest.mark.parametrize("bits", [(0, 3), (9, 3), (5, 24), (5, -1)])
def test_bits_that_no_float_has(bits):
    with pytest.raises(ValueError, match="bits of exponent"):
        Format("odd", *bits)


def test_specials_are_named():
    with pytest.raises(ValueError, match="NaN only"):
        Format("odd", 4, 3, "nan")
    with pytest.raises(ValueError, match="a whole exponent"):
        Format("odd", 8, 0, "NaN only")
