"""Directed rounding of a whole warp's floats: by the operation's own mode, or by the CPU's, switched for its time.

Each function is made when a kernel first calls it: `wb_directed_OPERATION_MODE_BITS`.
"""

from __future__ import annotations

from collections.abc import Iterable

from vgpu.ir import LANES, Value, element_bits, vector
from vgpu.ir.value import FLOAT_OF_BITS
from vgpu.isa.directed import OPERATIONS, PREFIX, WORDS
from vgpu.runtime.write import Routine

SWITCHED = {"rz": 0, "rp": 2, "rm": 3}  # as llvm.set.rounding numbers the modes; 1 is to nearest
OWN = {"rm": 9, "rp": 10, "rz": 11}  # as instructions of AVX-512 have them, exceptions off
LETTERS = {32: "ps", 64: "pd"}
# LLVM's constrained intrinsic, that of AVX-512, and how many operands the instruction of a kernel has.
INTRINSICS = {
    "add": ("fadd", "add", 2), "sub": ("fsub", "sub", 2), "mul": ("fmul", "mul", 2), "div": ("fdiv", "div", 2),
    "rcp": ("fdiv", "div", 1), "fma": ("fma", "vfmadd", 3), "sqrt": ("sqrt", "sqrt", 1),
}  # fmt: skip


def later(name: str, vectors: str) -> str | None:
    """The module of one such function, or None for other names; `vectors` as for `runtime.source`."""
    operation, word, bits = (*name.removeprefix(PREFIX).split("_"), "", "")[:3]
    if not name.startswith(PREFIX) or operation not in OPERATIONS or word not in WORDS:
        return None
    whole = vector(FLOAT_OF_BITS[int(bits)])
    letters = "abc"[: INTRINSICS[operation][2]]
    own = vectors == "avx512"
    r = Routine(name, ", ".join(f"{whole} {letter}" for letter in letters), whole, "" if own else "noinline strictfp")
    operands = [r.number(whole, 1.0)] if operation == "rcp" else []
    operands += [r[letter] for letter in letters]
    r.give(_in_parts(r, operation, word, int(bits), operands) if own else _switched(r, operation, word, operands))
    return str(r)


def _in_parts(r: Routine, operation: str, word: str, bits: int, operands: Iterable[Value]) -> Value:
    """512 bits at a time."""
    width = 512 // bits
    kind, intrinsic = vector(FLOAT_OF_BITS[bits], width), f"llvm.x86.avx512.{INTRINSICS[operation][1]}"
    found = []
    for start in range(0, LANES, width):
        parts = [operand.shuffle(None, range(start, start + width)) for operand in operands]
        found.append(r.call(kind, f"{intrinsic}.{LETTERS[bits]}.512", *parts, r.i32(OWN[word])))
    return r.join(found)


def _switched(r: Routine, operation: str, word: str, operands: Iterable[Value]) -> Value:
    given = ", ".join(map(str, operands))
    kind = r.result
    r.line(f"call void @llvm.set.rounding(i32 {SWITCHED[word]}) strictfp")
    overload = f"v{LANES}f{element_bits(kind)}"
    call = f"call {kind} @llvm.experimental.constrained.{INTRINSICS[operation][0]}.{overload}"
    result = r.value(kind, f'{call}({given}, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp')
    r.line("call void @llvm.set.rounding(i32 1) strictfp")
    return result
