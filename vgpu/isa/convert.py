"""`cvt` between integers and floats in LLVM IR; `m` is the instruction's form."""

from __future__ import annotations

import math

from vgpu.ir import Value
from vgpu.isa import directed
from vgpu.isa.in_llvm import relu, round_to_odd, saturate
from vgpu.isa.types import Form

INTEGER_ROUNDING = {"rni": "llvm.roundeven", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}


def convert(m: Form, a: Value) -> Value:
    source, target = m.s, m.t
    if source.is_float:
        for word, name in INTEGER_ROUNDING.items():
            if word in m.mods:
                a = a.intrinsic(name)
        if target.is_float:
            return _between_floats(m, a)
        return _to_integer(m, a)
    if target.is_float:
        return _from_integer(m, a)
    if "sat" in m.mods:
        a = _clamp(m, a)
    return a.to(f"i{target.bits}", signed=source.kind == "s")


def _to_integer(m: Form, a: Value) -> Value:
    """The nearest that the type has; LLVM's own saturating conversion would take one lane after the other."""
    low, high = m.t.limits
    over, under = a.reaches(high + 1.0), a.compare("ole", low - 1.0) if low == 0 else a.below(low)
    fits = ~(over | under | a.is_nan())
    whole = fits.select(a, 0.0).cast("fptosi" if low else "fptoui", f"i{m.t.bits}")
    whole = under.select(low, over.select(high, whole))
    nan = m.integer_of_nan
    return a.is_nan().select(nan, whole) if nan else whole


def _clamp(m: Form, a: Value) -> Value:
    signed = m.s.kind == "s"
    low, high = m.t.limits
    have_low, have_high = m.s.limits
    prefix = "s" if signed else "u"
    if high < have_high:
        a = a.compare(prefix + "gt", high).select(high, a)
    if low > have_low:
        a = a.compare(prefix + "lt", low).select(low, a)
    return a


def _from_integer(m: Form, a: Value) -> Value:
    source, target, word = m.s, m.t, directed.word_of(m)
    if target.bits == 16:
        return _to_sixteen(m, round_to_odd(_to_double(m, a)))
    if word is None or (target.bits == 64 and source.bits < 64):
        return a.cast(_cast(m), "double" if target.bits == 64 else "float")
    if target.bits == 64:
        return directed.step_double(word, *directed.split_integer(a, source.kind == "s"))
    return directed.narrow(word, _to_double(m, a), "float")


def _to_double(m: Form, a: Value) -> Value:
    """An integer as a double that rounds to a narrower type, in any mode, as the integer would."""
    if m.s.bits < 64:
        return a.cast(_cast(m), "double")
    return directed.to_odd(*directed.split_integer(a, m.s.kind == "s"))


def _cast(m: Form) -> str:
    return "sitofp" if m.s.kind == "s" else "uitofp"


def _to_tf32(m: Form, a: Value) -> Value:
    """float with 10 bits of mantissa: `.rna` rounds halves away from zero, `.rn` to even, `.rz` cuts."""
    bits = a.as_int()
    if "rna" in m.mods:
        bits = bits + 0x1000
    elif "rz" not in m.mods:
        odd = bits >> 13 & 1
        bits = bits + 0xFFF + odd
    kept = (bits & 0xFFFFE000).as_float()
    if "satfinite" in m.mods:
        largest = a.number("float", 2.0**128 - 2.0**117)
        huge = kept.intrinsic("llvm.fabs").eq(math.inf)
        kept = huge.select(largest.copy_sign(kept), kept)
    kept = a.is_nan().select(math.nan, kept)
    return relu(kept) if "relu" in m.mods else kept


def _between_floats(m: Form, a: Value) -> Value:
    if m.t.name == "tf32":
        return _to_tf32(m, a)
    word = directed.word_of(m)
    if m.t.bits == 64:
        result = a.cast("fpext", "double")
    elif m.t.bits == 16:
        result = _to_sixteen(m, round_to_odd(a) if a.element == "double" else a)
    elif a.element == "double":
        result = a.cast("fptrunc", "float") if word is None else directed.narrow(word, a, "float")
    else:
        result = a
    if "sat" in m.mods:
        result = saturate(result)
    if "satfinite" in m.mods:
        largest = a.number("float", 65504.0 if m.t.name == "f16" else 2.0**128 - 2.0**120)
        beyond = result.intrinsic("llvm.fabs").above(largest)
        result = beyond.select(largest.copy_sign(result), result)
    return relu(result) if "relu" in m.mods else result


def _to_sixteen(m: Form, a: Value) -> Value:
    """A float with the value to be stored in 16 bits, if the instruction has a directed rounding mode."""
    word = directed.word_of(m)
    if word is None:
        return a
    if m.t.name == "bf16":
        return directed.narrow_brain(word, a)
    return directed.narrow(word, a, "half").cast("fpext", "float")
