"""The explorers of recurrent networks, with cells and programs of a teacher's own."""

import pytest

from helpers import cp, cuda, device, widgets


class Decay:
    input_size = 4

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x, state):
        return x.requires_grad_() if state is None else self.factor * state + x


HALVE = cp.RawKernel('extern "C" __global__ void halve(float* x) { x[threadIdx.x] /= 2; }', "halve")


@cuda.jit
def double(x):
    x[cuda.threadIdx.x] *= 2


def apart(steps):
    x = cp.empty(32, dtype="float32")
    for _ in range(steps):
        HALVE((1,), (32,), (x,))
        double[1, 32](x)


def once(steps):
    HALVE((1,), (32,), (cp.empty(32, dtype="float32"),))


@pytest.fixture(autouse=True)
def a100():
    device("A100")
    yield
    device.reset()


def test_a_setting_of_any_cell_moves_its_curve():
    shown = widgets.gradient_flow({"decay": (Decay, "factor", (0.5, 1.0, 2.0))}, steps=11)
    assert "10 steps back the gradient has of its norm: decay, factor 1 1 (calculated)." in shown.shown.alt
    shown.controls["decay"].value = 2.0
    assert "decay, factor 2 1e3" in shown.shown.alt


def test_launches_are_counted_and_their_price_is_the_learners():
    shown = widgets.launch_gaps({"apart": apart, "once": once}, steps=(1, 4), overheads=(1, 5))
    assert shown.shown.alt.startswith("Apart: 8 launches, 40") and "once: 1 launch, 5" in shown.shown.alt
    shown.controls["overhead"].value = 1
    assert shown.shown.alt.startswith("Apart: 8 launches, ") and "once: 1 launch, 1" in shown.shown.alt
    shown.controls["steps"].value = 1
    assert shown.shown.alt.startswith("Apart: 2 launches, ")


WRONG = {
    "a cell alone": (lambda: widgets.gradient_flow({"decay": Decay}), TypeError, "three things"),
    "a cell made already": (lambda: widgets.gradient_flow({"d": (1, "f", (1,))}), TypeError, "is a function"),
    "no values": (lambda: widgets.gradient_flow({"d": (Decay, "f", ())}), ValueError, "no values"),
    "one step": (lambda: widgets.gradient_flow({"d": (Decay, "f", (1,))}, steps=1), ValueError, "at least 2"),
    "no program": (lambda: widgets.launch_gaps({"a": 3}), TypeError, "program is a function"),
    "a free launch": (lambda: widgets.launch_gaps(once, overheads=(0,), steps=(1,)), ValueError, "more than 0"),
    "a control's name": (lambda: widgets.launch_gaps(once, gpu=(1,)), ValueError, "call that argument something"),
    "no kernel": (lambda: widgets.launch_gaps(lambda n: None, n=(1,)), ValueError, "asks for no kernel"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said(what):
    make, kind, words = WRONG[what]
    with pytest.raises(kind, match=words):
        explorer = make()
        raise ValueError(explorer.shown)  # words in place of a picture
