"""Hostile PTX that is well formed, run by every variant of both engines in a process that may die (`test_containment`).

`python -m vgpu.tests.containment` prints one line of JSON for each row and variant: what came of it, and whether the
secret beside the kernel's memory was changed or found its way into the kernel's array.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import struct
import sys

import numpy as np

from vgpu import reference
from vgpu.base.errors import VirtualGPUError
from vgpu.launch import launch
from vgpu.storage import memory, tensor_map
from vgpu.tools.sanitize import run as watched

HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
REGISTERS = """.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<24>; .reg .b64 %d<16>; .reg .f32 %f<8>;
ld.param.b64 %d0, [out]; ld.param.b64 %d1, [secret]; ld.param.b64 %d2, [map];
mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
"""
FILLER, WORDS = 0x5EC2E700, 64  # what stands in every word of the secret, and how many words the kernel's array has


def kernel(body: str, before: str = "", inside: str = "") -> str:
    """A kernel of an array `out`, the address of a secret that is none of its business, and a tensor map."""
    parameters = ".param .b64 out, .param .b64 secret, .param .b64 map"
    return f"{HEAD}{before}\n.visible .entry k({parameters})\n{{\n{inside}\n{REGISTERS}\n{body}\nret;\n}}\n"


BUFFER = ".shared .align 128 .b8 buffer[1024]; .shared .align 8 .b64 bar;"
KEEP = "ld.shared.b32 %r9, [buffer]; st.global.b32 [%d0], %r9;"
EXTERN = {
    "free": ".extern .func free(.param .b64 a);",
    "vprintf": ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);",
}
TENSOR_LOAD = """@%p0 bra DONE; mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%d2, {0, 0}], [bar];"""
TENSOR_WAIT = f"""mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; {KEEP} DONE:"""
POINTER = (
    ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }\n"
    ".global .b64 table[1] = {f};"
)
CALL = """{ .param .b32 a; .param .b32 r; st.param.b32 [a], 1;
prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
call (r), %d1, (a), prototype; }"""
DEEP = """.func f(.param .b32 a) { .reg .b32 %x; .local .b8 room[512]; .reg .b64 %y;
mov.u64 %y, room; ld.param.b32 %x, [a]; st.local.b32 [%y], %x; { .param .b32 b; st.param.b32 [b], %x; call f, (b); }
ld.local.b32 %x, [%y]; ret; }"""
# Name -> (PTX, the error's class, or None where it may run as long as it leaves the secret alone).
ROWS: dict[str, tuple[str, str | None]] = {
    "load": (kernel("ld.global.b32 %r1, [%d1]; st.global.b32 [%d0], %r1;"), "OutOfBounds"),
    "store of vectors": (kernel("st.global.v4.b32 [%d1], {%r0, %r0, %r0, %r0};"), "OutOfBounds"),
    "vector over the end": (kernel("ld.global.v2.b64 {%d3, %d4}, [%d0 + 248];"), "OutOfBounds"),
    "sum that wraps": (kernel("ld.global.b32 %r1, [%d0 + -256]; st.global.b32 [%d0], %r1;"), "OutOfBounds"),
    "atomic": (kernel("atom.global.add.u32 %r1, [%d1], 1;"), "OutOfBounds"),
    "reduction of halves": (kernel("red.global.add.noftz.f16x2 [%d1], %r0;"), "OutOfBounds"),
    "shared, negative": (kernel("ld.shared.b32 %r1, [buffer + -4];", inside=BUFFER), "OutOfBounds"),
    "local, negative": (
        kernel("mov.u64 %d5, room; st.local.b32 [%d5 + -4], 7;", inside=".local .b8 room[16];"), "OutOfBounds"),
    "asynchronous copy": (
        kernel(f"cp.async.ca.shared.global [buffer], [%d1], 16; cp.async.wait_all; {KEEP}", inside=BUFFER),
        "OutOfBounds"),
    "part of an asynchronous copy": (
        kernel(f"cp.async.ca.shared.global [buffer], [%d1], 16, 8; cp.async.wait_all; {KEEP}", inside=BUFFER),
        "OutOfBounds"),
    "asynchronous copy beyond shared memory": (
        kernel("cp.async.ca.shared.global [buffer + 0x7ffffff0], [%d0], 16; cp.async.wait_all;", inside=BUFFER),
        "OutOfBounds"),
    "matrix far beyond shared memory": (  # what lies above the 32 bits of an address is cut off, as it is for `ld`
        kernel(
            "mov.u64 %d5, buffer; add.u64 %d5, %d5, 0x700000000000;\nwmma.load.c.sync.aligned.row.m16n16k16.shared.f32 "
            "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%d5], 16;", inside=BUFFER), None),
    "matrix rows": (
        kernel("cvta.shared.u64 %d5, buffer; add.u64 %d5, %d5, 0x100000000;\n"
               "ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%d5];", inside=BUFFER),"OutOfBounds"),
    "mbarrier": (kernel("mov.u32 %r1, 0xfffffff8; mbarrier.init.shared.b64 [%r1], 1;", inside=BUFFER), "OutOfBounds"),
    "bulk copy": (
        kernel("mbarrier.init.shared.b64 [bar], 1; mov.u32 %r1, 0xfffffff0; "
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%d0], %r1, [bar];",
               inside=BUFFER), "OutOfBounds"),
    "tensor map that changes": (
        kernel(f"{TENSOR_LOAD} st.global.b64 [%d2 + 24], %d1; {TENSOR_WAIT}", inside=BUFFER), None),
    **{f"tensor map, {name}": (
        kernel(f"@!%p0 st.global.{what}; {TENSOR_LOAD} {TENSOR_WAIT}", inside=BUFFER), error)
       for name, what, error in (
        ("address", "b64 [%d2 + 24], %d1", "OutOfBounds"), ("crooked address", "b64 [%d2 + 24], 8", "KernelError"),
        ("element 0", "b32 [%d2 + 12], 0", "KernelError"), ("element 3", "b32 [%d2 + 12], 3", "KernelError"),
        ("rank", "b32 [%d2 + 8], 9", "KernelError"), ("swizzle", "b32 [%d2 + 16], 96", "KernelError"),
        ("size 0", "b32 [%d2 + 72], 0", "KernelError"), ("size", "b32 [%d2 + 76], 0xffffffff", "OutOfBounds"),
        ("stride", "b32 [%d2 + 44], 0x80000000", "KernelError"),
        ("stride that wraps", "b64 [%d2 + 40], 0xfffffffffffffff0", "KernelError"),
        ("box 0", "b32 [%d2 + 92], 0", "KernelError"), ("box", "b32 [%d2 + 96], 0x10000000", "KernelError"),
        ("unused box", "b32 [%d2 + 100], 64", None), ("step 0", "b32 [%d2 + 112], 0", "KernelError"),
        ("mode", "b32 [%d2 + 20], 4", "KernelError"), ("im2col", "b32 [%d2 + 20], 1", "KernelError"),
    )},
    "number of a barrier": (kernel("mov.u32 %r1, 0x10000; bar.sync %r1;"), "KernelError"),
    "number of a barrier that counts": (kernel("mov.u32 %r1, 0x8000; bar.arrive %r1, 32;"), "KernelError"),
    "number of a barrier that reduces": (kernel("mov.u32 %r1, 0x8000; bar.red.popc.u32 %r2, %r1, %p0;"), "KernelError"),
    "texture": (kernel("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f0}];"), "VirtualGPUError"),
    "surface": (kernel("sust.b.1d.b32.trap [%d1, {%r0}], {%r0};"), "VirtualGPUError"),
    "size of a texture": (kernel("txq.width.b32 %r1, [%d1]; st.global.b32 [%d0], %r1;"), "VirtualGPUError"),
    "free": (
        kernel("{ .param .b64 a; st.param.b64 [a], %d1; call free, (a); }", EXTERN["free"]), "InvalidFree"),
    "printf": (
        kernel("{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d1; st.param.b64 [b], %d1; "
               "call (r), vprintf, (a, b); }", EXTERN["vprintf"]), None),
    "printf of a text": (
        kernel("{ .param .b64 a; .param .b64 b; .param .b32 r; cvta.global.u64 %d5, fmt; st.param.b64 [a], %d5; "
               "cvta.local.u64 %d6, args; st.local.b64 [args], %d1; st.param.b64 [b], %d6; "
               "call (r), vprintf, (a, b); }", EXTERN["vprintf"] + '\n.global .align 1 .b8 fmt[3] = {37, 115, 0};',
               ".local .align 8 .b8 args[8];"), None),
    "printf of a wide number": (
        kernel("{ .param .b64 a; .param .b64 b; .param .b32 r; cvta.global.u64 %d5, fmt; st.param.b64 [a], %d5; "
               "cvta.local.u64 %d6, args; st.local.b32 [args], 0x7fffffff; st.local.b32 [args + 4], 1; "
               "st.param.b64 [b], %d6; call (r), vprintf, (a, b); }",
               EXTERN["vprintf"] + '\n.global .align 1 .b8 fmt[4] = {37, 42, 100, 0};',
               ".local .align 8 .b8 args[8];"), None),
    "function from a number": (kernel(CALL, POINTER), "InvalidCall"),
    "recursion without end": (kernel("{ .param .b32 b; st.param.b32 [b], 1; call f, (b); }", DEEP), "StackOverflow"),
}  # fmt: skip


def _reference(kernel, params) -> None:
    reference.run(kernel, None, 1, 32, params)


def _watched(kernel, params) -> None:
    found = watched.run(launch.Prepared(kernel, params, []), 1, 32, 0, False, 30)
    if not found.ok:
        raise VirtualGPUError(repr(found))


VARIANTS = {
    "plain": lambda kernel, params: launch.launch(kernel, 1, 32, params),
    "counted": lambda kernel, params: launch.launch(kernel, 1, 32, params, observe=True),
    "random": lambda kernel, params: launch.launch(kernel, 1, 32, params, schedule="random", seed=1),
    "watched": _watched, "reference": _reference,
}  # fmt: skip


def outcome(text: str, variant: str) -> dict:
    """What came of one row in one variant: the error, if any, and whether the secret was touched or told."""
    out, map_ = memory.array(WORDS, np.uint32), memory.array(16, np.uint64)
    out[:] = np.arange(WORDS)
    box = tensor_map.describe(out.ctypes.data, 4, (8, 8), (32, 4), (8, 8))
    map_[:] = np.frombuffer(box.encode(), np.uint64)
    secret = (ctypes.c_uint32 * 1024)(*[FILLER] * 1024)
    params = [struct.pack("<Q", address) for address in (out.ctypes.data, ctypes.addressof(secret), map_.ctypes.data)]
    said, printed = {"error": None, "words": ""}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            (one,) = launch.load(text, language="cuda").values()
            VARIANTS[variant](one, params)
        except Exception as error:
            said = {"error": [c.__name__ for c in type(error).__mro__], "words": str(error)[:300]}
    told = FILLER in out or chr(FILLER >> 8 & 255) * 2 in printed.getvalue()
    return {**said, "changed": any(word != FILLER for word in secret), "told": bool(told)}


if __name__ == "__main__":
    for name, (text, _) in list(ROWS.items())[int((sys.argv[1:] or [0])[0]) :]:
        for variant in VARIANTS:
            print(json.dumps({"row": name, "variant": variant}), flush=True)
            print(json.dumps({"row": name, "variant": variant, **outcome(text, variant)}), flush=True)
