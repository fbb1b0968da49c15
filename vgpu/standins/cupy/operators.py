"""The operators and methods of CuPy's ndarray: each is NumPy's, run on the memory of the device.

Importing this module gives them to the class.
"""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy import forward
from vgpu.standins.cupy.convert import to_cupy, to_host
from vgpu.standins.cupy.host_memory import check_dtype
from vgpu.standins.cupy.indexing import host_value
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.streams import NumpyCall, array_work
from vgpu.standins.cupy.tables import words
from vgpu.storage import memory

BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "matmul": np.matmul,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "divmod": np.divmod,
    "pow": np.power,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}

# Methods that are called like NumPy's and give CuPy's kind of result.
METHODS = words(
    """
    all any argmax argmin argpartition argsort byteswap choose clip compress conj conjugate cumprod cumsum diagonal
    dot flatten max mean min nonzero prod ravel repeat reshape round searchsorted squeeze std sum swapaxes
    take trace transpose var
    """
)
IN_PLACE = words(
    """
    partition put sort
    """
)
# Methods that write the elements out on the host: NumPy's, of a copy.
ON_HOST = words(
    """
    dump dumps tofile
    """
)

# Those that give the same memory in another shape, without any work.
VIEWS = words(
    """
    diagonal ravel reshape squeeze swapaxes transpose
    """
)


def _arrays(*values) -> list[np.ndarray]:
    return [value for value in values if isinstance(value, np.ndarray)]


def _tuple(value) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def _operand(value, symbol: str):
    if isinstance(value, (list, tuple, str)):
        raise TypeError(f"Unsupported type {type(value)} in operator {symbol}: make it an array with cp.array(...)")
    return to_host(value, f"operator {symbol}")


def _binary(name: str, ufunc: np.ufunc, swapped: bool):
    def operator(self, other):
        other = _operand(other, ufunc.__name__)
        operands = (other, self._host) if swapped else (self._host, other)
        with array_work(name, *_arrays(self._host, other), call=(ufunc.__name__, operands, {})) as written:
            result = to_cupy(ufunc(*operands))
            written += _arrays(*(getattr(each, "_host", None) for each in _tuple(result)))
        return result

    operator.__name__ = name
    return operator


def _in_place(name: str, ufunc: np.ufunc):
    def operator(self, other):
        other = _operand(other, ufunc.__name__)
        call: NumpyCall = (ufunc.__name__, (self._host, other), {})
        with array_work(name, *_arrays(self._host, other), writes=[self._host], call=call):
            ufunc(self._host, other, out=self._host)
        return self

    operator.__name__ = name
    return operator


def _unary(name: str, ufunc: np.ufunc):
    def operator(self):
        with array_work(name, self._host, call=(ufunc.__name__, (self._host,), {})) as written:
            result = to_cupy(ufunc(self._host))
            written.append(result._host)
        return result

    operator.__name__ = name
    return operator


def _method(name: str):
    def method(self, *args, **kwargs):
        out = kwargs.get("out")
        args = to_host(args, f"ndarray.{name}")
        named = {key: to_host(value, name) for key, value in kwargs.items()}
        if name in VIEWS:
            return _of(self, getattr(self._host, name)(*args, **named), "K")
        call = name, (self._host, *args), {key: value for key, value in named.items() if key != "out"}
        with array_work(f"ndarray.{name}", *_arrays(self._host, *args), call=call) as written:
            result = getattr(self._host, name)(*args, **named)
            result = out if isinstance(out, ndarray) else self if result is self._host else _of(self, result)
            written += _arrays(*(getattr(each, "_host", None) for each in _tuple(result)))
        return result

    method.__name__ = name
    method.__doc__ = f"NumPy's `ndarray.{name}` on the device."
    return method


def _of(array: ndarray, result, order: str = "C"):
    """A method's result on the device: a view has `array` as its base, a fresh array gets the layout `order`."""
    if isinstance(result, np.ndarray) and memory.owner(result) is not None:
        return ndarray._over(result, array if array.base is None else array.base)
    return to_cupy(result, order)


def _method_in_place(name: str):
    def method(self, *args, **kwargs):
        with array_work(f"ndarray.{name}", writes=[self._host]):
            getattr(self._host, name)(*to_host(args, f"ndarray.{name}"), **kwargs)

    method.__name__ = name
    method.__doc__ = f"NumPy's `ndarray.{name}` on the device, in place."
    return method


def _method_on_host(name: str):
    def method(self, *args, **kwargs):
        return getattr(self.get(), name)(*args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"NumPy's `ndarray.{name}` of a copy on the host."
    return method


def _fill(self, value) -> None:
    """Set every element to a scalar."""
    value = to_host(value, "fill") if not isinstance(value, np.ndarray) else value
    if np.ndim(value):
        raise ValueError("non-scalar array cannot be used for fill")
    with array_work("ndarray.fill", writes=[self._host], call=("copy", (value,), {})):
        self._host.fill(value)


def _view(self, dtype=None) -> ndarray:
    """The same memory seen as another dtype."""
    return _of(self, self._host.view(self.dtype if dtype is None else check_dtype(dtype)))


def _ptp(self, *args, **kwargs):
    """Greatest minus least element."""
    return to_cupy(np.ptp(self._host, *args, **kwargs))


def _scatter(name: str):
    def method(self, slices, value):
        forward.ufunc(name, getattr(np, name)).at(self, slices, value)

    method.__doc__ = f"`{name}` values into the picked elements, once per occurrence of an index."
    return method


def _part(name: str):
    def getter(self):
        return _of(self, getattr(self._host, name))

    def setter(self, value):
        setattr(self._host, name, host_value(value))

    return property(getter, setter if name in ("real", "imag") else None)


for _name, _ufunc in BINARY.items():
    setattr(ndarray, f"__{_name}__", _binary(_name, _ufunc, False))
    setattr(ndarray, f"__r{_name}__", _binary(_name, _ufunc, True))
    if _name not in ("divmod", "matmul"):
        setattr(ndarray, f"__i{_name}__", _in_place(_name, _ufunc))
for _name, _ufunc in COMPARISONS.items():
    setattr(ndarray, f"__{_name}__", _binary(_name, _ufunc, False))
for _name, _ufunc in UNARY.items():
    setattr(ndarray, f"__{_name}__", _unary(_name, _ufunc))
for _name in METHODS:
    setattr(ndarray, _name, _method(_name))
for _name in IN_PLACE:
    setattr(ndarray, _name, _method_in_place(_name))
for _name in ON_HOST:
    setattr(ndarray, _name, _method_on_host(_name))
for _name in ("T", "mT", "real", "imag"):
    setattr(ndarray, _name, _part(_name))
for _name, _function in (("fill", _fill), ("view", _view), ("ptp", _ptp), ("__bytes__", ndarray.tobytes)):
    setattr(ndarray, _name, _function)
for _name, _operation in (("scatter_add", "add"), ("scatter_max", "maximum"), ("scatter_min", "minimum")):
    setattr(ndarray, _name, _scatter(_operation))
