"""PyTorch's simple operators in NumPy, by the names that its dispatcher has for them.

There is no convolution among them: those are left to the kernels of whoever answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

MOST_ELEMENTS = 4_000_000
"""Elements that one result may have."""
_Pair = int | list[int] | tuple[int, ...]
_ENDLESS = 2**63 - 1
_DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


def run(name: str, operands: list, named: dict) -> list[np.ndarray]:
    """The results of an operator of `TABLE`; where its name ends in "_", its first operand afterwards."""
    if named.get("dtype", "float32") not in _DTYPES or any(isinstance(each, str) for each in operands):
        raise ValueError(f"{name} is given a dtype that isn't one of {', '.join(_DTYPES)}")
    found = TABLE[name](*operands, **named)
    results = [np.asarray(each) for each in (found if isinstance(found, tuple | list) else [found])]
    if (size := sum(each.size for each in results)) > MOST_ELEMENTS:
        raise ValueError(f"{name} makes arrays of {size:,} elements")
    return results


def products(name: str, operands: list, results: list[np.ndarray]) -> int:
    """How many multiplications an operator takes."""
    if name in ("mm", "addmm", "bmm"):
        return results[0].size * operands[-2].shape[-1]
    return results[0].size * (name.removesuffix("_") in ("mul", "div", "pow"))


def _elementwise(function: Callable) -> Callable:
    def checked(*operands: Any, **named: Any) -> Any:
        shape = np.broadcast_shapes(*(np.shape(each) for each in operands))
        if math.prod(shape) > MOST_ELEMENTS:
            raise ValueError(f"operands make an array of shape {shape}")
        return function(*operands, **named)

    return checked


def _add(a: np.ndarray, b: np.ndarray | float, alpha: float = 1) -> np.ndarray:
    return a + (b if alpha == 1 else alpha * b)


def _div(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(a, b, dtype=None if a.dtype.kind == "f" else np.float32)


def _expand(a: np.ndarray, shape: Sequence[int], implicit: bool = False) -> np.ndarray:
    lead = len(shape) - a.ndim
    return np.broadcast_to(a, [a.shape[at - lead] if n == -1 else n for at, n in enumerate(shape)])


def _swapped(a: np.ndarray, first: int = 0, second: int = 1) -> np.ndarray:
    return a if a.ndim < 2 else np.swapaxes(a, first, second)


def _select(a: np.ndarray, dim: int, index: int) -> np.ndarray:
    return np.moveaxis(a, dim, 0)[index, ...]  # a view, as PyTorch makes one


def _slice(a: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> np.ndarray:
    at: list[slice] = [slice(None)] * a.ndim
    at[dim] = slice(start, None if end == _ENDLESS else end, step)
    return a[tuple(at)]


def _split(a: np.ndarray, size: int | Sequence[int], dim: int = 0) -> list[np.ndarray]:
    ends = range(size, a.shape[dim], size) if isinstance(size, int) else np.cumsum(size)[:-1]
    return np.split(a, ends, dim)


def _padded(a: np.ndarray, pad: Sequence[int], value: float = 0) -> np.ndarray:
    """Sides come in pairs, those of the last axis first."""
    pairs = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    sides = [(0, 0)] * (a.ndim - len(pairs)) + pairs
    _full([n + sum(side) for n, side in zip(a.shape, sides, strict=True)])
    return np.pad(a, sides, constant_values=value)


def _normalised(
    a: np.ndarray,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool = False,
    momentum: float = 0,
    eps: float = 1e-5,
) -> np.ndarray:
    """Batch norm of a trained network: what becomes of one image doesn't depend on the others."""
    if training:
        raise ValueError("batch norm is replayed as in eval()")
    mean, variance, weight, bias = (
        each if each is None else each.reshape(-1, *(1,) * (a.ndim - 2)) for each in (mean, variance, weight, bias)
    )
    a = (a - mean) / np.sqrt(variance + eps)
    return a * (1 if weight is None else weight) + (0 if bias is None else bias)


def _greatest(a: np.ndarray, dim: int | None = None, keepdim: bool = False) -> Any:
    """As PyTorch's max: with an axis, the values and where they are."""
    return np.max(a) if dim is None else (np.max(a, dim, keepdims=keepdim), np.argmax(a, axis=dim, keepdims=keepdim))


def _spread(a: np.ndarray, dim: int | list[int] | None = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.var(a, axis=_over(dim), ddof=correction, keepdims=keepdim)


def _mm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] * b.shape[1] > MOST_ELEMENTS:
        raise ValueError("a product is of two matrices")
    return a @ b


def _bmm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.ndim != 3 or b.ndim != 3 or a.size // max(1, a.shape[2]) * b.shape[2] > MOST_ELEMENTS:
        raise ValueError("a product is of two batches of matrices")
    return a @ b


def _pooled(reduce: Callable) -> Callable:
    def pool(
        a: np.ndarray, kernel: _Pair, stride: _Pair = (), padding: Sequence[int] = (0, 0), *_more: object
    ) -> np.ndarray:
        if any(padding):
            raise ValueError("pooling is without padding")
        (height, width), (down, across) = _pair(kernel), _pair(stride or kernel)
        windows = np.lib.stride_tricks.sliding_window_view(a, (height, width), (-2, -1))
        return reduce(windows[..., ::down, ::across, :, :], axis=(-2, -1))

    return pool


def _pair(sizes: _Pair) -> tuple[int, int]:
    return (sizes[0], sizes[-1]) if isinstance(sizes, list | tuple) else (sizes, sizes)


def _full(shape: Sequence[int], value: float = 0, dtype: DTypeLike | None = None) -> np.ndarray:
    if math.prod(shape) > MOST_ELEMENTS:
        raise ValueError(f"an array of shape {shape}")
    return np.full(shape, value, dtype or np.float32)


def _empty(shape: Sequence[int], dtype: DTypeLike | None = None) -> np.ndarray:
    return _full(shape, 0 if dtype and np.dtype(dtype).kind != "f" else np.nan, dtype)


def _in_place(function: Callable) -> Callable:
    def write(a: np.ndarray, *operands: Any, **named: Any) -> np.ndarray:
        if not a.flags.writeable:
            raise ValueError("it writes to a tensor whose elements share memory")
        a[...] = function(a, *operands, **named)
        return a

    return write


def _over(axes: int | list[int] | None) -> int | tuple[int, ...] | None:
    return tuple(axes) if isinstance(axes, list) else axes


_PLAIN: dict[str, Callable] = {
    "add": _elementwise(_add),
    "sub": _elementwise(lambda a, b, alpha=1: a - (b if alpha == 1 else alpha * b)),
    "rsub": _elementwise(lambda a, b, alpha=1: b - alpha * a),
    "mul": _elementwise(lambda a, b: a * b),
    "div": _elementwise(_div),
    "neg": lambda a: -a,
    "relu": lambda a: np.maximum(a, 0),
    "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "leaky_relu": lambda a, slope=0.01: np.where(a > 0, a, slope * a),
    "elu": lambda a, alpha=1, scale=1, inner=1: scale * np.where(a > 0, a, alpha * np.expm1(inner * np.minimum(a, 0))),
    "silu": lambda a: a / (1 + np.exp(-a)),
    "clamp": lambda a, min=None, max=None: np.clip(a, min, max),
    "abs": np.abs,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "pow": _elementwise(lambda a, b: a**b),
    "zero": np.zeros_like,
    "fill": lambda a, value: np.full_like(a, value),
    "copy": lambda a, b, *_: b,
}
TABLE: dict[str, Callable] = {
    **_PLAIN,
    **{f"{name}_": _in_place(function) for name, function in _PLAIN.items()},
    # the same elements
    "detach": lambda a: a,
    "detach_": lambda a: a,
    "alias": lambda a: a,
    "lift_fresh": lambda a: a,
    "view": lambda a, shape: a.reshape(shape),
    "_unsafe_view": lambda a, shape: a.reshape(shape),
    "expand": _expand,
    "unsqueeze": lambda a, dim: np.expand_dims(a, dim),
    "squeeze": lambda a, dim=None: np.squeeze(a, _over(dim)),
    "t": _swapped,
    "transpose": _swapped,
    "permute": np.transpose,
    "select": _select,
    "split": _split,
    "unbind": lambda a, dim=0: list(np.moveaxis(a, dim, 0)),
    "slice": _slice,
    "clone": lambda a: np.array(a, order="C"),
    "contiguous": lambda a: np.array(a, order="C"),
    "_to_copy": lambda a, dtype=None: np.array(a, dtype, order="C"),
    "cat": lambda arrays, dim=0: np.concatenate(arrays, dim),
    "stack": lambda arrays, dim=0: np.stack(arrays, dim),
    "flip": lambda a, dims: np.array(np.flip(a, dims), order="C"),
    "constant_pad_nd": _padded,
    # new ones
    "empty": _empty,
    "empty_strided": lambda shape, stride, dtype=None: _empty(shape, dtype),
    "empty_like": lambda a, dtype=None: _empty(a.shape, dtype or a.dtype),
    "new_empty": lambda a, shape, dtype=None: _empty(shape, dtype or a.dtype),
    "new_empty_strided": lambda a, shape, stride, dtype=None: _empty(shape, dtype or a.dtype),
    "zeros": lambda shape, dtype=None: _full(shape, 0, dtype),
    "zeros_like": lambda a, dtype=None: np.zeros(a.shape, dtype or a.dtype),
    "new_zeros": lambda a, shape, dtype=None: _full(shape, 0, dtype or a.dtype),
    "ones": lambda shape, dtype=None: _full(shape, 1, dtype),
    "ones_like": lambda a, dtype=None: np.ones(a.shape, dtype or a.dtype),
    "new_ones": lambda a, shape, dtype=None: _full(shape, 1, dtype or a.dtype),
    "full": _full,
    # layers
    "mm": _mm,
    "bmm": _bmm,
    "addmm": lambda bias, a, b, beta=1, alpha=1: beta * bias + alpha * _mm(a, b),
    "max_pool2d_with_indices": _pooled(np.max),
    "max_pool2d": _pooled(np.max),
    "avg_pool2d": _pooled(np.mean),
    "sum": lambda a, dim=None, keepdim=False, dtype=None: np.sum(a, axis=_over(dim), keepdims=keepdim),
    "mean": lambda a, dim=None, keepdim=False, dtype=None: np.mean(a, axis=_over(dim), keepdims=keepdim),
    "var": _spread,
    "std": lambda *given, **named: np.sqrt(_spread(*given, **named)),
    "native_batch_norm": _normalised,
    "_native_batch_norm_legit_no_training": lambda a, weight, bias, mean, variance, _momentum, eps: _normalised(
        a, weight, bias, mean, variance, eps=eps
    ),
    "max": _greatest,
    "amax": lambda a, dim=None, keepdim=False: np.max(a, axis=_over(dim), keepdims=keepdim),
    "argmax": lambda a, dim=None, keepdim=False: np.argmax(a, axis=dim, keepdims=keepdim),
    "_softmax": lambda a, dim, half=False: _softmax(a, dim),
    "_log_softmax": lambda a, dim, half=False: np.log(_softmax(a, dim)),
}
"""Name of an operator -> it, on arrays. Those whose names end in "_" write to their first operand."""


def _softmax(a: np.ndarray, dim: int) -> np.ndarray:
    powers = np.exp(a - a.max(dim, keepdims=True))
    return powers / powers.sum(dim, keepdims=True)
