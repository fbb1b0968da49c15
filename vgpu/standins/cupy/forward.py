"""The names that CuPy shares with NumPy: tables, and how calls are forwarded.

Arrays on the device become views of their memory, NumPy does the work, and the result goes into fresh device
memory. NumPy arrays are refused, and scalar results come back as 0-d arrays, as in CuPy.
"""

from __future__ import annotations

import inspect

import numpy as np

from vgpu.standins.cupy import traced
from vgpu.standins.cupy.convert import mixing, to_cupy, to_device, to_host
from vgpu.standins.cupy.indexing import host_key
from vgpu.standins.cupy.missing import missing
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.streams import array_work
from vgpu.standins.cupy.tables import words

# Elementwise functions: arrays on the device and scalars go in; `out=`, `dtype=` and `.reduce` as in NumPy.
UFUNCS = words(
    """
    abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2
    atanh bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor cbrt ceil conj conjugate copysign cos cosh deg2rad degrees divide
    divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod frexp gcd greater
    greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp left_shift less less_equal log
    log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor matmul maximum
    minimum mod modf multiply negative nextafter not_equal positive pow power rad2deg radians reciprocal
    remainder right_shift rint sign signbit sin sinh sqrt square subtract tan tanh true_divide trunc
    """
)

# Functions whose first argument is an array on the device.
ARRAYS = words(
    """
    all allclose amax amin angle any append apply_over_axes argmax argmin argpartition argsort argwhere
    around array_equal array_equiv array_split astype average bincount broadcast_to choose clip convolve
    copyto corrcoef correlate count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum delete
    diag diagflat diagonal diff digitize dot dsplit ediff1d expand_dims extract fill_diagonal fix
    flatnonzero flip fliplr flipud gradient histogram histogram2d hsplit i0 imag inner interp intersect1d
    isclose iscomplex isin isneginf isposinf isreal kron matrix_transpose max mean median min moveaxis
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd
    nansum nanvar nonzero outer packbits pad partition percentile permute_dims place polyval prod ptp put
    put_along_axis putmask quantile ravel real real_if_close repeat reshape resize roll rollaxis rot90
    round searchsorted setdiff1d setxor1d sinc sort sort_complex split squeeze std sum swapaxes take
    take_along_axis tensordot tile trace transpose trapezoid tril trim_zeros triu union1d unique
    unique_all unique_counts unique_inverse unique_values unpackbits unravel_index unwrap vander var vdot
    vsplit polyadd polyfit polymul polysub roots poly histogramdd compress
    """
)

# Functions of several arrays, or of a list of them, or of a condition.
SEQUENCES = words(
    """
    atleast_1d atleast_2d atleast_3d broadcast_arrays column_stack concat concatenate dstack einsum hstack
    ix_ lexsort meshgrid ravel_multi_index select stack vstack where
    """
)

# Functions that make an array out of numbers: what NumPy makes is copied to the device.
CREATION = words(
    """
    arange bartlett blackman diag_indices diag_indices_from eye frombuffer fromfile fromiter fromstring
    genfromtxt hamming hanning identity indices kaiser linspace loadtxt logspace mask_indices tri
    tril_indices tril_indices_from triu_indices triu_indices_from
    """
)

# CuPy re-exports these of NumPy: types, constants, and functions that need no device.
SAME = words(
    """
    array_repr base_repr binary_repr bool bool_ broadcast_shapes byte can_cast cdouble complex128
    complex64 complexfloating csingle double dtype e euler_gamma exceptions finfo float16 float32 float64
    floating format_float_positional format_float_scientific generic get_printoptions half iinfo index_exp
    inexact inf int16 int32 int64 int8 int_ intc integer intp isdtype isfortran isscalar issubdtype iterable long
    longlong min_scalar_type mintypecode nan ndindex newaxis number pi printoptions promote_types s_
    set_printoptions short signedinteger single typename ubyte uint uint16 uint32 uint64 uint8 uintc uintp
    ulong ulonglong unsignedinteger ushort
    """
)

# Functions of arrays that return plain Python values.
ANSWERS = words(
    """
    array2string array_repr array_str common_type iscomplexobj isrealobj may_share_memory ndim
    result_type save savetxt savez savez_compressed shape shares_memory size
    """
)

_NOT_ON_DEVICE = set("gGOmM")  # letters of NumPy's dtypes that a device lacks: long doubles, objects, dates

# NumPy answers these with a Python bool; CuPy with a 0-d array, because the answer is on the device.
ON_DEVICE = {"allclose", "array_equal", "array_equiv"}


# Functions whose fresh arrays have the layout of their argument, as with `order="K"` elsewhere.
LAYOUT_KEPT = {"astype", "reshape"}


class ForwardedFunction:
    """One function of NumPy, called with arrays on the device."""

    def __init__(self, name: str, function, first_is_array: bool = False, wrap: bool = True):
        self.__name__, self._function, self._wrap = name, function, wrap
        self._first_is_array = first_is_array
        self.__doc__ = f"`numpy.{name}` on the device.\n\n{function.__doc__ or ''}"

    def __call__(self, *args, **kwargs):
        if traced.among(args):
            return traced.call(self.__name__, args, kwargs)
        if self._first_is_array and args and isinstance(args[0], (list, tuple)):
            raise TypeError(
                f"Unsupported type {type(args[0])} in cupy.{self.__name__}: it takes an array on the device. "
                "Make one with cp.array(...)."
            )
        where = f"cupy.{self.__name__}"
        outs = _items(kwargs.get("out"))
        host_args = [_callback(arg) if inspect.isfunction(arg) else to_host(arg, where) for arg in args]
        named = {key: to_host(value, where) for key, value in kwargs.items()}
        call = self.__name__, tuple(host_args), {key: value for key, value in named.items() if key != "out"}
        with array_work(where, *_arrays(host_args), call=call) as written:
            result = self._function(*host_args, **named)
            if any(isinstance(out, ndarray) for out in outs):
                result = _into(outs, result)
            elif self.__name__ in ON_DEVICE:
                result = to_device(np.bool(result))
            elif self._wrap:
                result = to_cupy(result, "K" if "order" in kwargs or self.__name__ in LAYOUT_KEPT else "C")
            written += _arrays([getattr(each, "_host", None) for each in _items(result)])
        return result

    def __repr__(self) -> str:
        return f"<cupy function {self.__name__!r} on the virtual GPU>"


def _into(outs: list, result):
    """The result of a call with `out=`: the given arrays, and fresh ones in place of None."""
    results = result if isinstance(result, tuple) else (result,)
    whole = tuple(to_cupy(value) if out is None else out for out, value in zip(outs, results, strict=True))
    return whole if isinstance(result, tuple) else whole[0]


class ufunc(ForwardedFunction):
    """An elementwise function, with `reduce`, `accumulate`, `reduceat`, `outer` and `at` as in NumPy."""

    def __init__(self, name: str, function: np.ufunc):
        super().__init__(name, function)
        self.nin, self.nout, self.nargs = function.nin, function.nout, function.nargs
        self.types = [types for types in function.types if not set(types) & _NOT_ON_DEVICE]
        self.name = f"cupy_{name}"

    def __call__(self, *args, **kwargs):
        if traced.among(args):
            return traced.call(self.__name__, args, kwargs)
        for arg in args[: self.nin]:
            if isinstance(arg, (list, tuple, str)):
                raise TypeError(
                    f"Unsupported type {type(arg)} in cupy.{self.__name__}: it takes arrays on the device "
                    "and scalars. Make an array with cp.array(...)."
                )
        if len(args) > self.nin:
            given = (*args[self.nin :], *[None] * (self.nargs - len(args)))
            kwargs["out"], args = given if self.nout > 1 else given[0], args[: self.nin]
        return super().__call__(*args, **kwargs)

    def _part(self, method: str):
        name = f"{self.__name__}.{method}"
        return ForwardedFunction(name, getattr(self._function, method))

    reduce = property(lambda self: self._part("reduce"))
    accumulate = property(lambda self: self._part("accumulate"))
    reduceat = property(lambda self: self._part("reduceat"))
    outer = property(lambda self: self._part("outer"))

    def at(self, a: ndarray, indices, *b) -> None:
        """Apply to the picked elements, once per occurrence of an index; indices and values may be on the host."""
        values = [getattr(value, "_host", value) for value in b]
        with array_work(f"cupy.{self.__name__}.at", a._host, writes=[a._host]):
            self._function.at(a._host, host_key(indices, a.shape), *values)

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}' on the virtual GPU>"


class IndexExpression:
    """`mgrid`, `ogrid`, `r_` and `c_`: an array made by indexing."""

    def __init__(self, thing):
        self._thing = thing

    def __getitem__(self, key):
        return to_cupy(self._thing[to_host(key, "an index expression")])


def _items(value) -> list:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _arrays(values) -> list[np.ndarray]:
    """The NumPy arrays among values, and in lists among them."""
    flat = [item for value in values for item in _items(value)]
    return [value for value in flat if isinstance(value, np.ndarray)]


def _callback(function):
    """A Python function passed to NumPy: it gets arrays on the device, and may return one and write to arguments."""

    def called(*args, **kwargs):
        given = [to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        result = to_host(function(*given, **kwargs))
        for arg, seen in zip(args, given, strict=True):
            if isinstance(arg, np.ndarray) and arg.flags.writeable:
                np.copyto(arg, seen._host)
        return result

    return called


def names() -> dict[str, object]:
    """Every forwarded name and its implementation; names that this NumPy lacks are left out."""
    table: dict[str, object] = {name: ufunc(name, getattr(np, name)) for name in UFUNCS if hasattr(np, name)}
    for group, first, wrap in ((ARRAYS, True, True), (SEQUENCES, False, True), (CREATION, False, True)):
        for name in group:
            if hasattr(np, name):
                table[name] = ForwardedFunction(name, getattr(np, name), first, wrap)
    table |= {name: getattr(np, name) for name in SAME if hasattr(np, name)}
    table |= {name: ForwardedFunction(name, getattr(np, name), False, False) for name in ANSWERS if hasattr(np, name)}
    table |= {name: IndexExpression(getattr(np, name)) for name in ("mgrid", "ogrid", "r_", "c_")}
    for name in ("apply_along_axis", "piecewise", "fromfunction"):
        table[name] = ForwardedFunction(name, getattr(np, name))
    return table


def serve_numpy(package) -> None:
    """Let NumPy's functions forward to those of `package` where an argument is an array on the device."""

    def array_ufunc(self, function: np.ufunc, method: str, *inputs, **kwargs):
        for value in (*inputs, *kwargs.get("out", ())):
            if isinstance(value, np.ndarray):
                raise mixing(value, f"numpy.{function.__name__}")
        if isinstance(kwargs.get("out"), tuple):
            kwargs["out"] = kwargs["out"][0] if len(kwargs["out"]) == 1 else kwargs["out"]
        target = getattr(package, function.__name__, None)
        if not isinstance(target, ufunc):
            raise missing(function.__name__)
        return (target if method == "__call__" else getattr(target, method))(*inputs, **kwargs)

    def array_function(self, function, types, args, kwargs):
        module = package
        for part in (function.__module__ or "numpy").split(".")[1:]:
            module = getattr(module, part, None)
        target = getattr(module, function.__name__, None)
        if target is None or target is function:
            raise missing(function.__name__, f"numpy.{function.__name__} on cp.asnumpy(x)")
        return target(*args, **kwargs)

    for name, function in (("__array_ufunc__", array_ufunc), ("__array_function__", array_function)):
        setattr(ndarray, name, function)


__all__ = words(
    """
    ForwardedFunction IndexExpression names over serve_numpy ufunc
    """
)
