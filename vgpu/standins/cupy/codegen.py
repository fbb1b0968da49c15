"""Pieces of CUDA C++ for ElementwiseKernel and ReductionKernel: parameter lists, types, loads and indices.

An array that is contiguous over the whole index range is read as `_x[i]`; any other one through its strides,
which are passed in bytes beside it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vgpu.standins.cupy.convert import from_interface, mixing
from vgpu.standins.cupy.missing import missing
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.texture import TextureObject
from vgpu.storage.memory import ArrayInfo

C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float16": "__half",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}
TEXTURE = "cudaTextureObject_t"  # the type of a texture argument, used like a dtype
Kind = np.dtype | str  # a dtype, or TEXTURE
# The header that the code for a dtype includes.
HEADERS = {"float16": "cuda_fp16.h", "complex64": "cupy/complex.cuh", "complex128": "cupy/complex.cuh"}

# In every generated kernel: `_ind.size()`.
INDEXER = """\
struct _Indexer { long long _size; __device__ long long size() const { return _size; } };
"""
# The type of `raw` arrays, which are indexed by their flat position or by one index per axis.
RAW_ARRAY = """\
template <typename T, int N, bool contiguous> struct CArray {
  T* _data; long long _size; long long _shape[N ? N : 1]; long long _strides[N ? N : 1];
  __device__ long long size() const { return _size; }
  __device__ const long long* shape() const { return _shape; }
  __device__ const long long* strides() const { return _strides; }
  __device__ T& operator[](long long i) const {
    if (contiguous) return _data[i];
    long long offset = 0;
#pragma unroll
    for (int d = N - 1; d >= 0; --d) { offset += i % _shape[d] * _strides[d]; i /= _shape[d]; }
    return *(T*)((char*)_data + offset);
  }
  template <typename I> __device__ T& operator[](const I (&index)[N ? N : 1]) const {
    long long offset = 0;
#pragma unroll
    for (int d = 0; d < N; ++d) offset += index[d] * _strides[d];
    return *(T*)((char*)_data + offset);
  }
};
"""


@dataclass(frozen=True)
class Param:
    """One entry of a parameter list: "raw T x" is type "T", name "x", raw."""

    type: str
    name: str
    raw: bool = False

    @property
    def dtype(self) -> Kind | None:
        """The dtype, TEXTURE for a texture, or None for a placeholder such as T."""
        return None if len(self.type) == 1 else _dtype(self.type)


def parse(text: str) -> tuple[Param, ...]:
    """A parameter list such as "float32 x, raw T y". Raises ValueError for an invalid one."""
    params = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        words = [word for word in part.split() if word != "_non_const"]
        raw = words[0] == "raw"
        words = words[raw:]
        if len(words) != 2:
            raise ValueError(f"Invalid parameter {part!r}: write a type and a name, such as 'float32 x' or 'raw T y'")
        if words[1] in ("i", "n") or words[1].startswith("_"):
            raise ValueError(f"The name {words[1]!r} is used by the generated code: choose another one")
        if len(words[0]) > 1:
            try:
                _dtype(words[0])
            except TypeError:
                raise ValueError(
                    f"Invalid type {words[0]!r}: write a dtype's name (float32, int64 …) or a capital letter"
                ) from None
        params.append(Param(words[0], words[1], raw))
    return tuple(params)


def _dtype(name: str) -> Kind:
    return TEXTURE if name == TEXTURE else np.dtype(name)


def type_of(value: object) -> Kind | None:
    """The dtype of an array, TEXTURE for a texture, None for a scalar, whose type other arguments decide."""
    return TEXTURE if isinstance(value, TextureObject) else value.dtype if isinstance(value, ndarray) else None


def c_type(dtype: Kind) -> str:
    """C's name of a dtype."""
    if isinstance(dtype, str):
        return TEXTURE
    if dtype.name not in C_TYPES:
        raise missing(f"ElementwiseKernel for {dtype.name}", "RawKernel, whose kernel declares the struct itself")
    return C_TYPES[dtype.name]


def argument(value: Any, where: str) -> Any:
    """An argument of a generated kernel: an array or a texture, or a scalar. TypeError for anything else."""
    if isinstance(value, (ndarray, TextureObject, bool, int, float, complex, np.generic)):
        return value
    if isinstance(value, np.ndarray):
        raise mixing(value, where)
    if hasattr(value, "__cuda_array_interface__"):
        return from_interface(value)
    raise TypeError(f"Unsupported type {type(value)} in {where}: it takes arrays on the device and scalars")


def decide_types(params: Sequence[Param], values: Sequence, where: str) -> dict[str, Kind]:
    """The dtype of every placeholder, from the arrays and textures; scalars decide nothing, as in CuPy.

    Raises TypeError when an array has another dtype than the list says, or two arrays disagree on T.
    """
    found: dict[str, tuple[Kind, str]] = {}
    for param, value in zip(params, values, strict=True):
        given = type_of(value)
        if given is None:
            continue
        wanted = param.dtype or found.get(param.type, (given,))[0]
        if wanted != given:
            because = f" ({param.type} is {wanted} in {found[param.type][1]})" if param.dtype is None else ""
            fix = "" if TEXTURE in (wanted, given) else f" Convert it: {param.name}.astype(np.{wanted})."
            raise TypeError(f"Type is mismatched in {where}: {param.name} is {given}, not {wanted}{because}.{fix}")
        if param.dtype is None:
            found.setdefault(param.type, (given, param.name))
    types = {letter: dtype for letter, (dtype, _) in found.items()}
    for param in params:
        if param.dtype is None and param.type not in types:
            raise TypeError(
                f"{where}: nothing says what {param.type} is: it is no array's type, and scalars decide none"
            )
    return types


@dataclass
class Body:
    """Collects the parts of a generated kernel: parameters in C, their bytes, and lines of code."""

    declarations: list[str] = field(default_factory=list)
    params: list[bytes] = field(default_factory=list)
    arrays: list[ArrayInfo] = field(default_factory=list)
    before: list[str] = field(default_factory=list)  # executed once per thread
    inside: list[str] = field(default_factory=list)  # executed once per index
    key: list = field(default_factory=list)

    def number(self, name: str, value: int) -> str:
        """A 64-bit parameter; its name."""
        self.declarations.append(f"long long {name}")
        self.params.append(struct.pack("<q", value))
        return name

    def pointer(self, param: Param, host: np.ndarray, const: bool) -> str:
        """A pointer parameter `_name`; its C element type."""
        kind = ("const " if const else "") + c_type(host.dtype)
        self.declarations.append(f"{kind}* _{param.name}")
        self.params.append(struct.pack("<Q", host.ctypes.data if host.size else 0))
        self.arrays.append(
            ArrayInfo(param.name, host.ctypes.data, host.nbytes, host.dtype.name, host.shape, host.strides)
        )
        return kind

    def scalar(self, param: Param, value: Any, dtype: Kind) -> None:
        """A value, the same for all threads."""
        self.declarations.append(f"const {c_type(dtype)} {param.name}")
        if (type_of(value) == TEXTURE) != (dtype == TEXTURE):
            raise TypeError(f"Type is mismatched: {param.name} is of {type(value)}, and the kernel takes {dtype}")
        self.params.append(
            struct.pack("<Q", value.ptr) if isinstance(dtype, str) else np.asarray(value).astype(dtype).tobytes()
        )

    def raw(self, param: Param, host: np.ndarray, const: bool) -> None:
        """A whole array under its own name."""
        kind = self.pointer(param, host, const)
        contiguous = host.flags.c_contiguous
        shape = [self.number(f"_{param.name}_n{d}", n) for d, n in enumerate(host.shape)]
        strides = [self.number(f"_{param.name}_s{d}", s) for d, s in enumerate(host.strides)]
        size = " * ".join(shape) or "1"
        layout = f"{{{', '.join(shape) or '0'}}}, {{{', '.join(strides) or '0'}}}"
        self.before.append(
            f"const CArray<{kind}, {host.ndim}, {str(contiguous).lower()}> {param.name} = "
            f"{{_{param.name}, {size}, {layout}}};"
        )
        self.key.append((param.name, host.ndim, contiguous))

    def element(self, param: Param, host: np.ndarray, shape: tuple[int, ...], const: bool, index: str) -> None:
        """The element at an index over `shape`, to which `host` is broadcast already."""
        kind = self.pointer(param, host, const)
        how: str | tuple[bool, ...]
        if host.size == 0 or host.flags.c_contiguous:
            element, how = f"_{param.name}[{index}]", "contiguous"
        elif not any(host.strides):
            element, how = f"_{param.name}[0]", "one"
        else:
            terms = [
                f"_at{d} * {self.number(f'_{param.name}_s{d}', s)}"
                for d, s in enumerate(host.strides)
                if s and host.shape[d] > 1
            ]
            element = f"*({kind}*)((const char*)_{param.name} + {' + '.join(terms) or '0'})"
            how = tuple(bool(s) and n > 1 for s, n in zip(host.strides, host.shape, strict=True))
        declare = f"{kind} {param.name}" if const else f"{kind}& {param.name}"
        self.inside.append(f"{declare} = {element};")
        self.key.append((param.name, how))

    def positions(self, shape: tuple[int, ...], index: str) -> list[str]:
        """Code that splits a flat index into `_at0`, `_at1` …, when some element is found through strides."""
        if not any("_at" in line for line in self.inside):
            return []
        lines = [f"long long _rest = {index};"]
        for d in reversed(range(1, len(shape))):
            n = self.number(f"_n{d}", shape[d])
            lines.append(f"const long long _at{d} = _rest % {n}; _rest /= {n};")
        return [*lines, "const long long _at0 = _rest;"]


def header(types: Mapping[str, Kind], params: Iterable[Param], preamble: str) -> str:
    """The headers, types and preamble above a generated kernel, as far as it needs them."""
    dtypes = {*types.values(), *(param.dtype for param in params)}
    needed = sorted({HEADERS[str(dtype)] for dtype in dtypes if str(dtype) in HEADERS})
    includes = "".join(f"#include <{name}>\n" for name in needed)
    raw = RAW_ARRAY if any(param.raw for param in params) else ""
    return includes + INDEXER + raw + typedefs(types) + preamble


def typedefs(types: Mapping[str, Kind]) -> str:
    """One typedef per placeholder."""
    return "".join(f"typedef {c_type(dtype)} {letter};\n" for letter, dtype in sorted(types.items()))
