"""Explorers of networks: im2col, receptive fields, feature maps, layers under a roof; and what they are given."""

import numpy as np
import pytest
import torch
from torch import nn

from helpers import layers, plots, widgets
from helpers.pictures.widgets.explorers.networks import maps_of

IMAGE = np.arange(64.0).reshape(8, 8)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(48, 2))


def test_a_tile_of_im2col_holds_what_the_windows_cover():
    explorer = widgets.im2col(IMAGE, kernel=3, tile=1)
    assert "leaves 6 × 6 outputs: the matrix holds 324 values, 5.06 for each pixel" in explorer.shown.alt
    assert explorer.shown.alt.endswith("The tile of 1 column holds 9 values of 9 pixels.")
    explorer.controls["tile"].value = 2
    assert explorer.shown.alt.endswith("The tile of 2 columns holds 18 values of 12 pixels.")
    assert explorer.controls["number"].max == 17
    explorer.controls["padding"].value = 1
    assert explorer.shown.alt.endswith("holds 18 values of 6 pixels, and 8 zeros of the padding.")


def test_a_window_that_does_not_fit_is_told_in_place_of_the_picture():
    explorer = widgets.im2col(IMAGE, kernel=5)
    explorer.controls["dilation"].value = 3
    assert "spans 13 pixels does not fit 8 pixels" in explorer.shown
    explorer.controls["dilation"].value = 1
    assert "leaves 4 × 4 outputs" in explorer.shown.alt


def test_a_receptive_field_follows_layers_network_and_output():
    explorer = widgets.receptive_field(IMAGE, {"threes": [(3, 1, 1), (3, 1, 1)], "net": network()}, layers=2)
    assert explorer.shown.alt.startswith("threes, 2 layers: an output sees 5 × 5 pixels")
    assert explorer.shown.alt.endswith("rows 2 to 6 and columns 2 to 6, by 1 to 9 paths.")
    explorer.controls["row"].value = 0
    assert "Output (0, 4) sees 15 of 64 pixels, rows 0 to 2" in explorer.shown.alt
    explorer.controls["network"].value = "net"
    assert "an output sees 4 × 4 pixels, and its neighbour begins 2 pixels further on" in explorer.shown.alt
    assert explorer.controls["row"].max == 3


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
    explorer.controls["number"].value = 1
    assert "of image 1" in explorer.shown.alt


def test_layers_under_a_roof_change_their_state_with_batch_and_numbers():
    rows = layers(nn.Conv2d(512, 512, 3, padding=1), torch.empty(1, 512, 7, 7, device="meta"), "late")
    explorer = widgets.layer_roofline(rows, gpu="A100", precision="fp16_tensor")
    assert "Memory-bound: late." in explorer.shown.alt
    explorer.controls["batch"].value = 64
    assert "batch 64" in explorer.shown.alt and "Compute-bound: late." in explorer.shown.alt
    explorer.controls["precision"].value = "tf32_tensor"
    explorer.controls["gpu"].value = "T4"
    assert "no published peak" in explorer.shown


def test_gradients_and_images_as_pictures():
    picture = plots.gradient_norms({"plain": [1e-9, 0.5], "skip": [0.25, 0.5]})
    assert picture.finding.startswith("Norm of the gradient by layer: plain 1e-09 at layer 1, 5e-01 at layer 2")
    assert len(plots.image_grid(np.ones((5, 3, 3)), "five images", signed=True).figure.axes) >= 5


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
