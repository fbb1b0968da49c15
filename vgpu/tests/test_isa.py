"""Every row of the instruction table, executed by the reference interpreter and by the compiled engine.

For each row and type a kernel is spelt out that applies the instruction to edge values in all pairs and to random
ones, with its operands as vectors, as values that are the same for the whole warp, and as immediates. Both engines
have to leave the same bits; a NaN equals any NaN, and rows that are approximations may differ by a few units.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass

import numpy as np
import pytest

from vgpu import isa, ptx, reference
from vgpu.isa.directed import WORDS as DIRECTED
from vgpu.launch import launch
from vgpu.storage import memory

N = 256  # threads, enough for all pairs of 16 edge values

F32_EDGES = (
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001,
    0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F000000, 0x3FC00000, 0x40200000, 0xC0200000,
)  # fmt: skip
F16_EDGES = (
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001,
    0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x3800, 0x3E00, 0x4100, 0xC100,
)  # fmt: skip
SHIFTS = (0, 1, 7, 15, 16, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x7FFFFFFF, 0xFFFFFFFF)
# Where conversions to integers turn over, as floats.
TURNING = [x for b in (7, 8, 15, 16, 31, 32, 63, 64) for x in (2.0**b, 2.0**b - 0.5, -(2.0**b), -(2.0**b) - 1)]


def _double_bits(value: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def _single_bits(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def edges(kind: str) -> list[int]:
    """Sixteen bit patterns at the edges of a type; "shift" stands for amounts to shift by, "bit" for 0 and 1."""
    if kind == "shift":
        return list(SHIFTS)
    if kind in ("pred", "bit"):
        return [0, 1] * 8
    if kind == "f32":
        return list(F32_EDGES)
    if kind == "f64":
        singles = np.array(F32_EDGES, np.uint32).view(np.float32).astype(np.float64)
        tiny = [_double_bits(x) for x in (5e-324, -2.2e-308, 2.2250738585072014e-308, 1.7976931348623157e308)]
        return [_double_bits(float(x)) for x in singles[[0, 1, 2, 3, 4, 5, 6, 12, 13, 14, 15, 10]]] + tiny
    if kind == "f16":
        return list(F16_EDGES)
    if kind == "bf16":
        more = (0x0001, 0x807F, 0x0080, 0x7F7F, 0xFF7F, 0x3F00, 0x3FC0, 0xC020)
        return [*(x >> 16 for x in F32_EDGES[:8]), *more]
    if kind in isa.PACKED:
        single = edges(isa.PACKED[kind])
        bits = isa.TYPES[isa.PACKED[kind]].bits
        return [a | b << bits for a, b in zip(single, single[5:] + single[:5], strict=True)]
    bits = isa.TYPES[kind].bits
    top = 1 << (bits - 1)
    values = [0, 1, 2, 3, 5, -1, -2, top, top - 1, top + 1, -3, 7, 100, 0x5555555555555555, 0x0F0F0F0F0F0F0F0F, bits]
    return [v & ((1 << bits) - 1) for v in values]


def random_bits(kind: str, generator) -> np.ndarray:
    """Random patterns, half of them numbers of moderate size where the type is a float."""
    if kind in ("pred", "bit"):
        return generator.integers(0, 2, N, dtype=np.uint64)
    if kind == "shift":
        return generator.integers(0, 80, N, dtype=np.uint64)
    if kind in isa.PACKED:
        low, high = (random_bits(isa.PACKED[kind], generator) for _ in range(2))
        return low | high << np.uint64(isa.TYPES[isa.PACKED[kind]].bits)
    bits = isa.TYPES[kind].bits
    raw = generator.integers(0, 2**64, N, dtype=np.uint64) >> np.uint64(64 - bits)
    moderate = generator.normal(0, 100, N // 2)
    moderate[: len(TURNING)] = TURNING
    with np.errstate(over="ignore"):
        halves = {
            "f64": moderate.view(np.uint64),
            "f32": moderate.astype(np.float32).view(np.uint32),
            "f16": moderate.astype(np.float16).view(np.uint16),
            "bf16": moderate.astype(np.float32).view(np.uint32) >> 16,
        }
    if kind in halves:
        raw[::2] = halves[kind]
    return raw


# ---------------------------------------------------------------- which instructions to write


@dataclass(frozen=True)
class Case:
    """One instruction of one kernel: its spelling, the types of its operands, and how each is given.

    `given` holds "v" for one value a lane, "u" for one value a warp, or the text of an immediate.
    """

    op: isa.Op
    text: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    given: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text}  ({', '.join(f'{i}:{g}' for i, g in zip(self.inputs, self.given, strict=True))})"


# Extra spellings: rounding, flushing and saturation where the instruction has them.
EXTRA = {
    "add": {"f32": "add.rn.f32 add.ftz.f32 add.sat.f32 add.rn.ftz.sat.f32", "f64": "add.rn.f64",
            "f16": "add.rn.f16 add.sat.f16", "f16x2": "add.sat.f16x2"},
    "sub": {"f32": "sub.ftz.f32 sub.sat.f32", "f16": "sub.sat.f16"},
    "mul": {"f32": "mul.rn.f32 mul.ftz.f32 mul.sat.f32", "f16": "mul.sat.f16", "f16x2": "mul.sat.f16x2"},
    "fma": {"f32": "fma.rn.ftz.f32 fma.rn.sat.f32", "f16": "fma.rn.sat.f16 fma.rn.relu.f16"},
    "div": {"f32": "div.rn.ftz.f32"},
    "div.full": {"f32": "div.full.ftz.f32"},
    "div.approx": {"f32": "div.approx.ftz.f32"},
    "rcp": {"f32": "rcp.rn.ftz.f32"},
    "rcp.approx": {"f32": "rcp.approx.f32"},
    "sqrt": {"f32": "sqrt.rn.ftz.f32"},
    "sqrt.approx": {"f32": "sqrt.approx.ftz.f32"},
    "rsqrt.approx": {"f32": "rsqrt.approx.ftz.f32"},
    "ex2.approx": {"f32": "ex2.approx.ftz.f32"},
    "lg2.approx": {"f32": "lg2.approx.ftz.f32"},
    "sin.approx": {"f32": "sin.approx.ftz.f32"},
    "cos.approx": {"f32": "cos.approx.ftz.f32"},
    "abs": {"f32": "abs.ftz.f32"},
    "neg": {"f32": "neg.ftz.f32"},
    "min": {"f32": "min.ftz.f32 min.NaN.f32 min.xorsign.abs.f32 min.NaN.xorsign.abs.f32", "s16x2": "min.relu.s16x2",
            "f16": "min.NaN.f16 min.xorsign.abs.f16", "s32": "min.relu.s32", "bf16x2": "min.NaN.xorsign.abs.bf16x2"},
    "max": {"f32": "max.ftz.f32 max.NaN.f32 max.xorsign.abs.f32 max.NaN.xorsign.abs.f32", "s16x2": "max.relu.s16x2",
            "f16": "max.NaN.f16 max.xorsign.abs.f16", "s32": "max.relu.s32", "bf16x2": "max.NaN.xorsign.abs.bf16x2"},
}  # fmt: skip
# Rows share a meaning with a type these spellings do not have in PTX.
NOT_IN_PTX = {(name, kind) for name in ("mov", "selp") for kind in ("f16", "bf16", "b8")} | {
    ("add.cc", "b32"), ("add.cc", "b64")}  # fmt: skip


def spellings(op: isa.Op):
    """(text, t, s) of every form of a row."""
    if op.opcode == "cvt":
        yield from _conversions()
    elif op.opcode == "setp":
        yield from _comparisons(op)
    elif op.opcode == "lop3":
        yield from ((f"lop3.b32#{table}", "b32", "b32") for table in (0x80, 0xE8, 0x96, 0x6A, 0xFE, 0x01, 0xF8, 0x1E))
    elif op.opcode == "set":
        floats, integers = isa.FLOAT_COMPARISONS, isa.INT_COMPARISONS
        for t in ("u32", "s32", "f32"):
            for s, words in (("f32", floats), ("s32", integers), ("u64", ("lo", "hs"))):
                yield from ((f"set.{word}.{t}.{s}", t, s) for word in words)
            yield f"set.lt.and.{t}.f32", t, "f32"
        for t in ("f16", "bf16", "f16x2", "bf16x2"):
            yield from ((f"set.{word}.{t}.{t}", t, t) for word in floats)
        yield from ((f"set.{word}.u32.f16x2", "u32", "f16x2") for word in floats)
        yield from ((f"set.{word}.u16.f16", "u16", "f16") for word in integers)
        yield "set.ge.s16.f16", "s16", "f16"
    else:
        for t in op.types:
            if (op.name, t) in NOT_IN_PTX:
                continue
            for form in op.forms:
                s = form.rsplit(".", 1)[1] if form.endswith(("f32", "s32", "u32")) and "{t}" in form else t
                text = form.format(t=t)
                yield (f"ex2.approx.ftz.{t}" if text.startswith("ex2.approx.bf16") else text), t, s
            extra = EXTRA.get(op.name, {}).get(t, "").split()
            directed = [f"{op.name}.{word}.{t}" for word in DIRECTED if t in op.directed]
            yield from ((text, t, t) for text in (*extra, *directed))


def _conversions():
    integers, floats = isa.ANY_INT, ("f64", "f32", "f16")
    for t, s in isa.CONVERSIONS:
        if t in integers and s in integers:
            yield f"cvt.{t}.{s}", t, s
            (low, high), (lowest, highest) = isa.TYPES[t].limits, isa.TYPES[s].limits
            if lowest < low or high < highest:  # PTX knows .sat only where there is something to clamp
                yield f"cvt.sat.{t}.{s}", t, s
        elif t in integers:
            yield from ((f"cvt.{word}.{t}.{s}", t, s) for word in ("rni", "rzi", "rmi", "rpi"))
        elif s in integers:
            words = ("rn", *DIRECTED)
            yield from ((f"cvt.{word}.{t}.{s}", t, s) for word in words)
        elif floats.index(t) > floats.index(s):
            yield from ((f"cvt.{word}.{t}.{s}", t, s) for word in ("rn", *DIRECTED))
        elif t == s:
            yield f"cvt.{t}.{s}", t, s
            yield from ((f"cvt.{word}.{t}.{s}", t, s) for word in ("rni", "rzi", "rmi", "rpi"))
        else:
            yield f"cvt.{t}.{s}", t, s
    yield "cvt.rn.sat.f32.f64", "f32", "f64"
    yield "cvt.sat.f32.f32", "f32", "f32"
    yield "cvt.ftz.f64.f32", "f64", "f32"
    yield "cvt.rn.ftz.f32.f64", "f32", "f64"
    yield "cvt.rzi.ftz.s32.f32", "s32", "f32"
    yield "cvt.rn.bf16.f32", "bf16", "f32"
    yield "cvt.rz.bf16.f32", "bf16", "f32"
    yield "cvt.rn.relu.f16.f32", "f16", "f32"
    yield "cvt.f32.bf16", "f32", "bf16"
    yield from ((f"cvt.{words}.{t}.f32", t, "f32") for t in ("f16", "bf16")
                for words in ("rn.satfinite", "rz.satfinite", "rn.satfinite.relu"))  # fmt: skip
    for words in ("rna", "rn", "rz", "rn.relu", "rz.relu", "rna.satfinite", "rn.satfinite.relu"):
        yield f"cvt.{words}.tf32.f32", "tf32", "f32"
    for integer in isa.ANY_INT:
        yield from ((f"cvt.{word}.bf16.{integer}", "bf16", integer) for word in ("rn", *DIRECTED))
        yield from ((f"cvt.{word}.{integer}.bf16", integer, "bf16") for word in ("rni", "rzi", "rmi", "rpi"))
    yield from ((f"cvt.{word}.bf16.{t}", "bf16", t) for word in ("rn", *DIRECTED) for t in ("f16", "f64"))


def _comparisons(op: isa.Op):
    for t in op.types:
        kind = isa.TYPES[t]
        words = isa.FLOAT_COMPARISONS if kind.is_float else ("eq", "ne") if kind.kind == "b" else isa.INT_COMPARISONS
        if kind.kind == "u":
            words = (*words, "lo", "ls", "hi", "hs")
        for word in words:
            yield f"setp.{word}.{t}", t, t
        yield from ((f"setp.{words[1]}.{join}.{t}", t, t) for join in ("and", "or", "xor"))
    yield "setp.lt.ftz.f32", "f32", "f32"
    yield "setp.eq.ftz.f32", "f32", "f32"


def operand_kind(symbol: str, t: str, s: str) -> str:
    symbol = symbol.rstrip("?")
    if symbol == "w":
        return f"{t[0]}{int(t[1:]) * 2}"
    return {"t": t, "s": s, "p": "pred", "c": "bit", "u32": "shift"}.get(symbol, symbol)


IMMEDIATES = {
    "f32": ("0f40200000", "0f80000000", "0f7F800000", "0fBF000000"),
    "f64": ("0d4004000000000000", "0d8000000000000000", "0dFFF0000000000000"),
    "shift": ("5", "0", "31", "32", "63", "64", "255"),
}


def immediate(kind: str, turn: int) -> str | None:
    if kind in IMMEDIATES:
        return IMMEDIATES[kind][turn % len(IMMEDIATES[kind])]
    if kind in ("pred", "bit", "f16", "bf16", *isa.PACKED):
        return None
    bits = isa.TYPES[kind].bits
    lowest = str(-(1 << (bits - 1))) if kind[0] == "s" else str((1 << bits) - 1)
    return ("3", "0", lowest, "1", "100")[turn % 5]


def ways(inputs: tuple[str, ...], turn: int, few: bool):
    """How the operands are given: vectors; then each in turn, and all, uniform; then each in turn immediate."""
    count = len(inputs)
    found = [("u",) * count] + [tuple("u" if i == j else "v" for j in range(count)) for i in range(count)]
    for i, kind in enumerate(inputs):
        text = immediate(kind, turn + i)
        if text is not None:
            found.append(tuple(text if i == j else "v" for j in range(count)))
    if few:
        found = [found[turn % len(found)]]
    return [("v",) * count, *dict.fromkeys(found)]


def cases_of(op: isa.Op) -> list[Case]:
    found = []
    for turn, (text, t, s) in enumerate(spellings(op)):
        # Rows of many spellings, and the narrow types, take one other way each in turn.
        few = op.opcode in ("cvt", "setp", "set", "slct", "selp", "lop3", "testp") or t[1:] in ("16", "16x2")
        symbols = [symbol for symbol in op.inputs if symbol != "imm"]
        if "?" in symbols[-1] and not set(text.split(".")) & {"and", "or", "xor"}:
            symbols.pop()
        inputs = tuple(operand_kind(symbol, t, s) for symbol in symbols)
        outputs = tuple("u32" if o == "u32" else operand_kind(o, t, s) for o in op.outputs)
        if op.opcode == "setp" and isa.TYPES[t].kind == "h":
            outputs = outputs[:1]  # 16-bit comparisons have one result
        found += [Case(op, text, outputs, inputs, given) for given in ways(inputs, turn, few)]
    return found


CHUNK = 120
GROUPS = [
    pytest.param(cases[i : i + CHUNK], id=f"{op.name}.{op.types[0]}-{i // CHUNK}")
    for op in isa.TABLE
    for cases in [cases_of(op)]
    for i in range(0, len(cases), CHUNK)
]


# ---------------------------------------------------------------- writing the kernel


def register_type(kind: str) -> str:
    if kind == "pred":
        return "pred"
    if kind in ("shift", "bit"):
        return "b32"
    if kind in isa.PACKED:
        return isa.register_type(kind).name
    return kind if kind in ("f32", "f64") else f"b{max(isa.TYPES[kind].bits, 16)}"


def load_type(kind: str) -> str:
    return kind if kind in ("s8", "u8", "b8") else register_type(kind).replace("pred", "b32")


class Writer:
    """Builds one kernel: input sections by (kind, position), output slots of 8 bytes a thread."""

    def __init__(self):
        self.sections: dict[tuple[str, int], int] = {}
        self.declarations: list[str] = []
        self.head: list[str] = []
        self.body: list[str] = []
        self.loaded: dict[tuple, str] = {}
        self.slots: list[tuple[Case, str]] = []

    def register(self, kind: str) -> str:
        name = f"%x{len(self.declarations)}"
        self.declarations.append(f".reg .{kind} {name};")
        return name

    def operand(self, kind: str, position: int, given: str) -> str:
        if given not in "uv":
            return given
        key = (kind, position, given)
        if key not in self.loaded:
            section = self.sections.setdefault((kind, position), len(self.sections))
            register = self.register(register_type(kind).replace("pred", "b32"))
            where = f"ld.param.{load_type(kind)} {register}, [uniform+{8 * section}];"
            if given == "v":
                where = f"ld.global.{load_type(kind)} {register}, [%in+{8 * N * section}];"
            self.head.append(where)
            if kind == "pred":
                predicate = self.register("pred")
                self.head.append(f"setp.ne.b32 {predicate}, {register}, 0;")
                register = predicate
            self.loaded[key] = register
        return self.loaded[key]

    def add(self, case: Case) -> None:
        text, _, table = case.text.partition("#")
        operands = [
            self.operand(kind, position, given)
            for position, (kind, given) in enumerate(zip(case.inputs, case.given, strict=True))
        ]
        if "c" in case.op.inputs:
            self.body.append(f"add.cc.u32 {self.register('b32')}, {operands.pop()}, 0xFFFFFFFF;")
        results = [
            self.register(register_type(kind))
            for kind, o in zip(case.outputs, case.op.outputs, strict=False)
            if o != "c"
        ]
        target = "|".join(results)
        self.body.append(f"{text} {', '.join([target, *operands, *([table] if table else [])])};")
        for kind, register in zip(case.outputs, results, strict=False):
            self.store(case, kind, register)
        if "c" in case.op.outputs:
            carry = self.register("b32")
            self.body.append(f"addc.u32 {carry}, 0, 0;")
            self.store(case, "u32", carry)

    def store(self, case: Case, kind: str, register: str) -> None:
        if kind == "pred":
            number = self.register("b32")
            self.body.append(f"selp.b32 {number}, 1, 0, {register};")
            kind, register = "u32", number
        bits = register_type(kind).strip("bf")
        self.body.append(f"st.global.b{bits} [%out+{8 * N * len(self.slots)}], {register};")
        self.slots.append((case, kind))

    def text(self) -> str:
        return "\n".join([
            ".version 8.7", ".target sm_100a", ".address_size 64",
            ".visible .entry k(.param .u64 in, .param .u64 out,",
            f"    .param .align 8 .b8 uniform[{8 * len(self.sections) or 8}])",
            "{", ".reg .b64 %in, %out, %offset;", ".reg .b32 %thread;", *self.declarations,
            "ld.param.u64 %in, [in];", "ld.param.u64 %out, [out];", "mov.u32 %thread, %tid.x;",
            "mul.wide.u32 %offset, %thread, 8;", "add.u64 %in, %in, %offset;", "add.u64 %out, %out, %offset;",
            *self.head, *self.body, "ret;", "}",
        ])  # fmt: skip

    def inputs(self, generator=None) -> np.ndarray:
        """One row a section: all pairs (and a mix of triples) of edges, or random values."""
        index = np.arange(N)
        picks = [index % 16, index // 16 % 16, (index * 7 + index // 16 * 3) % 16, (index * 5 + index // 16) % 16]
        rows = []
        for kind, position in self.sections:
            if generator is None:
                rows.append(np.array(edges(kind), np.uint64)[picks[position]])
            else:
                rows.append(random_bits(kind, generator))
        return np.array(rows, np.uint64)


def build(cases) -> Writer:
    writer = Writer()
    for case in cases:
        writer.add(case)
    return writer


# ---------------------------------------------------------------- running and comparing


def run_both(writer: Writer, data, uniforms, threads: int = N) -> tuple[np.ndarray, np.ndarray]:
    text = writer.text()
    given = memory.array(max(data.size, 1), np.uint64)
    given[: data.size] = data.ravel()
    results = []
    for engine in (by_reference, by_launch):
        out = memory.array((len(writer.slots), N), np.uint64)
        out[:] = 0
        pointers = [struct.pack("<Q", a.ctypes.data) for a in (given, out)]
        engine(text, [*pointers, uniforms.tobytes().ljust(8, b"\0")], threads)
        results.append(np.array(out))
    return results[0], results[1]


def by_reference(text: str, params, threads: int) -> None:
    module = ptx.parse(text)
    reference.run(module.kernels["k"], module, 1, threads, params)


def by_launch(text: str, params, threads: int) -> None:
    launch.launch(launch.load(text, language="cuda")["k"], 1, threads, params)


def nan(kind: str, raw: np.ndarray) -> np.ndarray:
    masks = {"f32": (0x7FFFFFFF, 0x7F800000), "f64": (2**63 - 1, 0x7FF << 52), "f16": (0x7FFF, 0x7C00)}
    masks["bf16"] = (0x7FFF, 0x7F80)
    if kind not in masks:
        return np.zeros(raw.shape, bool)
    magnitude, infinity = masks[kind]
    return (raw & np.uint64(magnitude)) > np.uint64(infinity)


def floats(kind: str, raw: np.ndarray) -> np.ndarray:
    if kind == "f64":
        return raw.view(np.float64)
    if kind == "f32":
        return raw.astype(np.uint32).view(np.float32).astype(np.float64)
    if kind == "f16":
        return raw.astype(np.uint16).view(np.float16).astype(np.float64)
    return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


PRECISION = {"f64": 2.0**-50, "f32": 2.0**-21, "f16": 2.0**-10, "bf16": 2.0**-7}
# sin, cos and lg2 are approximations of an absolute error, on a GPU too; tanh of a relative one of 2^-11.
SLACK = {"sin": 2.0**-20, "cos": 2.0**-20, "lg2": 2.0**-21, "tanh": 2.0**-11}


def equal(case: Case, kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if kind in isa.PACKED:
        half = isa.PACKED[kind]
        bits = isa.TYPES[half].bits
        low, shift = np.uint64((1 << bits) - 1), np.uint64(bits)
        return equal(case, half, a & low, b & low) & equal(case, half, a >> shift, b >> shift)
    same = (a == b) | (nan(kind, a) & nan(kind, b))
    if case.op.exact:
        return same
    x, y = floats(kind, a), floats(kind, b)
    with np.errstate(invalid="ignore"):
        close = np.abs(x - y) <= np.maximum(PRECISION[kind] * np.abs(x), SLACK.get(case.op.opcode, 0))
    return same | (np.isfinite(x) & np.isfinite(y) & close)


def differences(writer: Writer, data, uniforms, expected, got) -> list[str]:
    found = []
    for slot, (case, kind) in enumerate(writer.slots):
        wrong = np.flatnonzero(~equal(case, kind, expected[slot], got[slot]))
        for lane in wrong[:1]:
            operands = []
            for position, (name, given) in enumerate(zip(case.inputs, case.given, strict=True)):
                section = writer.sections.get((name, position))
                value = data[section, lane] if given == "v" else uniforms[section] if given == "u" else given
                operands.append(hex(value) if given in "uv" else given)
            found.append(
                f"{case} of {', '.join(operands)}: reference {expected[slot, lane]:#x}, compiled "
                f"{got[slot, lane]:#x} ({len(wrong)} lanes)"
            )
    return found


def disagreements(cases) -> str:
    """What the two engines make of some cases in one kernel, where that is not the same; empty when it is."""
    writer = build(cases)
    generator = np.random.default_rng(7)
    wrong = []
    # Random values say enough with half the threads.
    for data, threads in ((writer.inputs(), N), (writer.inputs(generator), N // 2)):
        uniforms = data[np.arange(len(data)), (np.arange(len(data)) * 37 + 19) % N] if len(data) else data[:0]
        expected, got = run_both(writer, data, uniforms, threads)
        wrong += differences(writer, data, uniforms, expected, got)
    return "\n".join(wrong[:20])


@pytest.mark.check
def test_both_engines_agree_on_one_form_of_each_instruction():
    test_both_engines_agree([cases_of(op)[0] for op in isa.TABLE])


@pytest.mark.parametrize("cases", GROUPS)
def test_both_engines_agree(cases):
    if wrong := disagreements(cases):
        pytest.fail(wrong, pytrace=False)


def test_every_row_is_covered():
    covered = {id(case.op) for group in GROUPS for case in group.values[0]}
    assert covered == {id(op) for op in isa.TABLE}


def test_every_kind_of_operand_is_covered():
    """Each row is tried with vectors, with uniform values, and with an immediate unless its types have none."""
    for op in isa.TABLE:
        given = set(itertools.chain.from_iterable(case.given for case in cases_of(op)))
        assert {"u", "v"} <= given, op.name
        possible = any(immediate(kind, 0) for case in cases_of(op) for kind in case.inputs)
        assert possible == bool(given - {"u", "v"}), op.name
