"""Traced values: what a function under `cp.fuse` gets as arguments. They record operations and compute nothing.

Each operation becomes a `Node`, with the dtype and shape of NumPy's rules. `vgpu.standins.cupy.fusion` makes kernels of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vgpu.base.errors import ArgumentError

# C for one element of each function of NumPy: {0}, {1}, {2} are its inputs, as NumPy casts them.
EXPRESSIONS = {
    "absolute": "abs({0})",
    "add": "{0} + {1}",
    "arccos": "acos({0})",
    "arccosh": "acosh({0})",
    "arcsin": "asin({0})",
    "arcsinh": "asinh({0})",
    "arctan": "atan({0})",
    "arctan2": "atan2({0}, {1})",
    "arctanh": "atanh({0})",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "cbrt": "cbrt({0})",
    "ceil": "ceil({0})",
    "copysign": "copysign({0}, {1})",
    "cos": "cos({0})",
    "cosh": "cosh({0})",
    "divide": "{0} / {1}",
    "equal": "{0} == {1}",
    "exp": "exp({0})",
    "exp2": "exp2({0})",
    "expm1": "expm1({0})",
    "fabs": "fabs({0})",
    "floor": "floor({0})",
    "floor_divide": "_floor_divide({0}, {1})",
    "fmax": "fmax({0}, {1})",
    "fmin": "fmin({0}, {1})",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "hypot": "hypot({0}, {1})",
    "invert": "_invert({0})",
    "isfinite": "isfinite({0})",
    "isinf": "isinf({0})",
    "isnan": "{0} != {0}",
    "left_shift": "{0} << {1}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "log": "log({0})",
    "log10": "log10({0})",
    "log1p": "log1p({0})",
    "log2": "log2({0})",
    "logical_and": "{0} && {1}",
    "logical_not": "!{0}",
    "logical_or": "{0} || {1}",
    "logical_xor": "!{0} != !{1}",
    "maximum": "_maximum({0}, {1})",
    "minimum": "_minimum({0}, {1})",
    "multiply": "{0} * {1}",
    "negative": "-{0}",
    "not_equal": "{0} != {1}",
    "positive": "{0}",
    "power": "_power({0}, {1})",
    "reciprocal": "1 / {0}",
    "remainder": "_remainder({0}, {1})",
    "right_shift": "{0} >> {1}",
    "rint": "rint({0})",
    "sign": "_sign({0})",
    "sin": "sin({0})",
    "sinh": "sinh({0})",
    "sqrt": "sqrt({0})",
    "square": "{0} * {0}",
    "subtract": "{0} - {1}",
    "tan": "tan({0})",
    "tanh": "tanh({0})",
    "trunc": "trunc({0})",
}
SAME = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert", "bitwise_right_shift": "right_shift", "mod": "remainder", "pow": "power",
    "true_divide": "divide",
}  # fmt: skip
"""Functions with two names."""

# Reductions: how two values are combined, and the identity; without one, an empty reduction is an error, as in NumPy.
REDUCTIONS: dict[str, tuple[str, str | None]] = {
    "all": ("a && b", "true"),
    "amax": ("_maximum(a, b)", None),
    "amin": ("_minimum(a, b)", None),
    "any": ("a || b", "false"),
    "prod": ("a * b", "1"),
    "sum": ("a + b", "0"),
}
_REDUCTION_NAMES = {name: name for name in REDUCTIONS} | {"max": "amax", "min": "amin"}

# NumPy's meaning of functions that C lacks or defines differently.
PREAMBLE = """\
template <typename T> __device__ inline T _maximum(T a, T b) { return a != a || a > b ? a : b; }
template <typename T> __device__ inline T _minimum(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> __device__ inline T _sign(T a) { return a != a ? a : T((a > T(0)) - (a < T(0))); }
template <typename T> __device__ inline T _invert(T a) { return ~a; }
__device__ inline bool _invert(bool a) { return !a; }
template <typename T> __device__ inline T _floor_divide(T a, T b) {
  if (b == 0) return 0;
  T q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
__device__ inline float _floor_divide(float a, float b) { return floor(a / b); }
__device__ inline double _floor_divide(double a, double b) { return floor(a / b); }
template <typename T> __device__ inline T _remainder(T a, T b) {
  if (b == 0) return 0;
  T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
__device__ inline float _remainder(float a, float b) {
  float r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
__device__ inline double _remainder(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <typename T> __device__ inline T _power(T a, T b) {
  T out = 1;
  for (; b > 0; b >>= 1, a *= a)
    if (b & 1) out *= a;
  return out;
}
__device__ inline float _power(float a, float b) { return pow(a, b); }
__device__ inline double _power(double a, double b) { return pow(a, b); }
"""


Kind = np.dtype | type


@dataclass(frozen=True, eq=False)
class Node:
    """One value. `what`: "argument" (`detail`: its number), "constant" (its value), "cast", "where", a key of
    `EXPRESSIONS`, or one of `REDUCTIONS` (its axes and keepdims). `dtype` is a Python type for a Python number, which
    takes on the dtype of other operands; `loop`: the dtypes that the inputs are cast to.
    """

    what: str
    dtype: Kind
    shape: tuple[int, ...] = ()
    inputs: tuple[Node, ...] = ()
    loop: tuple[np.dtype, ...] = ()
    detail: Any = None


def _kind(value: Any) -> Kind:
    """The dtype of a value, or the type of a Python number, which takes on the dtype of other operands."""
    return np.dtype(bool) if isinstance(value, bool) else getattr(value, "dtype", type(value))


def argument(number: int, value: Any) -> Node:
    """The node of an argument: an array on the device, or a number."""
    return Node("argument", _kind(value), getattr(value, "shape", ()), detail=number)


def _node(value: Any) -> Node:
    if isinstance(value, Traced):
        return value.node
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Node("constant", _kind(value), detail=value)
    raise TypeError(f"Unsupported type {type(value)} in cupy.fuse: a fused function takes its arguments and numbers")


def cast(node: Node, dtype: Any) -> Node:
    """`node` as that dtype."""
    wanted = np.dtype(dtype)
    return node if node.dtype == wanted else Node("cast", wanted, node.shape, (node,), (wanted,))


def _kinds(nodes: list[Node]) -> list[Kind]:
    """The dtypes of an operation's inputs; Python numbers alone have NumPy's default dtypes."""
    kinds = [node.dtype for node in nodes]
    return kinds if any(isinstance(kind, np.dtype) for kind in kinds) else [np.dtype(kind) for kind in kinds]


def elementwise(name: str, values: Sequence) -> Node:
    """One of `EXPRESSIONS` on traced values and numbers, with the types of NumPy's function of that name."""
    nodes = [_node(value) for value in values]
    *loop, result = getattr(np, name).resolve_dtypes((*_kinds(nodes), None))
    shape = np.broadcast_shapes(*(node.shape for node in nodes))
    return Node(name, result, shape, tuple(nodes), tuple(loop))


def _where(condition, x, y) -> Node:
    nodes = [_node(value) for value in (condition, x, y)]
    kind = np.add.resolve_dtypes((*_kinds(nodes[1:]), None))[0]
    shape = np.broadcast_shapes(*(node.shape for node in nodes))
    return Node("where", kind, shape, tuple(nodes), (np.dtype(bool), kind, kind))


def _clip(x, low=None, high=None, **named) -> Node:
    low, high = named.get("a_min", named.get("min", low)), named.get("a_max", named.get("max", high))
    node = _node(x)
    if low is not None:
        node = elementwise("maximum", (Traced(node), low))
    return node if high is None else elementwise("minimum", (Traced(node), high))


def _reduced(name: str, x, axis=None, dtype=None, keepdims: bool = False) -> Node:
    node = _node(x)
    result = np.dtype(dtype if dtype is not None else getattr(np, name)(np.ones(1, node.dtype)).dtype)
    dims = range(len(node.shape))
    axes = tuple(dims) if axis is None else tuple(np.lib.array_utils.normalize_axis_tuple(axis, len(dims)))
    shape = tuple(1 if d in axes else node.shape[d] for d in dims if keepdims or d not in axes)
    return Node(name, result, shape, (node,), (result,), (axes, bool(keepdims)))


_OTHERS: dict[str, Callable[..., Node]] = {
    "astype": lambda x, dtype, **_: cast(_node(x), dtype),
    "clip": _clip,
    "copy": lambda x, **_: _node(x),
    "where": _where,
}


def among(args: Sequence) -> bool:
    """Whether one of these is a traced value."""
    return any(isinstance(arg, Traced) for arg in args)


def call(name: str, args: Sequence, kwargs: Mapping[str, Any]) -> Traced:
    """Record a call of one of CuPy's functions. ArgumentError for one that cannot be fused."""
    into = kwargs.get("out")
    kwargs = {key: value for key, value in kwargs.items() if key != "out"}
    plain = SAME.get(name, name)
    if plain in EXPRESSIONS:
        nin = getattr(np, plain).nin
        if len(args) > nin:
            args, into = args[:nin], args[nin]
        if kwargs:
            raise TypeError(f"cupy.{name} takes no {next(iter(kwargs))}=… under cupy.fuse")
        node = elementwise(plain, args)
    elif name in _REDUCTION_NAMES:
        node = _reduced(_REDUCTION_NAMES[name], *args, **kwargs)
    elif name in _OTHERS:
        node = _OTHERS[name](*args, **kwargs)
    else:
        raise ArgumentError(
            f"cupy.{name} cannot be fused. A function under cupy.fuse may use operators, element-wise functions such "
            f"as "
            f"cp.exp, cp.where, and the reductions {', '.join(sorted(REDUCTIONS))}."
        )
    return Traced(node) if into is None else into.become(node)


class Traced:
    """A value of a function that is being fused: it has a dtype and dimensions, and no elements."""

    __hash__ = None  # type: ignore[assignment] # typeshed gives every object a hash

    def __init__(self, node: Node):
        self.node = node

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs, **kwargs):
        """NumPy's functions are recorded like CuPy's: np.maximum(x, y), np.float32(2) * x."""
        if method != "__call__":
            raise TypeError(f"numpy.{function.__name__}.{method} cannot be fused")
        if isinstance(kwargs.get("out"), tuple):
            (kwargs["out"],) = kwargs["out"]
        return call(function.__name__, inputs, kwargs)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.node.dtype)

    @property
    def ndim(self) -> int:
        return len(self.node.shape)

    @property
    def shape(self):
        raise NotImplementedError("a fused function cannot ask for a shape, as in CuPy: pass the number as an argument")

    def become(self, node: Node) -> Traced:
        """Take another value of the same shape and dtype, as `x += 1` and `out=x` do."""
        if np.broadcast_shapes(self.node.shape, node.shape) != self.node.shape:
            raise ValueError(f"an array of shape {self.node.shape} cannot hold a result of shape {node.shape}")
        self.node = cast(node, self.dtype)
        return self

    def _refuse_conversion(self, *_):
        raise TypeError("Cannot convert to Python scalar in cupy.fuse: nothing is computed yet. Use cp.where for an if")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = _refuse_conversion

    def __getitem__(self, key):
        raise ArgumentError("a fused function takes whole arrays: index them before the call")

    def __setitem__(self, key, value):
        if key is not Ellipsis and key != slice(None):
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        self.become(_node(value))

    def __repr__(self) -> str:
        return f"<a value under cupy.fuse, {self.dtype}, {self.ndim} dimensions>"


def _methods() -> None:
    binary = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
        "mod": "remainder", "pow": "power", "lshift": "left_shift", "rshift": "right_shift", "and": "bitwise_and",
        "or": "bitwise_or", "xor": "bitwise_xor",
    }  # fmt: skip
    compared = {
        "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal"
    }  # fmt: skip
    unary = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
    for short, name in (binary | compared).items():
        setattr(Traced, f"__{short}__", lambda x, y, name=name: call(name, (x, y), {}))
    for short, name in binary.items():
        setattr(Traced, f"__r{short}__", lambda x, y, name=name: call(name, (y, x), {}))
        setattr(Traced, f"__i{short}__", lambda x, y, name=name: x.become(elementwise(name, (x, y))))
    for short, name in unary.items():
        setattr(Traced, f"__{short}__", lambda x, name=name: call(name, (x,), {}))
    for name in ("all", "any", "astype", "clip", "copy", "max", "min", "prod", "sum"):
        setattr(Traced, name, lambda x, *args, name=name, **named: call(name, (x, *args), named))


_methods()
