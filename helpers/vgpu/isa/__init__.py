"""The table of PTX instructions: what each one takes, what it means in NumPy, how it is written in LLVM.

One row an instruction. To add an instruction, add a row: the reference interpreter, the compiler and the tests
that compare the two read nothing else. Meanings follow NVIDIA's "PTX ISA" manual, section "Instruction Set".

Instructions that move data between lanes or to memory, or that change the flow of control, have no arithmetic
meaning; their rows say only what `kind` they are, and both engines have one function for each kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from helpers.vgpu.isa import in_llvm as ll
from helpers.vgpu.isa import in_numpy as py
from helpers.vgpu.isa.directed import WORDS as DIRECTED
from helpers.vgpu.isa.directed import llvm_directed, numpy_directed


@dataclass(frozen=True)
class Type:
    """A PTX type: bits, kind (u, s, b integers; f float; h 16-bit float; p predicate) and NumPy dtype.

    Meanings of f16 and bf16 see float32 (`dtype`), and what they return is rounded to 16 bits.
    """

    name: str
    bits: int
    kind: str
    dtype: np.dtype

    @property
    def is_float(self) -> bool:
        return self.kind in "fh"

    @property
    def limits(self) -> tuple[int, int]:
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)


TYPES: dict[str, Type] = {
    name: Type(name, bits, kind, np.dtype(dtype))
    for name, bits, kind, dtype in [
        ("pred", 1, "p", bool),
        *[(f"{k}{b}", b, k, f"{'i' if k == 's' else 'u'}{b // 8}") for k in "bus" for b in (8, 16, 32, 64)],
        ("f16", 16, "h", np.float32), ("bf16", 16, "h", np.float32),
        ("f32", 32, "f", np.float32), ("f64", 64, "f", np.float64),
        ("tf32", 32, "f", np.float32),
    ]
}  # fmt: skip
PACKED = {"f16x2": "f16", "bf16x2": "bf16"}


@dataclass(frozen=True)
class Form:
    """An instruction as a meaning sees it: its type `t`, the type `s` of its sources, and its modifiers."""

    t: Type
    s: Type
    mods: tuple[str, ...]

    @property
    def wide(self) -> Type:
        return TYPES[f"{self.t.kind}{self.t.bits * 2}"]

    @property
    def has_comparison(self) -> bool:
        """Whether one of the modifiers is a comparison that the type of the sources has."""
        table = ll.FLOAT_COMPARE if self.s.is_float else ll.INTEGER_COMPARE
        return any(word in table for word in self.mods)

    @property
    def compare(self) -> str:
        return next(word for word in self.mods if word in ll.FLOAT_COMPARE or word in ll.INTEGER_COMPARE)

    def pick(self, choices: dict, default=None):
        """The entry of `choices` that one of the modifiers names."""
        return next((choices[word] for word in self.mods if word in choices), default)


@dataclass(frozen=True)
class Op:
    """A row: opcode, the modifiers that must be there, types, signature, and the two meanings.

    `signature` is "outputs=inputs": t the instruction's type, s the type of its sources (where it names two), w twice
    as wide, p a predicate, u32 as it says, c the carry flag; a trailing `?` marks an operand that may be missing.
    `llvm` is a function of (emitter, form, values), the name of an LLVM instruction, or "@" and an intrinsic.
    `forms` spell the instruction for the tests, `{t}` standing for each type. `flops` counts as Nsight does.
    """

    opcode: str
    needs: tuple[str, ...]
    types: tuple[str, ...]
    signature: str
    numpy: Callable
    llvm: Callable | str
    forms: tuple[str, ...]
    flops: int = 0
    exact: bool = True  # False: results may differ from correct rounding, as the .approx forms do on a GPU
    form_types: tuple[tuple[str, str], ...] | None = None  # pairs (t, s) for instructions that name two types
    directed: tuple[str, ...] = ()  # types for which .rz, .rm and .rp are known

    @property
    def name(self) -> str:
        return ".".join((self.opcode, *self.needs))

    @property
    def outputs(self) -> list[str]:
        return self.signature.split("=")[0].split(",")

    @property
    def inputs(self) -> list[str]:
        found = self.signature.split("=")[1]
        return found.split(",") if found else []


def types(text: str) -> tuple[str, ...]:
    return tuple(text.split())


U, S = types("u16 u32 u64"), types("s16 s32 s64")
INT, BIG, BITS = U + S, types("u32 s32 u64 s64"), types("b16 b32 b64")
ANY_INT = INT + types("u8 s8")
F = types("f32 f64")
HALF = types("f16 bf16 f16x2 bf16x2")
NUMBERS = INT + types("b16 b32 b64") + F + types("f16 bf16")

INT_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
FLOAT_COMPARISONS = (*INT_COMPARISONS, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
CONVERSIONS = tuple(
    (t, s) for t in (*ANY_INT, *F, "f16", "bf16") for s in (*ANY_INT, *F, "f16", "bf16") if "bf16" not in (t, s)
)  # fmt: skip


def row(name, kinds, signature, numpy, llvm, forms=None, **more) -> Op:
    opcode, *needs = name.split(".")
    forms = tuple(forms.split()) if isinstance(forms, str) else forms
    return Op(opcode, tuple(needs), tuple(kinds), signature, numpy, llvm, forms or (f"{name}.{{t}}",), **more)


def _carried(m, total):
    """The low bits of sums of Python integers, and whether they went beyond the type, as unsigned numbers do."""
    low = (total & ((1 << m.t.bits) - 1)).astype(f"u{m.t.bits // 8}").view(m.t.dtype)
    return low, (total >> m.t.bits).astype(bool)


def _unsigned(m, *values):
    return [np.asarray(v).view(f"u{m.t.bits // 8}").astype(object) for v in values]


def carry_add(m, a, b, c=0):
    a, b = _unsigned(m, a, b)
    return _carried(m, a + b + np.asarray(c).astype(object))


def carry_subtract(m, a, b, c=0):
    a, b = _unsigned(m, a, b)
    return _carried(m, a - b - np.asarray(c).astype(object))


def _chain(op):
    def llvm(e, m, a, b, c=None):
        bits = 2 * m.t.bits
        total = e.bin(op, e.resize(a, bits), e.resize(b, bits))
        if c is not None:
            total = e.bin(op, total, e.resize(c, bits))
        over = e.bin("lshr", total, e.const(total.type, m.t.bits))
        return e.resize(total, m.t.bits), e.icmp("ne", over, e.const(total.type, 0))

    return llvm


def _multiply_chain(high):
    def numpy(m, a, b, c, carry=0):
        product = py.multiply_high(m, a, b) if high else a * b
        return carry_add(m, product, c, carry)

    def llvm(e, m, a, b, c, carry=None):
        product = ll.multiply_high(e, m, a, b) if high else e.bin("mul", a, b)
        return _chain("add")(e, m, product, c, carry)

    return numpy, llvm


def _first(function):
    return lambda *arguments: function(*arguments)[0]


def _saturating(sign):
    def numpy(m, a, b):
        return np.clip(a.astype(np.int64) + sign * b.astype(np.int64), -(2**31), 2**31 - 1).astype(np.int32)

    return numpy


def _then_add(product_numpy, product_llvm, wide=False):
    def numpy(m, a, b, c):
        return product_numpy(m, a, b) + c

    def llvm(e, m, a, b, c):
        return e.bin("add", product_llvm(e, m, a, b), c)

    return numpy, llvm


def _low(e, m, a, b):
    return e.bin("mul", a, b)


def _signed_24(m, a):
    if m.t.kind == "s":
        return (a << 8) >> 8
    return a & np.uint32(0xFFFFFF)


def _emit_24(e, m, a):
    if m.t.kind == "s":
        return e.bin("ashr", e.bin("shl", a, e.const("i32", 8)), e.const("i32", 8))
    return e.bin("and", a, e.const("i32", 0xFFFFFF))


def _absolute_difference(e, m, a, b, c):
    word = "s" if m.t.kind == "s" else "u"
    return e.bin("add", e.select(e.icmp(word + "lt", a, b), e.bin("sub", b, a), e.bin("sub", a, b)), c)


def _bit_mask(m, a, b):
    a, b = (np.minimum(x, 32).astype(np.uint64) if "clamp" in m.mods else (x & 31).astype(np.uint64) for x in (a, b))
    one = np.uint64(1)
    return ((((one << b) - one) << a) & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _emit_bit_mask(e, m, a, b):
    def limited(x):
        if "clamp" in m.mods:
            x = e.select(e.icmp("ugt", x, e.const("i32", 32)), e.const("i32", 32), x)
        else:
            x = e.bin("and", x, e.const("i32", 31))
        return e.resize(x, 64)

    one = e.const("i64", 1)
    return e.resize(e.bin("shl", e.bin("sub", e.bin("shl", one, limited(b)), one), limited(a)), 32)


def _plain(instruction: str):
    return lambda e, m, a, b: e.bin(instruction, a, b)


SUMS = {"add": lambda m, a, b: a + b, "sub": lambda m, a, b: a - b, "mul": lambda m, a, b: a * b}

mad_lo = _then_add(lambda m, a, b: a * b, _low)
mad_hi = _then_add(py.multiply_high, ll.multiply_high)
mad_wide = _then_add(py.widen_multiply, ll.widen_multiply)
madc_lo, madc_hi = _multiply_chain(False), _multiply_chain(True)
INT32 = types("u32 s32")

TABLE: tuple[Op, ...] = (
    # -- integer arithmetic
    row("add", INT, "t=t,t", lambda m, a, b: a + b, "add"),
    row("sub", INT, "t=t,t", lambda m, a, b: a - b, "sub"),
    row("add.sat", ["s32"], "t=t,t", _saturating(1), "@llvm.sadd.sat"),
    row("sub.sat", ["s32"], "t=t,t", _saturating(-1), "@llvm.ssub.sat"),
    row("mul.lo", INT, "t=t,t", lambda m, a, b: a * b, "mul"),
    row("mul.hi", INT, "t=t,t", py.multiply_high, ll.multiply_high),
    row("mul.wide", types("u16 s16 u32 s32"), "w=t,t", py.widen_multiply, ll.widen_multiply),
    row("mul24.lo", INT32, "t=t,t", lambda m, a, b: _signed_24(m, a) * _signed_24(m, b),
        lambda e, m, a, b: e.bin("mul", _emit_24(e, m, a), _emit_24(e, m, b))),
    row("mad.lo", INT, "t=t,t,t", *mad_lo),
    row("mad.hi", INT, "t=t,t,t", *mad_hi),
    row("mad.wide", types("u16 s16 u32 s32"), "w=t,t,w", *mad_wide),
    row("div", INT, "t=t,t", py.divide, ll.divide),
    row("rem", INT, "t=t,t", py.remainder, ll.remainder),
    row("abs", S, "t=t", lambda m, a: np.abs(a), lambda e, m, a: e.intrinsic("llvm.abs", a, tail=", i1 false")),
    row("neg", S, "t=t", lambda m, a: np.array(0, a.dtype) - a, lambda e, m, a: e.neg(a)),
    row("min", INT, "t=t,t", py.minimum, ll.minimum),
    row("max", INT, "t=t,t", py.maximum, ll.maximum),
    row("sad", INT, "t=t,t,t", lambda m, a, b, c: np.where(a < b, b - a, a - b) + c, _absolute_difference),
    row("add.cc", types("u32 s32 u64 s64 b32 b64"), "t,c=t,t", carry_add, _chain("add")),
    row("addc", types("u32 s32 u64 s64"), "t=t,t,c", _first(carry_add), _first(_chain("add"))),
    row("addc.cc", types("u32 s32 u64 s64"), "t,c=t,t,c", carry_add, _chain("add")),
    row("sub.cc", types("u32 s32 u64 s64"), "t,c=t,t", carry_subtract, _chain("sub")),
    row("subc", types("u32 s32 u64 s64"), "t=t,t,c", _first(carry_subtract), _first(_chain("sub"))),
    row("subc.cc", types("u32 s32 u64 s64"), "t,c=t,t,c", carry_subtract, _chain("sub")),
    row("mad.lo.cc", types("u32 u64 s32 s64"), "t,c=t,t,t", *madc_lo),
    row("mad.hi.cc", types("u32 u64 s32 s64"), "t,c=t,t,t", *madc_hi),
    row("madc.lo", types("u32 u64 s32 s64"), "t=t,t,t,c", *map(_first, madc_lo)),
    row("madc.hi", types("u32 u64 s32 s64"), "t=t,t,t,c", *map(_first, madc_hi)),
    row("madc.lo.cc", types("u32 u64 s32 s64"), "t,c=t,t,t,c", *madc_lo),
    row("madc.hi.cc", types("u32 u64 s32 s64"), "t,c=t,t,t,c", *madc_hi),
    # -- bits
    row("and", (*BITS, "pred"), "t=t,t", lambda m, a, b: a & b, "and"),
    row("or", (*BITS, "pred"), "t=t,t", lambda m, a, b: a | b, "or"),
    row("xor", (*BITS, "pred"), "t=t,t", lambda m, a, b: a ^ b, "xor"),
    row("not", (*BITS, "pred"), "t=t", lambda m, a: ~a, lambda e, m, a: e.flip(a)),
    row("cnot", BITS, "t=t", lambda m, a: (a == 0).astype(a.dtype),
        lambda e, m, a: e.resize(e.icmp("eq", a, e.const(a.type, 0)), m.t.bits)),
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
    row("prmt", ["b32"], "t=t,t,t", py.permute, ll.permute),
    row("lop3", ["b32"], "t=t,t,t,imm", py.lop3, ll.lop3, ()),
    # -- moves, choices and comparisons
    row("mov", (*NUMBERS, "b8", "pred"), "t=t", lambda m, a: a, lambda e, m, a: a),
    row("selp", NUMBERS, "t=t,t,p", lambda m, a, b, c: np.where(c, a, b), lambda e, m, a, b, c: e.select(c, a, b)),
    row("slct", NUMBERS[:9] + F, "t=t,t,s", lambda m, a, b, c: np.where(c >= 0, a, b),
        lambda e, m, a, b, c: e.select(ll.compare(e, Form(m.s, m.s, ("ge",)), c, e.const(c.type, 0)), a, b),
        "slct.{t}.s32 slct.{t}.f32"),
    row("setp", NUMBERS, "p,p=s,s,p?", py.setp, ll.setp, ()),
    row("set", types("u32 s32 u16 s16 f32") + HALF, "t=s,s,p?", py.set_value, ll.set_value,
        "set.lt.{t}.f32 set.ge.{t}.s32"),
    row("testp", F, "p=t", py.test_property, ll.test_property,
        " ".join(f"testp.{w}.{{t}}" for w in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"])),
    # -- floating point
    *[row(name, F + HALF, "t=t,t", numpy_directed(name, meaning), llvm_directed(name, _plain("f" + name)),
          f"{name}.{{t}}", flops=1, directed=F) for name, meaning in SUMS.items()],
    row("fma", F + HALF, "t=t,t,t", numpy_directed("fma", py.fused), llvm_directed("fma", ll.fused), "fma.rn.{t}",
        flops=2, directed=("f32",)),
    row("mad", F, "t=t,t,t", numpy_directed("fma", py.fused), llvm_directed("fma", ll.fused), "mad.rn.{t}",
        flops=2, directed=("f32",)),
    row("div", F, "t=t,t", numpy_directed("div", lambda m, a, b: a / b), llvm_directed("div", _plain("fdiv")),
        "div.rn.{t}", directed=("f32",)),
    row("div.full", ["f32"], "t=t,t", lambda m, a, b: a / b, "fdiv", exact=False),
    row("div.approx", ["f32"], "t=t,t", lambda m, a, b: a / b, "fdiv", exact=False),
    row("rcp", F, "t=t", numpy_directed("rcp", lambda m, a: np.array(1, a.dtype) / a),
        llvm_directed("rcp", ll.reciprocal), "rcp.rn.{t}", directed=("f32",)),
    row("rcp.approx", F, "t=t", lambda m, a: np.array(1, a.dtype) / a, ll.reciprocal,
        ("rcp.approx.ftz.{t}",), exact=False),
    row("sqrt", F, "t=t", numpy_directed("sqrt", lambda m, a: np.sqrt(a)),
        llvm_directed("sqrt", lambda e, m, a: e.intrinsic("llvm.sqrt", a)), "sqrt.rn.{t}", directed=("f32",)),
    row("sqrt.approx", ["f32"], "t=t", lambda m, a: np.sqrt(a), "@llvm.sqrt", exact=False),
    row("rsqrt.approx", F, "t=t", py.in_double(lambda a: 1 / np.sqrt(a)), ll.reciprocal_root, exact=False),
    row("sin.approx", ["f32"], "t=t", py.in_double(np.sin), "@llvm.sin", exact=False),
    row("cos.approx", ["f32"], "t=t", py.in_double(np.cos), "@llvm.cos", exact=False),
    row("ex2.approx", types("f32 f16 bf16 f16x2 bf16x2"), "t=t", py.in_double(np.exp2), ll.power_of_two, exact=False),
    row("lg2.approx", ["f32"], "t=t", py.in_double(np.log2), ll.logarithm, exact=False),
    row("tanh.approx", types("f32 f16 bf16 f16x2 bf16x2"), "t=t", py.in_double(np.tanh), ll.tangent, exact=False),
    row("abs", F + HALF, "t=t", lambda m, a: np.abs(a), "@llvm.fabs"),
    row("neg", F + HALF, "t=t", lambda m, a: -a, lambda e, m, a: e.neg(a)),
    row("min", F + HALF, "t=t,t", py.minimum, ll.minimum, "min.{t}"),
    row("max", F + HALF, "t=t,t", py.maximum, ll.maximum, "max.{t}"),
    row("copysign", F, "t=t,t", lambda m, a, b: np.copysign(b, a),
        lambda e, m, a, b: e.intrinsic("llvm.copysign", b, a)),
    row("cvt", (*ANY_INT, *F, "f16", "bf16"), "t=s", py.convert, ll.convert, (), form_types=CONVERSIONS),
)  # fmt: skip

# Instructions without arithmetic: opcode -> kind, the name of the function that both engines have for it.
KINDS: dict[str, str] = {
    "ld": "load", "ldu": "load", "st": "store", "atom": "atomic", "red": "atomic", "cvta": "address",
    "isspacep": "inspect", "bra": "branch", "ret": "leave", "exit": "leave", "trap": "trap", "brkpt": "trap",
    "call": "call", "bar": "barrier", "barrier": "barrier", "membar": "fence", "fence": "fence",
    "shfl": "shuffle", "vote": "vote", "activemask": "vote", "match": "match", "redux": "redux", "elect": "elect",
    "nanosleep": "fence", "prefetch": "fence", "prefetchu": "fence", "discard": "fence", "applypriority": "fence",
    "pmevent": "fence", "griddepcontrol": "fence", "setmaxnreg": "fence",
    "inlined": "fence",  # what is left of a call and its return once the function stands in their place
    **dict.fromkeys(("wmma", "mma", "ldmatrix", "stmatrix", "movmatrix"), "tensor"),
    "alloca": "unsupported", "cp": "copy", "createpolicy": "policy", "mbarrier": "mbarrier",
    "tex": "texture", "tld4": "texture", "suld": "surface", "sust": "surface",
    "txq": "texture_query", "suq": "texture_query",
}  # fmt: skip

_BY_OPCODE: dict[str, list[Op]] = {}
for _op in TABLE:
    _BY_OPCODE.setdefault(_op.opcode, []).append(_op)


@dataclass(frozen=True)
class Match:
    """The row for an instruction, its form, and whether it works on two halves packed in 32 bits."""

    op: Op
    form: Form
    packed: bool


def match(opcode: str, modifiers: tuple[str, ...]) -> Match | None:
    """The row that an instruction means, or None where the table has none."""
    candidates = _BY_OPCODE.get(opcode, ())
    named = [word for word in modifiers if word in TYPES or word in PACKED]
    if not named or not candidates:
        return None
    # `cvt.f32.s32`, `set.lt.u32.f32` and `slct.f32.s32` name the result's type first, then the source's.
    t = named[0]
    source = named[-1]
    if opcode == "set" and source in PACKED and t in ("u32", "s32"):
        # `set.gt.u32.f16x2` gives two masks of 16 bits.
        return Match(candidates[0], Form(TYPES["u16"], TYPES[PACKED[source]], tuple(modifiers)), True)
    fits = [op for op in candidates if t in op.types and set(op.needs) <= set(modifiers)]
    if not fits:
        return None
    op = max(fits, key=lambda op: len(op.needs))
    if TYPES[PACKED.get(t, t)].is_float and set(modifiers) & set(DIRECTED) and opcode != "cvt" and t not in op.directed:
        return None
    packed = t in PACKED
    return Match(op, Form(TYPES[PACKED.get(t, t)], TYPES[PACKED.get(source, source)], tuple(modifiers)), packed)


def operand_type(symbol: str, form: Form) -> Type:
    """The type of one operand of a signature."""
    symbol = symbol.rstrip("?")
    if symbol in _FROM_FORM:
        return _FROM_FORM[symbol](form)
    return _FIXED.get(symbol) or TYPES[symbol]


_FROM_FORM = {"t": lambda form: form.t, "s": lambda form: form.s, "w": lambda form: form.wide}
_FIXED = {"p": TYPES["pred"], "c": TYPES["pred"], "imm": TYPES["b32"]}
