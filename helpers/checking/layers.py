"""A trained network as data: a list of layers with their weights, evaluated here in NumPy.

`layers_of` turns a `torch.nn.Sequential` into a list of (kind, settings, arrays), which `values_as_json` can carry.
`outputs` evaluates such a list, of unknown origin, on inputs of the caller's choice. `LAYERS` holds every kind that is
allowed. Layers behave as in `eval()`: batch norm uses its running statistics and dropout does nothing, so what becomes
of one input never depends on the others in its batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOST_LAYERS = 40
MOST_WEIGHTS = 40_000
MOST_SIDE = 32
"""Rows, and columns, that an image may have between two layers."""
MOST_VALUES = 32_768
"""Values that may pass between two layers for each input."""
AT_ONCE = 50


class NotLayers(ValueError):
    """This isn't a list of layers that can be evaluated; the message says why."""


@dataclass(frozen=True)
class Layer:
    """A kind of layer. `arrays` and `settings`: PyTorch's attributes for them. `only`: attributes with one legal value.

    `apply(x, settings, *arrays)`: the outputs for a batch `x`.
    """

    apply: Callable
    arrays: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    only: dict = field(default_factory=dict)


# --- the layers -------------------------------------------------------------------------------------------------------


def _linear(x: np.ndarray, _settings: dict, weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    return x @ weight.T + (0 if bias is None else bias)


def _along_channels(array: np.ndarray, x: np.ndarray) -> np.ndarray:
    return array.reshape(1, -1, *(1,) * (x.ndim - 2))


def _batch_norm(
    x: np.ndarray, settings: dict, mean: np.ndarray, variance: np.ndarray, weight: np.ndarray | None, bias: Any
) -> np.ndarray:
    x = (x - _along_channels(mean, x)) / np.sqrt(_along_channels(variance, x) + settings["eps"])
    return x if weight is None else x * _along_channels(weight, x) + _along_channels(bias, x)


def _pair(value: Any, most: int = 8) -> tuple[int, int]:
    """A setting for rows and columns."""
    pair = value if isinstance(value, tuple) else (value, value)
    if len(pair) != 2 or not all(type(n) is int and 0 <= n <= most for n in pair):
        raise NotLayers(f"{value!r} is not one or two whole numbers from 0 to {most}")
    return pair


def _slid(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    before: tuple[int, ...],
    after: tuple[int, ...],
    stride: tuple[int, int] = (1, 1),
) -> np.ndarray:
    """A convolution with `weight` (out, in, rows, columns) over `x` with zeros added before and after each side."""
    x = np.pad(x, ((0, 0), (0, 0), *zip(before, after, strict=True)))
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(2, 3))
    out = np.tensordot(windows[:, :, :: stride[0], :: stride[1]], weight, axes=((1, 4, 5), (1, 2, 3)))
    return np.moveaxis(out if bias is None else out + bias, -1, 1)


def _convolution(x: np.ndarray, settings: dict, weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    padding = _pair(settings["padding"])
    return _slid(x, weight, bias, padding, padding, _pair(settings["stride"]))


def _transposed_convolution(x: np.ndarray, settings: dict, weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    stride, padding, more = (_pair(settings[name]) for name in ("stride", "padding", "output_padding"))
    n, channels, *sides = x.shape
    spread = np.zeros((n, channels, *((side - 1) * s + 1 for side, s in zip(sides, stride, strict=True))), x.dtype)
    spread[:, :, :: stride[0], :: stride[1]] = x
    before = tuple(k - 1 - p for k, p in zip(weight.shape[2:], padding, strict=True))
    after = tuple(b + m for b, m in zip(before, more, strict=True))
    return _slid(spread, weight.swapaxes(0, 1)[:, :, ::-1, ::-1], bias, before, after)


def _upsample(x: np.ndarray, settings: dict) -> np.ndarray:
    factor = settings["scale_factor"]
    if factor not in (1, 2, 4):
        raise NotLayers("Upsample can have scale_factor 2 or 4")
    return x.repeat(int(factor), axis=2).repeat(int(factor), axis=3)


def _gaussian_gate(x: np.ndarray, _settings: dict) -> np.ndarray:
    return x * (np.vectorize(math.erf, otypes=[x.dtype])(x / math.sqrt(2)) + 1) / 2


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return (np.tanh(x / 2) + 1) / 2


_NORM = Layer(_batch_norm, ("running_mean", "running_var", "weight", "bias"), ("eps",))
_FLAT = {"dilation": (1, 1), "groups": 1}
LAYERS = {
    "Linear": Layer(_linear, ("weight", "bias")),
    "Conv2d": Layer(_convolution, ("weight", "bias"), ("stride", "padding"), _FLAT | {"padding_mode": "zeros"}),
    "ConvTranspose2d": Layer(
        _transposed_convolution, ("weight", "bias"), ("stride", "padding", "output_padding"), _FLAT
    ),
    "BatchNorm1d": _NORM,
    "BatchNorm2d": _NORM,
    "ReLU": Layer(lambda x, s: np.maximum(x, 0)),
    "LeakyReLU": Layer(lambda x, s: np.where(x > 0, x, s["negative_slope"] * x), (), ("negative_slope",)),
    "ELU": Layer(lambda x, s: np.where(x > 0, x, s["alpha"] * np.expm1(np.minimum(x, 0))), (), ("alpha",)),
    "SiLU": Layer(lambda x, s: x * _sigmoid(x)),
    "GELU": Layer(_gaussian_gate, (), (), {"approximate": "none"}),
    "Tanh": Layer(lambda x, s: np.tanh(x)),
    "Sigmoid": Layer(lambda x, s: _sigmoid(x)),
    "Dropout": Layer(lambda x, s: x),
    "Identity": Layer(lambda x, s: x),
    "Flatten": Layer(lambda x, s: x.reshape(len(x), -1), (), (), {"start_dim": 1, "end_dim": -1}),
    "Unflatten": Layer(lambda x, s: x.reshape(len(x), *s["unflattened_size"]), (), ("unflattened_size",), {"dim": 1}),
    "Upsample": Layer(_upsample, (), ("scale_factor",), {"mode": "nearest"}),
}
"""name of a class in `torch.nn` -> how it's read and evaluated."""


# --- from PyTorch -----------------------------------------------------------------------------------------------------


def layers_of(network: Any) -> list[tuple[str, dict, tuple]]:
    """The layers of a `torch.nn.Sequential`, which may be nested: (kind, settings, arrays), from input to output.

    Raises NotLayers for a module that isn't in `LAYERS`, or has settings that aren't supported.
    """
    name = type(network).__name__
    if name == "Sequential":
        return [row for each in network for row in layers_of(each)]
    layer = LAYERS.get(name)
    if layer is None:
        raise NotLayers(f"a generator can't be graded with a layer {name}. These can be used: {', '.join(LAYERS)}")
    for setting, wanted in layer.only.items():
        if getattr(network, setting) != wanted:
            raise NotLayers(f"{name} can't be graded with {setting}={getattr(network, setting)!r}")
    settings = {setting: _bare(getattr(network, setting)) for setting in layer.settings}
    return [(name, settings, tuple(_array(getattr(network, each)) for each in layer.arrays))]


def _bare(value: object) -> object:
    return tuple(value) if isinstance(value, tuple | list) else value  # torch.Size is a kind of tuple


def _array(tensor: Any) -> np.ndarray | None:
    return None if tensor is None else tensor.detach().cpu().numpy().astype(np.float32)


# --- evaluation -------------------------------------------------------------------------------------------------------


def outputs(rows: object, inputs: np.ndarray) -> np.ndarray:
    """What the layers `rows`, of unknown origin, make of `inputs`; raises NotLayers."""
    layers = _read(rows)
    with np.errstate(all="ignore"):
        return np.concatenate([_passed(layers, inputs[at : at + AT_ONCE]) for at in range(0, len(inputs), AT_ONCE)])


def _read(rows: object) -> list[tuple[str, dict, tuple]]:
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_LAYERS:
        raise NotLayers(f"a network is a list of 1 to {MOST_LAYERS} layers, as layers_of returns it")
    layers = [_row(*row) if isinstance(row, tuple) and len(row) == 3 else _row(None, None, None) for row in rows]
    count = sum(array.size for _, _, arrays in layers for array in arrays if array is not None)
    if count > MOST_WEIGHTS:
        raise NotLayers(f"the network has {count:,} weights, and may have {MOST_WEIGHTS:,}")
    return layers


def _row(name: Any, settings: object, arrays: object) -> tuple[str, dict, tuple]:
    layer = LAYERS.get(name) if isinstance(name, str) else None
    if layer is None or not isinstance(settings, dict) or not isinstance(arrays, tuple):
        raise NotLayers("each layer is a kind, its settings, and its arrays, as layers_of returns them")
    if set(settings) != set(layer.settings) or len(arrays) != len(layer.arrays):
        raise NotLayers(f"{name} has other settings or arrays")
    if not all(array is None or _is_weight(array) for array in arrays):
        raise NotLayers(f"the arrays of {name} must be float32 and finite")
    return name, settings, arrays


def _is_weight(array: object) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == np.float32 and bool(np.isfinite(array).all())


def _passed(layers: list, x: np.ndarray) -> np.ndarray:
    for number, (name, settings, arrays) in enumerate(layers, 1):
        given = x.shape[1:]
        try:
            x = LAYERS[name].apply(x, settings, *arrays)
        except NotLayers:
            raise
        except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError):
            raise NotLayers(f"layer {number}, {name}, does not fit its input of shape {given}") from None
        if x[0].size > MOST_VALUES or max(x.shape[2:], default=0) > MOST_SIDE:
            raise NotLayers(f"layer {number}, {name}, has an output of shape {x.shape[1:]}, which is too large")
    return x
