# mypy: disallow-untyped-defs
"""`rcp.approx` and `rsqrt.approx`: closer than a GPU's, and with as many bits as "PTX ISA" says that they have.

Of doubles with `.ftz` only the upper 32 bits count, of the operand and of the result, whose lower 32 are zeros:
routines that refine such a start rely on the exact products of short numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vgpu.isa.in_llvm import reciprocal, reciprocal_root
from vgpu.isa.types import Emitter, Form, Value

UPPER = ~0xFFFFFFFF
TINY = 2.0**-1022


def _short(a: np.ndarray, add: Any = 0) -> np.ndarray:
    """Doubles with the lower 32 bits cut off, and subnormals as zeros; NaN stays NaN."""
    cut = ((np.asarray(a).view(np.int64) + add) & UPPER).view(np.float64)
    return np.where(np.isnan(a), a, np.where(np.abs(cut) < TINY, np.copysign(0.0, a), cut))


def _emit_short(e: Emitter, a: Value, add: int = 0) -> Value:
    bits = e.bin("and", e.bin("add", e.bits(a), e.const("i64", add)), e.const("i64", UPPER))
    cut = e.as_float(bits)
    tiny = e.fcmp("olt", e.intrinsic("llvm.fabs", cut), e.const("double", TINY))
    flushed = e.select(tiny, e.copy_sign(e.const("double", 0.0), a), cut)
    return e.select(e.fcmp("uno", a, a), a, flushed)


def _gross(m: Form) -> bool:
    return m.t.bits == 64 and "ftz" in m.mods


def _numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    def meaning(m: Form, a: np.ndarray) -> np.ndarray:
        if _gross(m):
            return _short(function(_short(a)), 1 << 31)
        return function(a.astype(np.longdouble)).astype(a.dtype)

    return meaning


def _llvm(function: Callable[..., Any]) -> Callable[..., Any]:
    def meaning(e: Emitter, m: Form, a: Value) -> Value:
        if _gross(m):
            return _emit_short(e, function(e, m, _emit_short(e, a)), 1 << 31)
        return function(e, m, a)

    return meaning


def _emit_root(e: Emitter, m: Form, a: Value) -> Value:
    """1 / sqrt(a); a double's two roundings are one and a half units, so it takes a step of Newton's."""
    first = reciprocal_root(e, m, a)
    if a.type == "float":
        return first
    root = e.bin("fmul", a, first)
    lost = e.intrinsic("llvm.fma", a, first, e.neg(root))
    error = e.intrinsic("llvm.fma", e.neg(root), first, e.const("double", 1.0))
    error = e.intrinsic("llvm.fma", e.neg(lost), first, error)
    better = e.intrinsic("llvm.fma", e.bin("fmul", first, error), e.const("double", 0.5), first)
    return e.select(e.fcmp("uno", better, better), first, better)


numpy_reciprocal, llvm_reciprocal = _numpy(lambda a: 1 / a), _llvm(reciprocal)
numpy_root, llvm_root = _numpy(lambda a: 1 / np.sqrt(a)), _llvm(_emit_root)
