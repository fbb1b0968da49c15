"""What the verifier accepts cannot leave its memory: hostile PTX is refused in words, or faults without the access.

`WALLS` are texts that no compiler writes, each refused before anything is made of it; `containment.ROWS` are well
formed and go wrong while they run, in a process of their own, in which a miss changes a secret, tells it, or crashes.
"""

import contextlib
import json
import subprocess
import sys

import pytest

from vgpu import ptx
from vgpu.base.errors import VirtualGPUError
from vgpu.launch import launch
from vgpu.ptx.verify import verify
from vgpu.tests.containment import BUFFER, HEAD, ROWS, VARIANTS, kernel

FUNCTION = ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }"
PASSES = "{{ .param .b{0} a; .param .b{1} r; st.param.b{0} [a], {2}; call (r), f, (a); }}"
MANY = ", ".join(["%r0"] * 1000)
# What is wrong -> (PTX, words of the refusal).
WALLS = {
    "a vector longer than .v2": (kernel("ld.global.v2.b32 {%r1, %r2, %r3, %r4}, [%d0];"), "a vector of 2"),
    "a store longer than .v4": (kernel("st.global.v4.b32 [%d0], {%r1, %r1, %r1, %r1, %r1};"), "a vector of 4"),
    "a vector without .v": (kernel("ld.global.b32 {%r1, %r2}, [%d0];"), "a register of 32 bits"),
    "parameters without .v": (kernel("ld.param.b64 {%d3, %d4, %d5}, [map];"), "a register of 64 bits"),
    "a thousand registers": (kernel(f"st.shared.b32 [buffer], {{{MANY}}};", inside=BUFFER), "a register"),
    "a vector in a vector": (kernel("mov.b64 %d3, " + "{" * 100_000), "begins no element"),
    "a narrow register": (kernel("ld.global.b64 %r1, [%d0];"), "a register of 64 bits"),
    "a wide register": (kernel("add.u32 %r1, %r0, %d0;"), "a register of 32 bits"),
    "a predicate as a number": (kernel("add.u32 %r1, %r0, %p0;"), "a register of 32 bits"),
    "a number as a predicate": (kernel("selp.u32 %r1, %r0, %r0, %r0;"), "a predicate"),
    "a 16-bit address": (kernel("ld.global.b32 %r1, [%h0];"), "an address"),
    "coordinates in memory": (kernel("ld.global.b32 %r1, [%d0, {%r0}];"), "an address"),
    "an unknown word": (kernel("ld.global.sideways.b32 %r1, [%d0];"), "does not know"),
    "a store to constants": (kernel("st.const.b32 [%d0], 1;"), "only read"),
    "a word twice": (kernel("ld.global.shared.b32 %r1, [%d0];"), "says both"),
    "an atomic with two values": (kernel("atom.global.add.u32 %r1, [%d0], 1, 2;"), "has 4 operands"),
    "cas with one value": (kernel("atom.global.cas.b32 %r1, [%d0], 1;"), "has 3 operands"),
    "a reduction with a result": (kernel("red.global.add.u32 %r1, [%d0], 1;"), "has 3 operands"),
    "an atomic of two operations": (kernel("atom.global.add.max.u32 %r1, [%d0], 1;"), "says both"),
    "a texel of eight": (
        kernel("tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%d1, {%f0}];"), "a vector of 4"),
    "a matrix of many registers": (
        kernel("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];"), "a vector of 1"),
    "a product of few registers": (
        kernel("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1}, {%r2}, "
               "{%f0, %f1, %f2, %f3};"), "a vector of 2"),
    "a shuffle of one operand": (kernel("shfl.sync.idx.b32 %r1, %r0;"), "has 2 operands"),
    "a barrier with a high number": (kernel("bar.sync 16;"), "0 to 15"),
    "a comparison with a third value": (kernel("setp.eq.u32 %p1, %r0, 1, %p0;"), "has 4 operands"),
    "what lowering makes of calls": (kernel("return;"), "no instruction of PTX"),
    "a frame": (kernel("frames;"), "no instruction of PTX"),
    "a wider argument": (kernel(PASSES.format(64, 32, "%d0"), FUNCTION), "which has 4"),
    "a wider result": (kernel(PASSES.format(32, 64, "1"), FUNCTION), "which has 4"),
    "a call of a kernel": (kernel("call k;"), "is a kernel"),
    "a parameter read across its end": (kernel("ld.param.b64 %d3, [map + 4];"), "leaves map"),
    "a parameter read crookedly": (kernel("ld.param.b32 %r1, [map + 2];"), "at byte 2"),
    "a parameter twice": (
        f"{HEAD}.visible .entry k(.param .b32 a, .param .b32 a) {{ ret; }}", "more than once"),
    "a parameter of negative size": (
        f"{HEAD}.visible .entry k(.param .b8 a[-64], .param .b32 b) {{ ret; }}", "-64 elements"),
    "a variable without end": (kernel("", ".global .b8 a[0x7fffffffffffffff];"), "no variable"),
    "dimensions that multiply": (kernel("", inside=".local .b8 a[65536][65536];"), "no variable"),
    "an alignment of 0": (kernel("", inside=".shared .align 0 .b8 a[4];"), "a power of two"),
    "an alignment of 24": (kernel("", inside=".shared .align 24 .b8 a[4];"), "a power of two"),
    "an address in a byte": (kernel("", ".global .b8 a[4]; .global .b8 b[1] = {a};"), "takes 8 bytes"),
    "a register twice": (kernel("", inside=".reg .b32 %x; .reg .b64 %x;"), "declared twice"),
    "a label twice": (kernel("L: L: bra L;"), "more than once"),
    "registers without end": (kernel("", inside=".reg .b32 %x<200000>, %y<200000>;"), "registers is no kernel"),
    "braces without end": (kernel("{" * 1000 + "}" * 1000), "deep in one another"),
    "a name of other letters": (kernel("", inside=".reg .b32 %é;"), "unexpected character"),
    "a name that is code": (kernel('call "x() { ret }";'), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WALLS)
def test_what_is_not_exactly_ptx_is_refused_in_words(name):
    text, words = WALLS[name]
    with pytest.raises(VirtualGPUError) as caught:
        for one in launch.load(text, language="cuda").values():
            one.compiled()
    assert words in str(caught.value)


# Instruction -> the last target without it and the first with it, as ptxas 12.9 has it.
TARGETS = {
    "setmaxnreg.inc.sync.aligned.u32 64;": ("sm_120", "sm_90a"),
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%d0], 1;": ("sm_90", "sm_90a"),
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [%d1], 128;": (
        "sm_89",
        "sm_90",
    ),
    "redux.sync.add.u32 %r1, %r0, -1;": ("sm_75", "sm_80"),
    "redux.sync.min.f32 %f0, %f0, -1;": ("sm_120", "sm_100a"),
    "cp.async.wait_all;": ("sm_75", "sm_80"),
    "cp.async.bulk.commit_group;": ("sm_89", "sm_90"),
    "mbarrier.arrive.noComplete.shared.b64 %d3, [%r0], 2;": ("sm_75", "sm_80"),
    "mbarrier.arrive.shared.b64 %d3, [%r0], 2;": ("sm_89", "sm_90"),
    "elect.sync %r1|%p1, -1;": ("sm_89", "sm_90"),
    "atom.global.add.v2.f32 {%f0, %f1}, [%d0], {%f0, %f1};": ("sm_89", "sm_90"),
    "ld.global.v4.b64 {%d3, %d4, %d5, %d6}, [%d0];": ("sm_90", "sm_100"),
    "add.f32x2 %d3, %d3, %d3;": ("sm_90", "sm_100"),
    "add.rn.bf16 %h1, %h1, %h1;": ("sm_89", "sm_90"),
    "fma.rn.bf16 %h1, %h1, %h1, %h1;": ("sm_75", "sm_80"),
    "min.xorsign.abs.f32 %f0, %f0, %f0;": ("sm_80", "sm_86"),
    "min.f32 %f0, %f0, %f0, %f0;": ("sm_90", "sm_100"),
    "cvt.rn.bf16.f32 %h1, %f0;": ("sm_75", "sm_80"),
    "cvt.f64.bf16 %d3, %h1;": ("sm_89", "sm_90"),
    "cvt.rn.f16x2.e4m3x2 %r1, %h1;": ("sm_86", "sm_89"),
    "cvt.rn.f16x2.e2m3x2 %r1, %h1;": ("sm_120", "sm_100a"),
}


@pytest.mark.parametrize("instruction", TARGETS)
def test_an_instruction_is_taken_for_the_targets_that_have_it(instruction):
    without, first = TARGETS[instruction]
    text = kernel(instruction)
    for target in (first, without):
        module = ptx.parse(text.replace("sm_90", target))
        with contextlib.nullcontext() if target == first else pytest.raises(ptx.PTXSyntaxError, match=f"{first} "):
            verify(module, module.functions["k"])


@pytest.fixture(scope="module")
def outcomes():
    """What the rows came to, by row and variant; an empty outcome where the process died."""
    done = subprocess.run(
        [sys.executable, "-m", "vgpu.tests.containment"], capture_output=True, text=True, timeout=500, check=False
    )
    return {(one["row"], one["variant"]): one for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", ROWS)
def test_a_fault_is_not_followed_by_the_access(outcomes, name):
    for variant in VARIANTS:
        found = outcomes.get((name, variant), {})
        assert "changed" in found, f"the process died in {variant} code"
        assert not found["changed"] and not found["told"], variant
        wanted = ROWS[name][1]
        if wanted is not None:
            assert ("VirtualGPUError" if variant == "watched" else wanted) in found["error"], (variant, found["words"])
