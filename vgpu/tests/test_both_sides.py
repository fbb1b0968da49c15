"""Short branches, whose sides run one after the other without the dispatcher: results, counts and paths stay."""

import struct

import numpy as np
import pytest

from vgpu import reference
from vgpu.launch import launch
from vgpu.lower import both_sides, flow
from vgpu.storage import memory

N = 96
# Each thread has x = in[i] in %x and y = i in %y; what %x and %y are at the end, it adds up.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b32 %x; .reg .b32 %y; .reg .b32 %n; .reg .b64 %d<8>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %y, %r2, %r3, %r1;
  mul.wide.u32 %d3, %y, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3; ld.global.u32 %x, [%d1];
  mov.u32 %n, 0;
  {body}
  add.s32 %x, %x, %y; st.global.u32 [%d2], %x; ret;
}}"""
ODD = "and.b32 %r4, %x, 1; setp.eq.s32 %p1, %r4, 1;"
BODIES = {
    "a skip": f"{ODD} @%p1 bra J; add.s32 %y, %y, 7; J:",
    "two sides": f"{ODD} @%p1 bra A; shr.u32 %x, %x, 1; bra J; A: mad.lo.s32 %x, %x, 3, 1; J:",
    "a register that only one side writes": f"{ODD} @%p1 bra A; add.s32 %x, %x, %n; bra J; A: mov.u32 %y, 5; J:",
    "a guard inside": f"""{ODD} setp.gt.u32 %p2, %x, 40; @%p1 bra A; @%p2 mov.u32 %x, 3; bra J;
        A: @!%p2 neg.s32 %y, %x; J:""",
    "a chain of jumps": f"{ODD} @%p1 bra A; bra B; A: xor.b32 %x, %x, %y; bra J; B: bra C; C: not.b32 %x, %x; J:",
    "a loop around it, which lanes leave one by one": f"""L: {ODD} @%p1 bra A; shr.u32 %x, %x, 1; bra J;
        A: mad.lo.s32 %x, %x, 3, 1; J: add.s32 %y, %y, 1; setp.gt.u32 %p2, %x, 1; @%p2 bra L;""",
    "lanes that left before": f"setp.lt.u32 %p2, %x, 30; @%p2 ret; {ODD} @%p1 bra J; add.s32 %y, %y, 7; J:",
    "one inside the other": f"""{ODD} @%p1 bra J; setp.lt.u32 %p2, %x, 50; @%p2 bra K; mov.u32 %x, 9;
        K: add.s32 %y, %y, 4; J:""",
    "a predicate that is read where the sides meet": f"""{ODD} setp.eq.s32 %p2, %y, 3; @%p1 bra J;
        setp.lt.u32 %p2, %x, 50; J: selp.b32 %x, %x, %n, %p2;""",
}  # fmt: skip


def ran(text, how, **options):
    (kernel,) = launch.load(text, language="ptx", filename="kernel.ptx", source=text).values()
    given, out = memory.array(N, np.uint32), memory.array(N, np.uint32)
    given[:], out[:] = np.random.default_rng(4).integers(2, 99, N), 0
    counters = how(kernel, 3, 32, [struct.pack("<Q", memory.owner(x).address) for x in (given, out)], **options)
    return out.tolist(), counters


@pytest.mark.parametrize("name", BODIES)
def test_short_branches_change_neither_results_nor_counts(name, monkeypatch):
    text, told = KERNEL.format(body=BODIES[name]), []
    (expected, _) = ran(text, lambda kernel, grid, block, params: reference.run(kernel, None, grid, block, params))
    assert ran(text, launch.launch)[0] == expected
    with_both = ran(text, launch.launch, observe=True, watched=(1, 0))
    monkeypatch.setattr(both_sides, "SHORT", 0)
    for out, counters in (with_both, ran(text, launch.launch, observe=True, watched=(1, 0))):
        assert out == expected
        told.append((counters.lines, counters.total, list(counters.path.steps())))
    assert told[0] == told[1]
    assert with_both[1].total["divergent_branches"], "lanes that don't part test nothing"


def test_a_branch_to_the_next_instruction_parts_no_lanes():
    text = KERNEL.format(body=f"{ODD} @%p1 bra J; J: add.s32 %y, %y, 7;")
    expected, _ = ran(text, lambda kernel, grid, block, params: reference.run(kernel, None, grid, block, params))
    out, counters = ran(text, launch.launch, observe=True)
    assert out == expected
    assert not counters.total["divergent_branches"]


def found(text):
    (kernel,) = launch.load(text, language="ptx", filename="kernel.ptx", source=text).values()
    analysed = flow.analyse(kernel.function.body, kernel.function.registers)
    return both_sides.short_branches(analysed)


@pytest.mark.parametrize("name", BODIES)
def test_the_branches_are_short(name):
    assert found(KERNEL.format(body=BODIES[name]))


OTHERS = {
    "a side that is the beginning of a loop": """setp.lt.u32 %p2, %x, 30; @%p2 bra J; A: add.s32 %y, %y, 2; J:
        add.s32 %n, %n, 1; setp.lt.u32 %p3, %n, %r1; @%p3 bra A;""",
    "a side that two branches share": f"""{ODD} setp.gt.u32 %p2, %x, 40; @%p1 bra A; @%p2 bra B; bra C;
        A: @%p2 bra B; bra C; B: add.s32 %x, %x, 3; C:""",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_side_that_lanes_reach_another_way_is_left_to_the_dispatcher(name):
    text = KERNEL.format(body=OTHERS[name])
    assert not found(text)


LONG = {
    "a load": "ld.global.u32 %x, [%d1];",
    "a clock": "mov.u32 %x, %clock;",
    "many instructions": "add.s32 %x, %x, 1;" * (both_sides.SHORT + 1),
    "a barrier": "bar.warp.sync -1;",
}


@pytest.mark.parametrize("name", LONG)
def test_sides_that_do_more_are_left_to_the_dispatcher(name):
    assert not found(KERNEL.format(body=f"{ODD} @%p1 bra J; {LONG[name]} J:"))
