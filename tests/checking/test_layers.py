"""Layers as data: NumPy gives what PyTorch gives, and what isn't in the table is refused."""

import json

import numpy as np
import pytest

from helpers.checking import layers
from helpers.checking.values_as_json import plain, unplain

torch = pytest.importorskip("torch")
nn = torch.nn

NETWORKS = {
    "linear": lambda: [
        nn.Linear(16, 9), nn.BatchNorm1d(9), nn.ELU(), nn.Dropout(), nn.Linear(9, 4, bias=False), nn.GELU(),
    ],
    "convolutions": lambda: [
        nn.Unflatten(1, (4, 2, 2)), nn.Upsample(scale_factor=2), nn.Conv2d(4, 6, 3, stride=2, padding=1),
        nn.BatchNorm2d(6), nn.LeakyReLU(0.1), nn.ConvTranspose2d(6, 3, 4, 2, 1), nn.SiLU(),
        nn.ConvTranspose2d(3, 1, 3, 2, 1, output_padding=1), nn.Flatten(), nn.Sequential(nn.Tanh(), nn.Sigmoid()),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_layers_give_what_pytorch_gives_in_eval(name):
    torch.manual_seed(0)
    network, inputs = nn.Sequential(*NETWORKS[name]()), torch.randn(70, 16)
    network(inputs)  # batch norm has statistics to run
    rows = unplain(json.loads(json.dumps(plain(layers.layers_of(network)))))
    with torch.no_grad():
        wanted = network.eval()(inputs).numpy()
    got = layers.outputs(rows, inputs.numpy())
    assert np.allclose(got, wanted, atol=1e-5)
    assert np.allclose(layers.outputs(rows, inputs.numpy()[:3]), got[:3], atol=1e-6), "no image depends on its batch"


def test_other_modules_are_refused_by_name():
    with pytest.raises(layers.NotLayers, match="LSTM"):
        layers.layers_of(nn.Sequential(nn.LSTM(4, 4)))


W, B = np.ones((4, 16), np.float32), np.ones(4, np.float32)


@pytest.mark.parametrize(
    "rows",
    [
        None, [], [("Linear", {}, (W, B))] * 99, [("eval", {}, ())],
        [("Linear", {}, (W,))], [("Linear", {"x": 1}, (W, B))],
        [("Linear", {}, (W * np.nan, B))], [("Linear", {}, (W.astype(np.float64), B))], [("Linear", {}, (W[:, :3], B))],
        [("Linear", {}, (None, B))], [("Linear", {}, (np.ones((4000, 16), np.float32), None))],
        [("Unflatten", {"unflattened_size": (1, 4, 4)}, ()), *[("Upsample", {"scale_factor": 4}, ())] * 2],
        [("Upsample", {"scale_factor": 1e9}, ())], [("LeakyReLU", {"negative_slope": "steep"}, ())],
    ],
)  # fmt: skip
def test_what_is_no_network_is_refused(rows):
    with pytest.raises(layers.NotLayers):
        layers.outputs(rows, np.ones((2, 16), np.float32))
