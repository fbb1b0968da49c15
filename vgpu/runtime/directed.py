"""Directed rounding of doubles by the CPU's own rounding mode, switched for one operation of a whole warp.

Each function is made when a kernel first calls it: `wb_directed_OPERATION_MODE`.
"""

from __future__ import annotations

from vgpu.ir.value import vector
from vgpu.isa.directed import BY_MODE, PREFIX, WORDS
from vgpu.runtime.write import Routine

MODES = {"rz": 0, "rp": 2, "rm": 3}  # as llvm.set.rounding numbers them; 1 is to nearest
V = vector("double")
OPERATIONS = {"fma": ("fma", 3), "div": ("fdiv", 2), "rcp": ("fdiv", 1), "sqrt": ("sqrt", 1)}  # LLVM's name, operands


def later(name: str) -> str | None:
    """The module of one such function, or None for other names."""
    operation, _, word = name.removeprefix(PREFIX).partition("_")
    if not name.startswith(PREFIX) or operation not in BY_MODE or word not in WORDS:
        return None
    llvm, count = OPERATIONS[operation]
    r = Routine(name, ", ".join(f"{V} {letter}" for letter in "abc"[:count]), V, words="noinline strictfp")
    ones = [r.number(V, 1.0)] if operation == "rcp" else []
    operands = ", ".join(map(str, (*ones, *r.parameters.values())))
    r.line(f"call void @llvm.set.rounding(i32 {MODES[word]}) strictfp")
    call = f"call {V} @llvm.experimental.constrained.{llvm}.v32f64"
    result = r.value(V, f'{call}({operands}, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp')
    r.line("call void @llvm.set.rounding(i32 1) strictfp")
    r.give(result)
    return str(r)
