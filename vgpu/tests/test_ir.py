"""LLVM IR written in Python: what operators become, and what conditions and loops do."""

from __future__ import annotations

import ctypes
import itertools

import pytest

from vgpu.ir import Builder, Value
from vgpu.ir.value import V32, constant
from vgpu.runtime import jit

_number = itertools.count()


def run(write, *given: int) -> int:
    """What `write(builder, *values)` gives, of i64 and as one."""
    ir, name = Builder(), f"test_ir_{next(_number)}"
    ir.give(write(ir, *(ir.named("i64", f"a{i}") for i in range(len(given)))))
    parameters = ", ".join(f"i64 %a{i}" for i in range(len(given)))
    address = jit.compile_ir(f"define i64 @{name}({parameters}) {{\n{ir.body()}\n}}\n", (name,))[name]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(given))(address)(*given)


def line(write, *kinds: str) -> str:
    """The last instruction that `write(*values)` makes of values of these types, without the name of its result."""
    ir = Builder()
    write(*(ir.named(kind, f"x{i}") for i, kind in enumerate(kinds)))
    return ir.lines[-1].partition(" = ")[2]


@pytest.mark.parametrize(("write", "kinds", "expected"), [
    (lambda a, b: a + b, ("i32", "i32"), "add i32 %x0, %x1"),
    (lambda a, b: a + b, ("float", "float"), "fadd float %x0, %x1"),
    (lambda a: 1 - a, ("i32",), "sub i32 1, %x0"),
    (lambda a: 1 / a, ("double",), "fdiv double 0x3FF0000000000000, %x0"),
    (lambda a: -a, ("float",), "fneg float %x0"),
    (lambda a: -a, ("i64",), "sub i64 0, %x0"),
    (lambda a: ~a, ("i1",), "xor i1 %x0, true"),
    (lambda a: a >> 3, ("i16",), "lshr i16 %x0, 3"),
    (lambda a: a.ashr(-1), ("i16",), "ashr i16 %x0, 65535"),
    (lambda a: a.below(2), ("i32",), "icmp ult i32 %x0, 2"),
    (lambda a: a.below(2, signed=True), ("i32",), "icmp slt i32 %x0, 2"),
    (lambda a: a.below(2), ("float",), "fcmp olt float %x0, 0x4000000000000000"),
    (lambda a: a.ne(0), ("float",), "fcmp une float %x0, 0x0000000000000000"),
    (lambda c, a: c.select(a, 0), ("i1", "i32"), "select i1 %x0, i32 %x1, i32 0"),
    (lambda a: a.to("i64", signed=True), ("<4 x i8>",), "sext <4 x i8> %x0 to <4 x i64>"),
    (lambda a: a.to("ptr"), ("i64",), "inttoptr i64 %x0 to ptr"),
    (lambda a: a.intrinsic("llvm.cttz", flag=True), ("i32",), "call i32 @llvm.cttz.i32(i32 %x0, i1 true)"),
    (lambda a: a.reduce("umin"), ("<8 x i32>",), "call i32 @llvm.vector.reduce.umin.v8i32(<8 x i32> %x0)"),
])  # fmt: skip
def test_operators_follow_the_type(write, kinds, expected):
    assert line(write, *kinds) == expected


def test_a_scalar_beside_a_vector_is_broadcast_and_stays_scalar_alone():
    assert line(lambda a, b: a * b, V32, "i32").startswith(f"mul {V32} %x0, %v")
    assert line(lambda a, b: a * b, "i32", "i32") == "mul i32 %x0, %x1"
    chosen = line(lambda c, a: c.select(a, 7), "<2 x i1>", "i32")
    assert chosen == "select <2 x i1> %x0, <2 x i32> %v2, <2 x i32> <i32 7, i32 7>"


def test_select_needs_a_type():
    with pytest.raises(TypeError, match=r"give one of them a type with number\(\)"):
        line(lambda c: c.select(1, 0), "i1")


@pytest.mark.parametrize(("kind", "number", "text"), [
    ("i8", -1, "255"), ("i1", 1, "true"), ("float", -0.0, "0x8000000000000000"), ("half", 1.5, "0xH3E00"),
    ("<2 x i8>", 3, "<i8 3, i8 3>"), ("<2 x float>", 0.0, "zeroinitializer"), ("ptr", "null", "null"),
    ("<2 x float>", -0.0, "<float 0x8000000000000000, float 0x8000000000000000>"),
])  # fmt: skip
def test_constants(kind, number, text):
    assert constant(kind, number) == text


@pytest.mark.parametrize("op", ["or", "add", "xor"])
def test_bits_joined_under_masks_are_fenced(op):
    """See `Value.fence`: LLVM gets some of them wrong otherwise."""
    joined = lambda a, b: (a & 1).binary(op, b & ~1)
    assert line(joined, V32, V32).startswith("bitcast <32 x float>")
    assert line(joined, "i32", "i32").startswith(f"{op} i32")


def test_a_call_declares_what_it_calls():
    ir = Builder()
    found = ir.call("i32", "there", ir.i32(1), ir.null())
    assert (str(found), ir.declarations) == ("i32 %v1", {"declare i32 @there(i32, ptr)"})
    ir.call("i32", "llvm.ctpop.i32", found)
    assert len(ir.declarations) == 1


def _powers(ir: Builder, a: Value) -> Value:
    total = ir.variable("i64", 0)
    with ir.count_to(a) as i, ir.once() as leave:
        leave(i.eq(2))
        total.add(1 << i)
    return total.get()


def test_conditions_and_loops():
    def at_most_nine(ir: Builder, a: Value) -> Value:
        found = ir.variable("i64", a)
        with ir.when(a.above(9)):
            found.set(9)
        return found.get()

    assert [run(at_most_nine, a) for a in (3, 9, 200, -1)] == [3, 9, 9, 9]
    assert [run(_powers, a) for a in (0, 2, 5)] == [0, 3, 27]


def test_each_lane_whose_bit_is_set():
    def numbers(ir: Builder, a: Value) -> Value:
        found = ir.variable("i64", 0)
        with ir.each(a.to("i32")) as lane:
            found.set((found.get() << 8) + lane)
        return found.get()

    assert run(numbers, 1 << 3 | 1 << 17 | 1 << 31) == 3 << 16 | 17 << 8 | 31


def test_each_group_of_lanes_with_one_number():
    def groups(ir: Builder, a: Value) -> Value:
        found = ir.variable("i64", 0)
        values = ir.each_lane("i64", [lane // 10 for lane in range(32)])
        with ir.each_group(values, a.to("i32")) as (value, lanes, first):
            found.set((found.get() << 16) + value * 4096 + ir.many(lanes).to("i64") * 64 + first)
        return found.get()

    assert run(groups, 1 << 4 | 1 << 7 | 1 << 30) == (2 * 64 + 4) << 16 | 3 * 4096 + 64 + 30
