"""Directed rounding of doubles by the CPU's own rounding mode, switched for one operation of a whole warp.

Each function is made when a kernel first calls it: `wb_directed_OPERATION_MODE`.
"""

from __future__ import annotations

from helpers.vgpu.isa.directed import BY_MODE, PREFIX, WORDS

MODES = {"rz": 0, "rp": 2, "rm": 3}  # as llvm.set.rounding numbers them; 1 is to nearest
V = "<32 x double>"
ONES = "<" + ", ".join(["double 1.0"] * 32) + ">"
OPERATIONS = {"fma": ("fma", 3), "div": ("fdiv", 2), "rcp": ("fdiv", 1), "sqrt": ("sqrt", 1)}  # LLVM's name, operands


def later(name: str) -> str | None:
    """The module of one such function, or None for other names."""
    operation, _, word = name.removeprefix(PREFIX).partition("_")
    if not name.startswith(PREFIX) or operation not in BY_MODE or word not in WORDS:
        return None
    llvm, count = OPERATIONS[operation]
    given = {"rcp": [ONES, "%a"]}.get(operation, ["%a", "%b", "%c"][:count])
    parameters = ", ".join(f"{V} %{letter}" for letter in "abc"[:count])
    call = f"@llvm.experimental.constrained.{llvm}.v32f64"
    return f"""
define {V} @{name}({parameters}) noinline strictfp {{
  call void @llvm.set.rounding(i32 {MODES[word]}) strictfp
  %r = call {V} {call}({", ".join(f"{V} {v}" for v in given)}, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp
  call void @llvm.set.rounding(i32 1) strictfp
  ret {V} %r
}}
"""
