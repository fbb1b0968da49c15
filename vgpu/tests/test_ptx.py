"""The PTX parser: what it keeps, and what it refuses."""

from __future__ import annotations

import contextlib
import struct

import pytest

from vgpu import ptx
from vgpu.compile import cuda_c_to_ptx
from vgpu.ptx import Imm, Instruction, Mem, Not, Pair, PTXSyntaxError, Reg, Special, Sym, Vec
from vgpu.ptx.lines import line_of, line_table
from vgpu.ptx.verify import verify

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<9>; .reg .b64 %rd<9>;"


def body(text: str, parameters: str = "") -> list[Instruction]:
    module = ptx.parse(f"{HEAD}.visible .entry k({parameters}) {{\n{text}\n}}")
    return [s for s in module.functions["k"].body if isinstance(s, Instruction)]


def one(text: str):
    (instruction,) = body(REGISTERS + text)
    return instruction


def test_opcode_modifiers_and_operands():
    found = one("@!%p1 add.rn.ftz.f32 %f1, %f2, 0f3F800000;")
    assert (found.opcode, found.modifiers) == ("add", ("rn", "ftz", "f32"))
    assert found.operands == (Reg("%f1"), Reg("%f2"), Imm(0x3F800000, "f32"))
    assert found.guard == Not(Reg("%p1"))
    assert str(found) == "add.rn.ftz.f32"


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("mov.u32 %r1, 0x1F;", Imm(31)),
        ("mov.u32 %r1, 0b101;", Imm(5)),
        ("mov.u32 %r1, 017;", Imm(15)),
        ("mov.u32 %r1, 42U;", Imm(42)),
        ("mov.u32 %r1, -7;", Imm(-7)),
        ("mov.f64 %rd1, 0d3FF0000000000000;", Imm(0x3FF0000000000000, "f64")),
        ("mov.f32 %f1, -0f3F800000;", Imm(0xBF800000, "f32")),
        ("mov.f64 %rd1, 1.5;", Imm(struct.unpack("<Q", struct.pack("<d", 1.5))[0], "f64")),
        ("mov.u32 %r1, %tid.x;", Special("%tid.x")),
        ("mov.u32 %r1, %laneid;", Special("%laneid")),
        ("mov.b64 %rd1, {%r1, %r2};", Vec((Reg("%r1"), Reg("%r2")))),
        ("mov.u64 %rd1, table;", Sym("table")),
        ("mov.u64 %rd1, table+8;", Sym("table", 8)),
        ("ld.global.u32 %r1, [%rd1+16];", Mem(Reg("%rd1"), 16)),
        ("ld.global.u32 %r1, [%rd1+-4];", Mem(Reg("%rd1"), -4)),
        ("ld.global.u32 %r1, [table+4];", Mem(Sym("table"), 4)),
        ("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", Not(Reg("%p3"))),
    ],
)
def test_every_kind_of_operand(text, operand):
    assert one(text).operands[-1] == operand


def test_pairs_vectors_and_sinks():
    assert one("setp.lt.s32 %p1|%p2, %r1, %r2;").operands[0] == Pair(Reg("%p1"), Reg("%p2"))
    assert one("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;").operands[0] == Pair(Reg("%r1"), Reg("%p1"))
    target = one("ld.global.v4.f32 {%f1, _, %f3, %f4}, [%rd1];").operands[0]
    assert target == Vec((Reg("%f1"), None, Reg("%f3"), Reg("%f4")))


def test_calls():
    (call,) = (i.operands[0] for i in body(
        ".param .b32 p0; .param .b32 r0; call.uni (r0), f, (p0);"
    ) if i.opcode == "call")  # fmt: skip
    assert call.target == Sym("f") and call.returns == ("r0",) and call.arguments == ("p0",)


def test_inner_names_hide_outer_ones():
    found = body("""
        .reg .b32 %a;
        mov.b32 %a, 1;
        { .reg .b32 %a; mov.b32 %a, 2; bra L; L: mov.b32 %a, 3; }
        { .reg .b32 %a; bra L; L: mov.b32 %a, 4; }
        mov.b32 %a, 5;
    """)
    names = [i.operands[0].name for i in found if i.opcode == "mov"]
    assert names[0] == names[4] == "%a"
    assert names[1] == names[2] and len({names[0], names[1], names[3]}) == 3
    targets = [i.operands[0].name for i in found if i.opcode == "bra"]
    assert targets[0] != targets[1], "labels of two scopes are two labels"


def test_a_list_of_labels_stands_in_place_of_its_name():
    found = body(f"""{REGISTERS}
        A: .branchtargets B, C; @%p1 brx.idx %r1, A;
        {{ A: .branchtargets D, B; D: brx.idx.uni %r1, A; }}
        B: C: ret;
    """)
    first, second = (i.operands for i in found if i.opcode == "brx")
    assert first == (Reg("%r1"), Vec((Sym("B"), Sym("C"))))
    assert second[1].items[1] == Sym("B") and second[1].items[0] != Sym("D"), "D belongs to the inner scope"


@pytest.mark.parametrize(
    "text",
    ["brx.idx %r1, L;", "L: brx.idx %r1, L;", "L: .branchtargets M; brx.idx %r1, L;", "brx.idx %r1;",
     "L: .branchtargets M; M: brx.idx %p1, L;", "L: .branchtargets M; M: brx %r1, L;",
     "M: brx.idx %r1, L; L: .branchtargets M;", "L: .branchtargets %r1; brx.idx %r1, L;"],
)  # fmt: skip
def test_branches_to_one_of_no_labels_are_refused(text):
    module = ptx.parse(f"{HEAD}.visible .entry k() {{ {REGISTERS} {text} }}")
    with pytest.raises(PTXSyntaxError, match="brx"):
        verify(module, module.kernels["k"])


def test_variables_have_sizes_alignments_and_initial_bytes():
    module = ptx.parse(
        HEAD
        + """
        .const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};
        .global .align 8 .u64 pointer = generic(table)+4;
        .global .f32 number = 1.5;
        .shared .align 16 .b8 tile[512];
        .extern .shared .align 16 .b8 dynamic[];
        .global .v4 .f32 four;
    """
    )
    table = module.variables["table"]
    assert (table.space, table.align, table.nbytes) == ("const", 4, 8)
    assert table.init == bytes([1, 0, 0, 0, 2, 0, 0, 0])
    assert module.variables["pointer"].relocations == ((0, "table", 4),)
    assert module.variables["number"].init == struct.pack("<f", 1.5)
    assert module.variables["tile"].nbytes == 512
    assert module.variables["dynamic"].external and module.variables["dynamic"].nbytes == 0
    assert module.variables["four"].nbytes == 16


def test_parameters_registers_and_directives():
    module = ptx.parse(
        HEAD
        + """
        .visible .entry k(.param .u64 a, .param .align 8 .b8 s[24], .param .f32 x)
        .maxntid 256, 1, 1
        .minnctapersm 2
        { .reg .b32 %r<3>; .reg .pred %p; ret; }
    """
    )
    kernel = module.kernels["k"]
    assert [(p.name, p.nbytes, p.align) for p in kernel.parameters] == [("a", 8, 8), ("s", 24, 8), ("x", 4, 4)]
    assert kernel.registers == {"%r0": "b32", "%r1": "b32", "%r2": "b32", "%p": "pred"}
    assert kernel.directives["maxntid"] == (256, 1, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [("add.s32 %r1, %r2, ; ret;", 5), ("add.s32 %r1 %r2;", 5), ("\n\nadd.s32 %r1, ?;", 7), (".reg .v2 .b32 %v;", 5)],
)
def test_errors_name_the_line_of_the_ptx(text, line):
    with pytest.raises(PTXSyntaxError, match=f"line {line} "):
        ptx.parse(f"{HEAD}.entry k() {{ .reg .b32 %r<4>;\n{text}\n}}")


@pytest.mark.parametrize(
    "text",
    [
        "ld.param.b32 %r1, [a+8];",
        "ld.param.b32 %r1, [a-4];",
        "ld.param.b32 %r1, [s+65536];",
        "ld.param::entry.b32 %r1, [s+24];",
        "ld.param.v4.b32 {%r0, %r1, %r2, %r3}, [s+12];",
        "{ .param .b32 p; st.param.b32 [p+4], %r1; }",
    ],
)
def test_what_leaves_a_parameter_is_refused(text):
    """What lies behind the parameters is the host's."""
    inside = "ld.param.b32 %r1, [a+4]; ld.param.v2.b32 {%r0, %r1}, [s+16];"
    for body, wrong in ((inside, False), (text, True)):
        head = ".visible .entry k(.param .u64 a, .param .align 4 .b8 s[24])"
        module = ptx.parse(f"{HEAD}{head} {{ .reg .b32 %r<4>; {body} ret; }}")
        with pytest.raises(PTXSyntaxError, match="leaves") if wrong else contextlib.nullcontext():
            verify(module, module.kernels["k"])


def test_what_cannot_be_parsed_is_refused():
    with pytest.raises(PTXSyntaxError, match="declared nowhere"):
        body("@%q bra L; L: ret;")
    with pytest.raises(PTXSyntaxError, match="in registers"):
        ptx.parse(f"{HEAD}.func f(.reg .b32 a) {{ ret; }}")
    with pytest.raises(PTXSyntaxError, match="64-bit"):
        ptx.parse(".version 8.5\n.target sm_80\n.address_size 32\n")


SOURCE = """#include <cuda_fp16.h>
__device__ float square(float v) {
    return v * v;
}
extern "C" __global__ void k(float* x, __half* h) {
    x[threadIdx.x] = square(x[threadIdx.x]);
    h[threadIdx.x] = __hadd(h[threadIdx.x], h[threadIdx.x]);
}"""


def test_positions_lead_to_the_user_lines():
    module = ptx.parse(cuda_c_to_ptx(SOURCE).ptx)
    kernel = module.kernels["k"]
    assert "kernel.cu" in module.files.values()
    lines = dict(zip(kernel.body, line_table(module, kernel, "kernel.cu"), strict=True))
    of = lambda opcode, *words: {
        line
        for s, line in lines.items()
        if isinstance(s, Instruction) and s.opcode == opcode and set(words) <= set(s.modifiers)
    }  # fmt: skip
    assert of("mul", "f32") == {3}, "inlined, but from the user's file"
    assert of("st", "global", "f32") == {6}
    assert of("add", "f16") <= {7} and of("add", "f16"), "a header's code counts for the line that uses it"
    assert None not in lines.values()


def test_line_zero_belongs_to_the_line_before():
    module = ptx.parse(HEAD + '.entry k() { .reg .b32 %r<2>;\n.loc 1 4 0\nmov.b32 %r0, 1;\n'
                       '.loc 1 0 0\nmov.b32 %r1, 2;\n.loc 1 6 0\nret; }\n.file 1 "a.cu"\n')  # fmt: skip
    assert line_table(module, module.kernels["k"], "a.cu") == (4, 4, 6)
    assert line_of(None, {1}) is None
