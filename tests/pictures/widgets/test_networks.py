"""The explorers of networks, with layers, cells and generators of a teacher, checked and left as they were."""

import numpy as np
import pytest
import torch
from torch import nn

from helpers import cp, cuda, layers, plots, widgets
from helpers.pictures.widgets.explorers.networks import maps_of
from tests.pictures.widgets.choose import choose

IMAGE = np.arange(64.0).reshape(8, 8)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(48, 2))


def test_a_tile_of_im2col_holds_what_the_windows_cover():
    explorer = widgets.im2col(IMAGE, kernel=3, tile=1)
    assert "leaves 6 × 6 outputs: the matrix holds 324 values, 5.06 for each pixel" in explorer.shown.alt
    assert explorer.shown.alt.endswith("The tile of 1 column holds 9 values of 9 pixels.")
    assert choose(explorer, tile=2).endswith("The tile of 2 columns holds 18 values of 12 pixels.")
    assert explorer.controls["number"].max == 17
    assert choose(explorer, padding=1).endswith("holds 18 values of 6 pixels, and 8 zeros of the padding.")


def test_a_window_that_does_not_fit_is_told_in_place_of_the_picture():
    explorer = widgets.im2col(IMAGE, kernel=5)
    assert "spans 13 pixels does not fit 8 pixels" in choose(explorer, dilation=3)
    assert "leaves 4 × 4 outputs" in choose(explorer, dilation=1)


def test_a_receptive_field_follows_layers_network_and_output():
    explorer = widgets.receptive_field(IMAGE, {"threes": [(3, 1, 1), (3, 1, 1)], "net": network()}, layers=2)
    assert explorer.shown.alt.startswith("threes, 2 layers: an output sees 5 × 5 pixels")
    assert explorer.shown.alt.endswith("rows 2 to 6 and columns 2 to 6, by 1 to 9 paths.")
    assert "Output (0, 4) sees 15 of 64 pixels, rows 0 to 2" in choose(explorer, row=0)
    explorer.controls["network"].value = "net"
    assert "an output sees 4 × 4 pixels, and its neighbour begins 2 pixels further on" in explorer.shown.alt
    assert explorer.controls["row"].max == 3


def test_a_receptive_field_of_a_large_image_is_drawn_for_each_output():
    explorer = widgets.receptive_field(np.random.default_rng(0).random((32, 32)), [(3, 1, 1, 1), (3, 1, 4, 4)] * 3)
    assert explorer.shown.alt.startswith("6 layers: an output sees 31 × 31 pixels")
    assert "Output (31, 0) sees 256 of 1024 pixels" in choose(explorer, row=31, column=0)


def test_feature_maps_are_the_networks_and_leave_no_hook():
    net = network().train()
    images = torch.randn(2, 1, 8, 8)
    found = maps_of(net, images[1])
    assert list(found) == ["0 Conv2d", "1 ReLU", "2 MaxPool2d"] and net.training
    with torch.no_grad():
        assert np.array_equal(found["1 ReLU"], net[:2](images[1:])[0].numpy())
    assert not any(module._forward_hooks for module in net.modules())
    explorer = widgets.feature_maps(net, images, layer="2 MaxPool2d")
    assert explorer.shown.alt.startswith("Layer 2 MaxPool2d makes 3 maps of 4 × 4 of image 0")
    assert "of image 1" in choose(explorer, number=1)


def test_layers_under_a_roof_change_their_state_with_batch_and_numbers():
    rows = layers(nn.Conv2d(512, 512, 3, padding=1), torch.empty(1, 512, 7, 7, device="meta"), "late")
    explorer = widgets.layer_roofline(rows, gpu="A100", precision="fp16_tensor")
    assert "Memory-bound: late." in explorer.shown.alt
    explorer.controls["batch"].value = 64
    assert "batch 64" in explorer.shown.alt and "Compute-bound: late." in explorer.shown.alt
    roof = explorer.draw(**explorer.values).figure.axes[0]
    (mark,) = (line for line in roof.lines if line.get_marker() in ("o", "s"))
    assert mark.get_marker() == "s" and mark.get_xdata() == pytest.approx([rows.at(64, 2)[0].intensity])
    assert "o document gives the TF32 tensor peak of T4" in choose(explorer, precision="tf32_tensor", gpu="T4")


def test_gradients_and_images_as_pictures():
    picture = plots.gradient_norms({"plain": [1e-9, 0.5], "skip": [0.25, 0.5]})
    assert picture.finding.startswith("Norm of the gradient by layer: plain 1e-09 at layer 1, 5e-01 at layer 2")
    assert len(plots.image_grid(np.ones((5, 3, 3)), "five images", signed=True).figure.axes) >= 5
    rows = plots.image_grid(np.ones((16, 3, 3)), "two rows of eight", across=8).figure.axes
    assert len(rows) == 16 and rows[0].get_subplotspec().get_gridspec().ncols == 8


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: widgets.im2col(np.ones((4, 5))), ValueError, "the image is a square"),
        (lambda: widgets.im2col(IMAGE, kernel=9), ValueError, "does not fit"),
        (lambda: widgets.receptive_field(IMAGE, "VGG"), TypeError, "a stack is a list such as"),
        (lambda: widgets.receptive_field(IMAGE, [3, 3]), TypeError, "it has 3"),
        (lambda: widgets.receptive_field(IMAGE, []), ValueError, "there is no layer in it"),
        (lambda: widgets.receptive_field(IMAGE, [(3, 4), (3, 1)]), ValueError, "does not fit 2 pixels"),
        (lambda: widgets.feature_maps(network(), torch.ones(8, 8)), ValueError, "shape \\(number, channels"),
        (lambda: widgets.feature_maps(nn.Flatten(), torch.ones(1, 1, 8, 8)), ValueError, "leaves maps"),
        (lambda: widgets.layer_roofline(network()), TypeError, "layers\\(network, images\\)"),
        (lambda: plots.image_grid(np.ones((3, 3)), "one image"), ValueError, "number, height, width"),
    ],
)
def test_what_is_given_wrongly_says_what_was_meant(make, error, words):
    with pytest.raises(error, match=words):
        make()


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


def test_a_setting_of_any_cell_moves_its_curve():
    shown = widgets.gradient_flow({"decay": (Decay, "factor", (0.5, 1.0, 2.0))}, steps=11)
    assert "The gradient's norm 10 steps back, as a share: decay, factor 1: 1 (calculated)." in shown.shown.alt
    assert "decay, factor 2: 1e3" in choose(shown, decay=2.0)


def test_launches_are_counted_and_their_price_is_the_learners():
    shown = widgets.launch_gaps({"apart": apart, "once": once}, steps=(1, 4), overheads=(1, 5))
    assert shown.shown.alt.startswith("Apart: 8 launches, 40") and "once: 1 launch, 5" in shown.shown.alt
    shown.controls["overhead"].value = 1
    assert shown.shown.alt.startswith("Apart: 8 launches, ") and "once: 1 launch, 1" in shown.shown.alt
    assert choose(shown, steps=1).startswith("Apart: 2 launches, ")


WRONG = {
    "a cell alone": (lambda: widgets.gradient_flow({"decay": Decay}), TypeError, "three things"),
    "a cell made already": (lambda: widgets.gradient_flow({"d": (1, "f", (1,))}), TypeError, "is a function"),
    "no values": (lambda: widgets.gradient_flow({"d": (Decay, "f", ())}), ValueError, "no values"),
    "one step": (lambda: widgets.gradient_flow({"d": (Decay, "f", (1,))}, steps=1), ValueError, "at least 2"),
    "no program": (lambda: widgets.launch_gaps({"a": 3}), TypeError, "give a program, which is a function"),
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


def bright(latents):
    """Images as bright as the first number of the latent."""
    return latents[:, 0, None, None].expand(-1, 4, 4)


def moment(step: int, **more) -> dict:
    return {"step": step, "samples": torch.zeros(4, 1, 2, 2), "score": step / 10, "D": 1.0, "G": 0.5} | more


def test_a_walk_is_the_straight_way_between_two_latents():
    shown = widgets.latent_walk(bright, torch.tensor([[0.0], [1.0], [0.5]]))
    assert "step 10 of 20." in shown.shown.alt and "from end to end by 1.00" in shown.shown.alt
    assert "from end to end by 0.50" in choose(shown, last=2)


def test_the_judge_is_asked_for_this_very_image():
    judge = lambda images: 100 * torch.stack([0.5 - images.mean((1, 2)), images.mean((1, 2)) - 0.5], 1)
    shown = widgets.latent_walk(bright, torch.tensor([[0.0], [1.0]]), judge=judge, names=("dark", "light"))
    assert "judged as light, at 100%" in choose(shown, step=20)
    assert "judged as dark, at 100%; all along it: dark (11 steps), light (10 steps)." in choose(shown, step=0)


def test_a_walk_begins_where_it_is_told():
    shown = widgets.latent_walk(bright, torch.tensor([[0.0], [1.0], [0.5]]), first=2, last=1, step=3)
    assert "step 3 of 20." in shown.shown.alt and "from end to end by 0.50" in shown.shown.alt
    with pytest.raises(ValueError):
        widgets.latent_walk(bright, torch.tensor([[0.0], [1.0]]), last=2)


def test_a_module_is_asked_in_eval_mode_and_left_in_its_own():
    module = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 4), nn.Unflatten(1, (2, 2)))
    mean = module[0].running_mean.clone()
    widgets.latent_walk(module, torch.tensor([[3.0], [5.0]]))
    assert module.training and torch.equal(module[0].running_mean, mean)


def test_what_is_no_generator_or_no_walk_is_refused():
    with pytest.raises(TypeError, match="generator is a function"):
        widgets.latent_walk("bright", torch.zeros(2, 1))
    with pytest.raises(ValueError, match="two or more"):
        widgets.latent_walk(bright, torch.zeros(1, 1))


def test_moments_of_several_runs():
    shown = widgets.samples_over_training({"long": [moment(1), moment(2), moment(3)], "short": [moment(7)]})
    assert shown.shown.alt.startswith("Step 3: losses D 1.00, G 0.50; score 0.30")
    assert choose(shown, moment=0).startswith("Step 1: ")
    assert choose(shown, run="short").startswith("Step 7: ")


def test_what_is_no_moment_is_refused():
    with pytest.raises(ValueError, match="step, samples, score"):
        widgets.samples_over_training([{"step": 1}])
    with pytest.raises(ValueError, match="same losses"):
        widgets.samples_over_training([moment(1), moment(2, other=1.0)])
    with pytest.raises(ValueError, match="no runs"):
        widgets.samples_over_training({})
