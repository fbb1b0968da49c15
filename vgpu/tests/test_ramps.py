"""Lanes that are evenly apart, kept as the first of them: the same results, counts and errors as lane by lane."""

import random
import struct

import numpy as np
import pytest

from vgpu import reference
from vgpu.base.errors import KernelError
from vgpu.ir import Builder
from vgpu.ir.ramp import Bounded, Ramp
from vgpu.launch import launch
from vgpu.lower import lower
from vgpu.storage import memory

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b32 %a<{count}>; .reg .b64 %d<9>; .reg .b64 %w<{count}>;
  .shared .align 8 .b8 s[4096];
  ld.param.u64 %d1, [out]; ld.param.u32 %r8, [n];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r6, %tid.y; mov.u32 %r7, %ntid.y;
  mad.lo.s32 %r4, %r2, %r7, %r6; mad.lo.s32 %r4, %r4, %r3, %r1; mad.lo.s32 %a0, %r2, %r3, %r1;
  mul.wide.u32 %d2, %r4, {size}; add.s64 %d1, %d1, %d2;
  {body}
  ret;
}}"""
SHAPES = [(32,), (96,), (40,), (32, 3), (16, 4), (64, 2)]


def ran(text, how, block, size, **options):
    (kernel,) = launch.load(text, language="ptx", filename="kernel.ptx", source=text).values()
    block = (*block, 1, 1)[:3]
    out = memory.array(2 * int(np.prod(block)) * size, np.uint64)
    out[:] = 0
    given = [struct.pack("<Q", memory.owner(out).address), struct.pack("<I", 7)]
    counters = how(kernel, 2, block, given, **options)
    return out.tolist(), counters


def by_reference(kernel, grid, block, params):
    return reference.run(kernel, None, grid, block, params)


def expression(dice, count):
    """PTX that makes `count` registers of 64 bits, each a few operations away from the thread's index."""
    lines, short, wide = [], ["%r1", "%a0", "%r6"], []
    kinds = ("add", "sub", "mul", "shl", "shr", "and", "mad", "uniform")
    constants = (0, 1, 3, 4, 5, 31, 32, 63, 255, -1, -32, 1 << 16, 0x7FFFFFF0, -(1 << 31))
    for number in range(1, count):
        name, source, constant = f"%a{number}", dice.choice(short), dice.choice(constants)
        match dice.choice(kinds):
            case "mul":
                lines.append(f"mul.lo.s32 {name}, {source}, {constant};")
            case "shl" | "shr" as op:
                kind = "b32" if op == "shl" else dice.choice(("u32", "s32"))
                lines.append(f"{op}.{kind} {name}, {source}, {dice.choice((0, 2, 5, 6, 23, 31))};")
            case "and":
                lines.append(f"and.b32 {name}, {source}, {constant};")
            case "mad":
                lines.append(f"mad.lo.s32 {name}, {source}, {constant}, {dice.choice(short)};")
            case "uniform":
                lines.append(f"{dice.choice(('add', 'sub', 'mul.lo'))}.s32 {name}, {source}, %r8;")
            case op:
                lines.append(f"{op}.s32 {name}, {source}, {dice.choice([constant, *short])};")
        if dice.random() < 0.2:  # the value crosses basic blocks
            lines.append(f"setp.lt.u32 %p1, %r1, {dice.choice((0, 5, 40))}; @%p1 bra L{number}; L{number}:")
        short.append(name)
        way = dice.choice(("cvt.u64.u32 {w}, {a};", "cvt.s64.s32 {w}, {a};", "mul.wide.s32 {w}, {a}, 4;",
                           "mul.wide.u32 {w}, {a}, 12;"))  # fmt: skip
        lines.append(way.format(w=f"%w{number}", a=name))
        if wide and dice.random() < 0.5:
            lines.append(f"{dice.choice(('add.s64', 'sub.s64'))} %w{number}, %w{number}, {dice.choice(wide)};")
        wide.append(f"%w{number}")
    return "\n  ".join([*lines, *(f"st.global.u64 [%d1+{8 * at}], {name};" for at, name in enumerate(wide))])


def both_agree(body, count):
    """Both engines store the same `count - 1` numbers of each thread, in blocks of all shapes."""
    text = HEAD.format(body=body, count=count, size=8 * (count - 1))
    for block in SHAPES:
        expected, _ = ran(text, by_reference, block, count - 1)
        assert ran(text, launch.launch, block, count - 1)[0] == expected, block


@pytest.mark.parametrize("seed", range(24))
def test_random_arithmetic_of_indices(seed):
    both_agree(expression(random.Random(seed), 16), 16)


SOURCES = (
    "mov.u32 {a}, %r1;", "sub.s32 {a}, %r1, 16;", "shl.b32 {a}, %r1, 2;", "mul.lo.s32 {a}, %r1, 3;",
    "mad.lo.s32 {a}, %r1, 8, -100;", "sub.s32 {a}, 9, %r1;", "add.s32 {a}, %r1, %r8;", "mov.u32 {a}, %a0;",
    "add.s32 {a}, %r1, 0x7FFFFFF0;", "mul.lo.s32 {a}, %r1, 0x8000000;", "mov.u32 {a}, %r6;",
    "mov.u32 {a}, %laneid; sub.s32 {a}, {a}, 16; shl.b32 {a}, {a}, 27;",
)  # fmt: skip


def comparisons(dice, count):
    """PTX that makes `count` registers of 64 bits, each the results of some comparisons of a number of the thread."""
    lines = []
    for number in range(1, count):
        lines += [dice.choice(SOURCES).format(a=f"%a{number}"), f"cvt.s64.s32 %d3, %a{number}; mov.u64 %w{number}, 0;"]
        for bit in range(8):
            kind = dice.choice(("s32", "u32", "s64", "u64", "b32", "s16"))
            words = ("eq", "ne") if kind[0] == "b" else ("lt", "le", "gt", "ge", "eq", "ne")
            constant = str(dice.choice((-100, -17, -1, 0, 1, 5, 16, 20, 31, 32, 33, 64, 127, 1 << 30, 15 << 27)))
            name, bound = {"64": ("%d3", "%d4"), "32": (f"%a{number}", "%r5"), "16": ("%h1", "%h2")}[kind[-2:]]
            lines += [f"mov.b{kind[-2:]} {bound}, {constant};"] + ["cvt.u16.u32 %h1, %r1;"] * (name == "%h1")
            if kind == "s32" and dice.random() < 0.3:
                bound = "%r8"
            pair = dice.sample((name, bound), 2)
            lines += [f"setp.{dice.choice(words)}.{kind} %p1, {', '.join(pair)};"]
            lines += [f"selp.b64 %d5, {1 << bit}, 0, %p1; or.b64 %w{number}, %w{number}, %d5;"]
    ends = [f"st.global.u64 [%d1+{8 * at}], %w{at + 1};" for at in range(count - 1)]
    return "\n  ".join([".reg .b16 %h<3>;", *lines, *ends])


@pytest.mark.parametrize("seed", range(16))
def test_random_comparisons_of_indices(seed):
    both_agree(comparisons(random.Random(seed), 12), 12)


ACCESSES = {
    "a row of shared memory": "mul.wide.u32 %d3, %r1, 4; mov.u64 %d5, s; add.s64 %d4, %d5, %d3;"
    "st.shared.u32 [%d4], %r1; bar.sync 0; ld.shared.u32 %r5, [%d4];",
    "the lanes above the first": "setp.eq.u32 %p1, %r1, 0; @%p1 bra J; shl.b32 %r5, %r1, 2; mov.u32 %a1, s;"
    "add.s32 %a1, %a1, %r5; st.shared.u32 [%a1-4], %r1; ld.shared.u32 %r5, [%a1-4]; J:",
    "every other lane": "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; shl.b32 %a1, %r1, 2; mov.u32 %a2, s;"
    "add.s32 %a1, %a1, %a2; mov.u32 %r5, 9; @%p1 st.shared.u32 [%a1], %r1; @%p1 ld.shared.u32 %r5, [%a1];",
    "8 bytes a lane": "mul.wide.u32 %d3, %r1, 8; mov.u64 %d4, s; add.s64 %d4, %d4, %d3; st.shared.u64 [%d4], %d3;"
    "ld.shared.u64 %d5, [%d4]; cvt.u32.u64 %r5, %d5;",
    "half a warp, 8 bytes a lane": "mul.wide.u32 %d3, %r1, 8; mov.u64 %d4, s; add.s64 %d4, %d4, %d3; mov.u32 %r5, 1;"
    "setp.lt.u32 %p1, %r1, 16; @!%p1 bra J; st.shared.u64 [%d4], %d3; ld.shared.u64 %d5, [%d4];"
    "cvt.u32.u64 %r5, %d5; J:",
    "a row of global memory": "mul.wide.u32 %d3, %r4, 8; ld.param.u64 %d4, [out]; add.s64 %d4, %d4, %d3;"
    "st.global.u64 [%d4], %d3; ld.global.u64 %d5, [%d4]; cvt.u32.u64 %r5, %d5;",
    "a generic address": "mul.wide.u32 %d3, %r1, 4; mov.u64 %d4, s; cvta.shared.u64 %d4, %d4; add.s64 %d4, %d4, %d3;"
    "st.u32 [%d4], %r1; ld.u32 %r5, [%d4];",
    "a loop": "mov.u32 %a1, 0; mov.u32 %r5, 0; L: add.s32 %a2, %r1, %a1; mul.wide.u32 %d3, %a2, 4; mov.u64 %d4, s;"
    "add.s64 %d4, %d4, %d3; st.shared.u32 [%d4], %a2; ld.shared.u32 %a3, [%d4]; add.s32 %r5, %r5, %a3;"
    "add.s32 %a1, %a1, 3; setp.lt.u32 %p1, %a1, 40; @%p1 bra L;",
}  # fmt: skip


@pytest.mark.parametrize("name", ACCESSES)
def test_accesses_side_by_side_give_and_count_the_same(name, monkeypatch):
    text = HEAD.format(body=ACCESSES[name] + " st.global.u32 [%d1], %r5;", count=4, size=8)
    for block in SHAPES:
        expected, _ = ran(text, by_reference, block, 1)
        short, counters = ran(text, launch.launch, block, 1, observe=True)
        with monkeypatch.context() as patch:
            patch.setattr(launch, "in_rows", lambda grid, block: False)
            long, counted = ran(text, launch.launch, block, 1, observe=True)
        assert short == long == expected
        assert (counters.lines, counters.total) == (counted.lines, counted.total)


@pytest.mark.parametrize("offset", [4096 - 32 * 4 + 4, 4096, -4, 1 << 30])
def test_what_lies_outside_is_reported_as_before(offset, monkeypatch):
    body = f"shl.b32 %r5, %r1, 2; mov.u32 %a1, s; add.s32 %a1, %a1, %r5; st.shared.u32 [%a1+{offset}], %r1;"
    text = HEAD.format(body=body, count=2, size=8)
    told = []
    for rows in (True, False):
        monkeypatch.setattr(launch, "in_rows", lambda grid, block, rows=rows: rows)
        with pytest.raises(KernelError) as caught:
            ran(text, launch.launch, (32,), 1)
        told.append(str(caught.value))
    assert told[0] == told[1]


def lowered(body):
    text = HEAD.format(body=body, count=4, size=8)
    (kernel,) = launch.load(text, language="ptx", filename="kernel.ptx", source=text).values()
    return lower(kernel.module.module, kernel.function, {}, "k", True, rows=True).text


def test_a_comparison_with_a_scalar_takes_no_vector():
    text = lowered("setp.lt.u32 %p1, %r1, %r8; @%p1 st.shared.u32 [s], %r8;")
    assert "icmp ult <32" not in text


def test_a_row_takes_one_address():
    text = lowered(ACCESSES["a row of shared memory"])
    assert "@wb_c_shared_row_store32(" in text and "@wb_c_shared_row_load32(" in text


@pytest.mark.parametrize(
    ("body", "is_row"),
    [
        ("sub.s32 %a1, %r1, 1; mul.wide.s32 %d3, %a1, 4;", True),
        ("sub.s32 %a1, %r1, 1; mul.wide.u32 %d3, %a1, 4;", False),  # lane 0 wraps around
        ("mad.lo.s32 %a1, %r1, %r8, %r1; mul.wide.s32 %d3, %a1, 4;", False),  # nobody knows the step
        ("add.s32 %a1, %r1, %r8; mul.wide.s32 %d3, %a1, 4;", False),  # … or whether it wraps around
        ("and.b32 %a1, %r1, 31; mul.wide.u32 %d3, %a1, 4;", True),
        ("shr.u32 %a1, %r1, 5; add.s32 %a1, %a1, %r1; mul.wide.u32 %d3, %a1, 4;", True),
        ("shr.u32 %a1, %r1, 4; add.s32 %a1, %a1, %r1; mul.wide.u32 %d3, %a1, 4;", False),
    ],
)
def test_only_what_cannot_wrap_around_is_widened(body, is_row):
    text = lowered(f"ld.param.u64 %d4, [out]; {body} add.s64 %d3, %d3, %d4; st.global.u32 [%d3], %r1;")
    assert ("@wb_c_global_row_store32(" in text) == is_row


def test_bounds_are_those_of_the_type():
    ir = Builder()
    index = Ramp(ir.named("i32", "first"), 1, (0, 1023), whole_warps=True)
    assert (index * 4 + 1).bounds == (1, 4093)
    assert (index - 1).bounds == (-1, 1022)
    assert (index * (1 << 22)).bounds is None  # beyond 31 bits
    assert isinstance(index.to("i64"), Ramp) and not isinstance((index - 1).to("i64"), Ramp)
    assert isinstance((index - 1).to("i64", signed=True), Ramp)
    assert (index >> 10).text == "0" and (index & -1024).text == "0"
    assert not (index >> 5).vector and (index & 31).bounds == (0, 31)
    assert (index - index).step == 0 if isinstance(index - index, Ramp) else not (index - index).vector
    assert (Bounded(ir.named("i32", "blocks"), (0, 99)) * 10 + 9).bounds == (9, 999)
