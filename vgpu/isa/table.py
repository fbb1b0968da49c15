"""The rows of the instruction table, by the chapters of "PTX ISA": integers, bits, moves and comparisons, floats.

To add an instruction, add a row: the reference interpreter, the compiler and the tests that compare the two read
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vgpu.ir import Value
from vgpu.isa import approximate, parts
from vgpu.isa import in_llvm as ll
from vgpu.isa import in_numpy as py
from vgpu.isa.convert import convert
from vgpu.isa.directed import llvm_directed, numpy_directed
from vgpu.isa.types import (
    ANY_INT,
    BIG,
    BITS,
    CONVERSIONS,
    HALF,
    INT,
    NUMBERS,
    PAIRS,
    SINGLES,
    F,
    Form,
    Op,
    S,
    row,
    types,
)


def _carried(m: Form, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The low bits of sums of Python integers, and the carry out."""
    low = (total & ((1 << m.t.bits) - 1)).astype(f"u{m.t.bits // 8}").view(m.t.dtype)
    return low, (total >> m.t.bits).astype(bool)


def _unsigned(m: Form, *values: np.ndarray) -> list[np.ndarray]:
    return [np.asarray(v).view(f"u{m.t.bits // 8}").astype(object) for v in values]


def carry_add(m: Form, a: np.ndarray, b: np.ndarray, c: Any = 0) -> tuple[np.ndarray, np.ndarray]:
    first, second = _unsigned(m, a, b)
    return _carried(m, first + second + np.asarray(c).astype(object))


def carry_subtract(m: Form, a: np.ndarray, b: np.ndarray, c: Any = 1) -> tuple[np.ndarray, np.ndarray]:
    """a - b as the adder computes it, a + ~b + 1: the flag is set where nothing is borrowed.

    One flag serves sums and differences, so `addc` after `sub.cc` counts what was not borrowed, and `subc` after
    `add.cc` takes one away where nothing was carried: NVIDIA's own division of 128-bit integers is made of both. "PTX
    ISA" leaves the flag's sense open ("borrow-out written to CC.CF"); ptxas folds and emits this one (IADD3.X of ~b).
    """
    return carry_add(m, a, ~b, c)


def _chain(m: Form, a: Value, b: Value, c: Value | None = None) -> tuple[Value, Value]:
    bits = 2 * m.t.bits
    total = a.to(f"i{bits}") + b.to(f"i{bits}")
    if c is not None:
        total = total + c.to(f"i{bits}")
    over = total >> m.t.bits
    return total.to(f"i{m.t.bits}"), over.ne(0)


def _chain_down(m: Form, a: Value, b: Value, c: Value | None = None) -> tuple[Value, Value]:
    return _chain(m, a, ~b, a.number("i1", 1) if c is None else c)


def _multiply_chain(high: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def numpy(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray, carry: Any = 0) -> tuple[np.ndarray, np.ndarray]:
        product = py.multiply_high(m, a, b) if high else a * b
        return carry_add(m, product, c, carry)

    def llvm(m: Form, a: Value, b: Value, c: Value, carry: Value | None = None) -> tuple[Value, Value]:
        product = ll.multiply_high(m, a, b) if high else a * b
        return _chain(m, product, c, carry)

    return numpy, llvm


def _first(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments)[0]


def _saturating(sign: int) -> Callable[..., Any]:
    def numpy(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.clip(a.astype(np.int64) + sign * b.astype(np.int64), -(2**31), 2**31 - 1).astype(np.int32)

    return numpy


def _then_add(
    product_numpy: Callable[..., Any], product_llvm: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def numpy(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return product_numpy(m, a, b) + c

    def llvm(m: Form, a: Value, b: Value, c: Value) -> Value:
        return product_llvm(m, a, b) + c

    return numpy, llvm


def _then_add_saturating(
    product_numpy: Callable[..., Any], product_llvm: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def numpy(m: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return _saturating(1)(m, product_numpy(m, a, b), c)

    def llvm(m: Form, a: Value, b: Value, c: Value) -> Value:
        return product_llvm(m, a, b).intrinsic("llvm.sadd.sat", c)

    return numpy, llvm


def _low(m: Form, a: Value, b: Value) -> Value:
    return a * b


def _signed_24(m: Form, a: np.ndarray) -> np.ndarray:
    if m.t.kind == "s":
        return (a << 8) >> 8
    return a & np.uint32(0xFFFFFF)


def _emit_24(m: Form, a: Value) -> Value:
    if m.t.kind == "s":
        return (a << 8).ashr(8)
    return a & 0xFFFFFF


def _low_24(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _signed_24(m, a) * _signed_24(m, b)


def _emit_low_24(m: Form, a: Value, b: Value) -> Value:
    return _emit_24(m, a) * _emit_24(m, b)


def _high_24(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Bits 16 to 47 of the product."""
    return (py.widen_multiply(m, _signed_24(m, a), _signed_24(m, b)) >> 16).astype(m.t.dtype)


def _emit_high_24(m: Form, a: Value, b: Value) -> Value:
    return (ll.widen_multiply(m, _emit_24(m, a), _emit_24(m, b)) >> 16).to("i32")


def _absolute_difference(m: Form, a: Value, b: Value, c: Value) -> Value:
    word = "s" if m.t.kind == "s" else "u"
    return a.compare(word + "lt", b).select(b - a, a - b) + c


def _bit_mask(m: Form, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = (np.minimum(x, 32).astype(np.uint64) if "clamp" in m.mods else (x & 31).astype(np.uint64) for x in (a, b))
    one = np.uint64(1)
    return ((((one << b) - one) << a) & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _emit_bit_mask(m: Form, a: Value, b: Value) -> Value:
    def limited(x: Value) -> Value:
        return (x.above(32).select(32, x) if "clamp" in m.mods else x & 31).to("i64")

    return ((1 << limited(b)) - 1 << limited(a)).to("i32")


def _plain(instruction: str) -> Callable[..., Any]:
    return lambda m, a, b: a.binary(instruction, b)


SIMD_FORMS = ("u32.u32", "s32.s32", "u32.s32", "s32.u32", "s32.s32.sat", "u32.u32.sat")
SUMS = {"add": lambda m, a, b: a + b, "sub": lambda m, a, b: a - b, "mul": lambda m, a, b: a * b}

mad_lo = _then_add(lambda m, a, b: a * b, _low)
mad_hi = _then_add(py.multiply_high, ll.multiply_high)
mad_wide = _then_add(py.widen_multiply, ll.widen_multiply)
madc_lo, madc_hi = _multiply_chain(False), _multiply_chain(True)
INT32 = types("u32 s32")

TABLE: tuple[Op, ...] = (
    # -- integer arithmetic
    row("add", INT + PAIRS, "t=t,t", lambda m, a, b: a + b, "add"),
    row("sub", INT, "t=t,t", lambda m, a, b: a - b, "sub"),
    row("add.sat", ["s32"], "t=t,t", _saturating(1), "@llvm.sadd.sat"),
    row("sub.sat", ["s32"], "t=t,t", _saturating(-1), "@llvm.ssub.sat"),
    row("mul.lo", INT, "t=t,t", lambda m, a, b: a * b, "mul"),
    row("mul.hi", INT, "t=t,t", py.multiply_high, ll.multiply_high),
    row("mul.wide", types("u16 s16 u32 s32"), "w=t,t", py.widen_multiply, ll.widen_multiply),
    row("mul24.lo", INT32, "t=t,t", _low_24, _emit_low_24),
    row("mul24.hi", INT32, "t=t,t", _high_24, _emit_high_24),
    row("mad24.lo", INT32, "t=t,t,t", *_then_add(_low_24, _emit_low_24)),
    row("mad24.hi", INT32, "t=t,t,t", *_then_add(_high_24, _emit_high_24)),
    row("mad24.hi.sat", ["s32"], "t=t,t,t", *_then_add_saturating(_high_24, _emit_high_24)),
    row("mad.lo", INT, "t=t,t,t", *mad_lo),
    row("mad.hi", INT, "t=t,t,t", *mad_hi),
    row("mad.hi.sat", ["s32"], "t=t,t,t", *_then_add_saturating(py.multiply_high, ll.multiply_high)),
    row("mad.wide", types("u16 s16 u32 s32"), "w=t,t,w", *mad_wide),
    row("div", INT, "t=t,t", py.divide, ll.divide),
    row("rem", INT, "t=t,t", py.remainder, ll.remainder),
    row("abs", S, "t=t", lambda m, a: np.abs(a), lambda m, a: a.intrinsic("llvm.abs", flag=False)),
    row("neg", S, "t=t", lambda m, a: np.array(0, a.dtype) - a, lambda m, a: -a),
    row("min", INT + PAIRS, "t=t,t", py.minimum, ll.minimum),
    row("max", INT + PAIRS, "t=t,t", py.maximum, ll.maximum),
    row("sad", INT, "t=t,t,t", lambda m, a, b, c: np.where(a < b, b - a, a - b) + c, _absolute_difference),
    row("add.cc", types("u32 s32 u64 s64 b32 b64"), "t,c=t,t", carry_add, _chain),
    row("addc", types("u32 s32 u64 s64"), "t=t,t,c", _first(carry_add), _first(_chain)),
    row("addc.cc", types("u32 s32 u64 s64"), "t,c=t,t,c", carry_add, _chain),
    row("sub.cc", types("u32 s32 u64 s64"), "t,c=t,t", carry_subtract, _chain_down),
    row("subc", types("u32 s32 u64 s64"), "t=t,t,c", _first(carry_subtract), _first(_chain_down)),
    row("subc.cc", types("u32 s32 u64 s64"), "t,c=t,t,c", carry_subtract, _chain_down),
    row("mad.lo.cc", types("u32 u64 s32 s64"), "t,c=t,t,t", *madc_lo),
    row("mad.hi.cc", types("u32 u64 s32 s64"), "t,c=t,t,t", *madc_hi),
    row("madc.lo", types("u32 u64 s32 s64"), "t=t,t,t,c", _first(madc_lo[0]), _first(madc_lo[1])),
    row("madc.hi", types("u32 u64 s32 s64"), "t=t,t,t,c", _first(madc_hi[0]), _first(madc_hi[1])),
    row("madc.lo.cc", types("u32 u64 s32 s64"), "t,c=t,t,t,c", *madc_lo),
    row("madc.hi.cc", types("u32 u64 s32 s64"), "t,c=t,t,t,c", *madc_hi),
    # -- bits
    row("and", (*BITS, "pred"), "t=t,t", lambda m, a, b: a & b, "and"),
    row("or", (*BITS, "pred"), "t=t,t", lambda m, a, b: a | b, "or"),
    row("xor", (*BITS, "pred"), "t=t,t", lambda m, a, b: a ^ b, "xor"),
    row("not", (*BITS, "pred"), "t=t", lambda m, a: ~a, lambda m, a: ~a),
    row("cnot", BITS, "t=t", lambda m, a: (a == 0).astype(a.dtype),
        lambda m, a: a.eq(0).to(f"i{m.t.bits}")),
    row("shl", BITS, "t=t,u32", py.shift_left, ll.shift_left),
    row("shr", INT + BITS, "t=t,u32", py.shift_right, ll.shift_right),
    row("shf", ["b32"], "t=t,t,u32", py.funnel, ll.funnel,
        "shf.l.wrap.{t} shf.l.clamp.{t} shf.r.wrap.{t} shf.r.clamp.{t}"),
    row("popc", types("b32 b64"), "u32=t", py.population, ll.population),
    row("clz", types("b32 b64"), "u32=t", py.leading_zeros, ll.leading_zeros),
    row("brev", types("b32 b64"), "t=t", py.reverse_bits, ll.reverse_bits),
    row("bfind", BIG, "u32=t", py.find_leading, ll.find_leading, "bfind.{t} bfind.shiftamt.{t}"),
    row("bfe", BIG, "t=t,u32,u32", py.extract, ll.extract),
    row("bfi", types("b32 b64"), "t=t,t,u32,u32", py.insert, ll.insert),
    row("bmsk", ["b32"], "t=t,t", _bit_mask, _emit_bit_mask, "bmsk.clamp.{t} bmsk.wrap.{t}"),
    row("prmt", ["b32"], "t=t,t,t", py.permute, ll.permute,
        "prmt.{t} prmt.{t}.f4e prmt.{t}.b4e prmt.{t}.rc8 prmt.{t}.ecl prmt.{t}.ecr prmt.{t}.rc16"),
    row("szext", INT32, "t=t,u32", parts.sign_extend, parts.emit_sign_extend,
        "szext.clamp.{t} szext.wrap.{t}"),
    row("fns", ["b32"], "b32=t,b32,b32", parts.find_nth, parts.emit_find_nth),
    row("lop3", ["b32"], "t=t,t,t,imm", py.lop3, ll.lop3, ()),
    # -- parts of a word
    row("dp4a", INT32, "b32=t,s,b32", parts.dot_bytes, parts.emit_dot_bytes, "dp4a.{t}.u32 dp4a.{t}.s32"),
    *[row(f"dp2a.{half}", INT32, "b32=t,s,b32", parts.dot_halves, parts.emit_dot_halves,
          f"dp2a.{half}.{{t}}.u32 dp2a.{half}.{{t}}.s32") for half in ("lo", "hi")],
    *[row(f"{name}{count}", INT32, "b32=b32,b32,b32", parts.simd(name, 32 // count), parts.emit_simd(name, 32 // count),
          " ".join(f"{name}{count}.{{t}}.{kinds}" for kinds in SIMD_FORMS)
          + (f" {name}{count}.{{t}}.u32.u32.add {name}{count}.{{t}}.s32.s32.add" if name == "vabsdiff" else ""))
      for name in parts.SIMD for count in (2, 4)],
    *[row(f"vset{count}", INT32, "b32=b32,b32,b32", parts.compare(32 // count), parts.emit_compare(32 // count),
          " ".join(f"vset{count}.{{t}}.{kind}.{word}" for kind in ("u32", "s32")
                   for word in ("lt", "eq", "ge.add"))) for count in (2, 4)],
    # -- moves, choices and comparisons
    row("mov", (*NUMBERS, "b8", "pred"), "t=t", lambda m, a: a, lambda m, a: a),
    row("selp", NUMBERS, "t=t,t,p", lambda m, a, b, c: np.where(c, a, b), lambda m, a, b, c: c.select(a, b)),
    row("slct", NUMBERS[:9] + F, "t=t,t,s", lambda m, a, b, c: np.where(c >= 0, a, b),
        lambda m, a, b, c: ll.compare(Form(m.s, m.s, ("ge",)), c, c.constant(0)).select(a, b),
        "slct.{t}.s32 slct.{t}.f32"),
    row("setp", NUMBERS, "p,p=s,s,p?", py.setp, ll.setp, ()),
    row("set", types("u32 s32 u16 s16 f32") + HALF, "t=s,s,p?", py.set_value, ll.set_value,
        "set.lt.{t}.f32 set.ge.{t}.s32"),
    row("testp", F, "p=t", py.test_property, ll.test_property,
        " ".join(f"testp.{w}.{{t}}" for w in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"])),
    # -- floating point
    *[row(name, F + HALF + SINGLES, "t=t,t", numpy_directed(name, meaning), llvm_directed(name, _plain("f" + name)),
          f"{name}.{{t}}", flops=1, directed=F) for name, meaning in SUMS.items()],
    row("fma", F + HALF + SINGLES, "t=t,t,t", numpy_directed("fma", py.fused), llvm_directed("fma", ll.fused),
        "fma.rn.{t}", flops=2, directed=F),
    row("mad", F, "t=t,t,t", numpy_directed("fma", py.fused), llvm_directed("fma", ll.fused), "mad.rn.{t}",
        flops=2, directed=F),
    row("div", F, "t=t,t", numpy_directed("div", lambda m, a, b: a / b), llvm_directed("div", _plain("fdiv")),
        "div.rn.{t}", directed=F),
    row("div.full", ["f32"], "t=t,t", lambda m, a, b: a / b, "fdiv", exact=False),
    row("div.approx", ["f32"], "t=t,t", lambda m, a, b: a / b, "fdiv", exact=False),
    row("rcp", F, "t=t", numpy_directed("rcp", lambda m, a: np.array(1, a.dtype) / a),
        llvm_directed("rcp", ll.reciprocal), "rcp.rn.{t}", directed=F),
    row("rcp.approx", F, "t=t", approximate.numpy_reciprocal, approximate.llvm_reciprocal,
        ("rcp.approx.ftz.{t}",), exact=False),
    row("sqrt", F, "t=t", numpy_directed("sqrt", lambda m, a: np.sqrt(a)),
        llvm_directed("sqrt", lambda m, a: a.intrinsic("llvm.sqrt")), "sqrt.rn.{t}", directed=F),
    row("sqrt.approx", ["f32"], "t=t", lambda m, a: np.sqrt(a), "@llvm.sqrt", exact=False),
    row("rsqrt.approx", F, "t=t", approximate.numpy_root, approximate.llvm_root,
        "rsqrt.approx.{t} rsqrt.approx.ftz.{t}", exact=False),
    row("sin.approx", ["f32"], "t=t", py.in_double(np.sin), "@llvm.sin", exact=False),
    row("cos.approx", ["f32"], "t=t", py.in_double(np.cos), "@llvm.cos", exact=False),
    row("ex2.approx", types("f32 f16 bf16 f16x2 bf16x2"), "t=t", py.in_double(np.exp2), ll.power_of_two, exact=False),
    row("lg2.approx", ["f32"], "t=t", py.in_double(np.log2), ll.logarithm, exact=False),
    row("tanh.approx", types("f32 f16 bf16 f16x2 bf16x2"), "t=t", py.in_double(np.tanh), ll.tangent, exact=False),
    row("abs", F + HALF, "t=t", lambda m, a: np.abs(a), "@llvm.fabs"),
    row("neg", F + HALF, "t=t", lambda m, a: -a, lambda m, a: -a),
    row("min", F + HALF, "t=t,t,t?", py.minimum, ll.minimum, "min.{t}"),
    row("max", F + HALF, "t=t,t,t?", py.maximum, ll.maximum, "max.{t}"),
    row("copysign", F, "t=t,t", lambda m, a, b: np.copysign(b, a),
        lambda m, a, b: b.copy_sign(a)),
    row("cvt", (*ANY_INT, *F, "f16", "bf16", "tf32"), "t=s", py.convert, convert, (), form_types=CONVERSIONS),
)  # fmt: skip
