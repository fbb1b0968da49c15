"""`rcp.approx` and `rsqrt.approx`: closer than a GPU's, and with as many bits as "PTX ISA" says that they have.

Of doubles with `.ftz` only the upper 32 bits count, of the operand and of the result, whose lower 32 are zeros:
routines that refine such a start rely on the exact products of short numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vgpu.ir import Value
from vgpu.isa.in_llvm import reciprocal, reciprocal_root
from vgpu.isa.types import Form

UPPER = ~0xFFFFFFFF
TINY = 2.0**-1022


def _short(a: np.ndarray, add: Any = 0) -> np.ndarray:
    """Doubles with the lower 32 bits cut off, and subnormals as zeros; NaN stays NaN."""
    cut = ((np.asarray(a).view(np.int64) + add) & UPPER).view(np.float64)
    return np.where(np.isnan(a), a, np.where(np.abs(cut) < TINY, np.copysign(0.0, a), cut))


def _emit_short(a: Value, add: int = 0) -> Value:
    bits = a.as_int() + add & UPPER
    cut = bits.as_float()
    tiny = cut.intrinsic("llvm.fabs").below(TINY)
    flushed = tiny.select(a.number("double", 0.0).copy_sign(a), cut)
    return a.is_nan().select(a, flushed)


def _gross(m: Form) -> bool:
    return m.t.bits == 64 and "ftz" in m.mods


def _numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    def meaning(m: Form, a: np.ndarray) -> np.ndarray:
        if _gross(m):
            return _short(function(_short(a)), 1 << 31)
        return function(a.astype(np.longdouble)).astype(a.dtype)

    return meaning


def _llvm(function: Callable[..., Any]) -> Callable[..., Any]:
    def meaning(m: Form, a: Value) -> Value:
        if _gross(m):
            return _emit_short(function(m, _emit_short(a)), 1 << 31)
        return function(m, a)

    return meaning


def _emit_root(m: Form, a: Value) -> Value:
    """1 / sqrt(a); a double's two roundings are one and a half units, so it takes a step of Newton's."""
    first = reciprocal_root(m, a)
    if a.element == "float":
        return first
    root = a * first
    lost = a.intrinsic("llvm.fma", first, -root)
    error = (-root).intrinsic("llvm.fma", first, 1.0)
    error = (-lost).intrinsic("llvm.fma", first, error)
    better = (first * error).intrinsic("llvm.fma", 0.5, first)
    return better.is_nan().select(first, better)


numpy_reciprocal, llvm_reciprocal = _numpy(lambda a: 1 / a), _llvm(reciprocal)
numpy_root, llvm_root = _numpy(lambda a: 1 / np.sqrt(a)), _llvm(_emit_root)
