"""The explorer of fusion, with a teacher's own operations."""

import pytest

from helpers import device, widgets

CHAIN = ["z = x + bias", "t = tanh(z)", "y = t * z"]


@pytest.fixture(autouse=True)
def a100():
    device("A100")
    yield
    device.reset()


def test_a_cut_costs_what_crosses_it():
    shown = widgets.fusion(CHAIN, vectors=["bias"], rows=(1024,), columns=(256,))
    alt = shown.shown.alt  # 1 MiB an array
    assert alt.startswith("3 operations in 1 kernel move 2.1 MB of DRAM (one kernel each: 3 launches, 7.34 MB")
    assert alt.endswith("moved just these (counted).")
    shown.controls["cut_0"].value = True
    assert shown.shown.alt.startswith("3 operations in 2 kernels move 4.2 MB")
    shown.controls["cut_1"].value = True
    assert shown.shown.alt.startswith("3 operations in 3 kernels move 7.34 MB")


WRONG = {
    "too many": (lambda: widgets.fusion([f"y{n} = x + {n}" for n in range(13)]), ValueError, "more than 12"),
    "a cut at no name": (lambda: widgets.fusion(CHAIN, cuts=["q"]), ValueError, "a cut cannot be 'q'"),
    "broken sectors": (lambda: widgets.fusion(CHAIN, columns=(100,)), ValueError, "multiples of 8"),
    "no rows": (lambda: widgets.fusion(CHAIN, rows=(0,)), ValueError, "1 or more"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said(what):
    make, kind, words = WRONG[what]
    with pytest.raises(kind, match=words):
        make()
