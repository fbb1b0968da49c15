# mypy: disallow-untyped-defs
"""`cvt` between integers and floats in LLVM IR; `e` is the `Emitter`, `m` the instruction's form."""

from __future__ import annotations

import math

from vgpu.isa import directed
from vgpu.isa.in_llvm import relu, round_to_odd, saturate
from vgpu.isa.types import Emitter, Form, Value

INTEGER_ROUNDING = {"rni": "llvm.roundeven", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}


def convert(e: Emitter, m: Form, a: Value) -> Value:
    source, target = m.s, m.t
    if source.is_float:
        for word, name in INTEGER_ROUNDING.items():
            if word in m.mods:
                a = e.intrinsic(name, a)
        if target.is_float:
            return _between_floats(e, m, a)
        name = "llvm.fptosi.sat" if target.kind == "s" else "llvm.fptoui.sat"
        whole, nan = e.intrinsic(name, a, result=f"i{target.bits}"), m.integer_of_nan
        return e.select(e.fcmp("uno", a, a), e.const(whole.type, nan), whole) if nan else whole
    if target.is_float:
        return _from_integer(e, m, a)
    if "sat" in m.mods:
        a = _clamp(e, m, a)
    return e.resize(a, target.bits, signed=source.kind == "s")


def _clamp(e: Emitter, m: Form, a: Value) -> Value:
    signed = m.s.kind == "s"
    low, high = m.t.limits
    have_low, have_high = m.s.limits
    prefix = "s" if signed else "u"
    if high < have_high:
        a = e.select(e.icmp(prefix + "gt", a, e.const(a.type, high)), e.const(a.type, high), a)
    if low > have_low:
        a = e.select(e.icmp(prefix + "lt", a, e.const(a.type, low)), e.const(a.type, low), a)
    return a


def _from_integer(e: Emitter, m: Form, a: Value) -> Value:
    source, target, word = m.s, m.t, directed.word_of(m)
    op = "sitofp" if source.kind == "s" else "uitofp"
    if target.bits == 16:
        return _to_sixteen(e, m, round_to_odd(e, e.cast(op, a, "double")))
    if word is None or (target.bits == 64 and source.bits < 64):
        return e.cast(op, a, "double" if target.bits == 64 else "float")
    if source.bits < 64:
        return directed.narrow(e, word, e.cast(op, a, "double"), "float")
    total, lost = directed.split_integer(e, a, source.kind == "s")
    if target.bits == 64:
        return directed.step_double(e, word, total, lost)
    return directed.narrow(e, word, directed.to_odd(e, total, lost), "float")


def _to_tf32(e: Emitter, m: Form, a: Value) -> Value:
    """float with 10 bits of mantissa: `.rna` rounds halves away from zero, `.rn` to even, `.rz` cuts."""
    bits, i32 = e.bits(a), lambda value: e.const("i32", value)
    if "rna" in m.mods:
        bits = e.bin("add", bits, i32(0x1000))
    elif "rz" not in m.mods:
        odd = e.bin("and", e.bin("lshr", bits, i32(13)), i32(1))
        bits = e.bin("add", e.bin("add", bits, i32(0xFFF)), odd)
    kept = e.as_float(e.bin("and", bits, i32(0xFFFFE000)))
    if "satfinite" in m.mods:
        largest = e.const("float", 2.0**128 - 2.0**117)
        huge = e.fcmp("oeq", e.intrinsic("llvm.fabs", kept), e.const("float", math.inf))
        kept = e.select(huge, e.copy_sign(largest, kept), kept)
    kept = e.select(e.fcmp("uno", a, a), e.const("float", math.nan), kept)
    return relu(e, kept) if "relu" in m.mods else kept


def _between_floats(e: Emitter, m: Form, a: Value) -> Value:
    if m.t.name == "tf32":
        return _to_tf32(e, m, a)
    word = directed.word_of(m)
    if m.t.bits == 64:
        result = e.cast("fpext", a, "double")
    elif m.t.bits == 16:
        result = _to_sixteen(e, m, round_to_odd(e, a) if a.type == "double" else a)
    elif a.type == "double":
        result = e.cast("fptrunc", a, "float") if word is None else directed.narrow(e, word, a, "float")
    else:
        result = a
    if "sat" in m.mods:
        result = saturate(e, result)
    if "satfinite" in m.mods:
        largest = e.const("float", 65504.0 if m.t.name == "f16" else 2.0**128 - 2.0**120)
        beyond = e.fcmp("ogt", e.intrinsic("llvm.fabs", result), largest)
        result = e.select(beyond, e.copy_sign(largest, result), result)
    return relu(e, result) if "relu" in m.mods else result


def _to_sixteen(e: Emitter, m: Form, a: Value) -> Value:
    """A float with the value to be stored in 16 bits, if the instruction has a directed rounding mode."""
    word = directed.word_of(m)
    if word is None:
        return a
    if m.t.name == "bf16":
        return directed.narrow_brain(e, word, a)
    return e.cast("fpext", directed.narrow(e, word, a, "half"), "float")
