"""Tensor-core products of floats of 8, 6 and 4 bits in bytes, with scales for parts of rows, and of single bits.

Lane by lane after the manual's figures, as CUDA C with inline PTX, against exact sums in NumPy.
"""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
import pytest

from vgpu import fp8_accumulation
from vgpu.base.errors import Unsupported
from vgpu.isa import tensor
from vgpu.ptx import PTXSyntaxError
from vgpu.tests.test_formats import FORMATS, small_values
from vgpu.tests.test_narrow_formats import checked

LANE = np.arange(32)
GROUP, MEMBER = LANE // 4, LANE % 4
RANDOM = np.random.default_rng(11)
BYTES = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


def floats(name: str, codes: np.ndarray) -> np.ndarray:
    """Values of finite codes."""
    sign = sum(FORMATS[name][:2])
    table = np.array([float(v) for v in small_values(*FORMATS[name][:3])])
    return table[codes % (1 << sign)] * np.where(codes >> sign, -1, 1)


def finite_codes(name: str, shape: tuple[int, int]) -> np.ndarray:
    sign = RANDOM.integers(0, 2, shape) << sum(FORMATS[name][:2])
    return RANDOM.integers(0, FORMATS[name][2] + 1, shape) | sign


def registers(matrix: np.ndarray, each: int) -> np.ndarray:
    """A's rows (B's columns) as the lanes' registers, `each` elements of 32 // each bits in one: shape (registers, 32).

    Register by register: the rows g and g + 8 of a slice of 4 * each columns, then the next slice."""
    found = []
    for column in range(0, matrix.shape[1], 4 * each):
        for row in range(0, matrix.shape[0], 8):
            words = np.zeros(32, np.uint64)
            for i in range(each):
                element = matrix[row + GROUP, column + MEMBER * each + i].astype(np.uint64)
                words |= element << np.uint64(32 // each * i)
            found.append(words.astype(np.uint32))
    return np.array(found)


def accumulators(matrix: np.ndarray) -> np.ndarray:
    return np.array([matrix[GROUP + 8 * (i // 2), 2 * MEMBER + i % 2] for i in range(4)])


def from_accumulators(found: np.ndarray) -> np.ndarray:
    matrix = np.zeros((16, 8), found.dtype)
    for i in range(4):
        matrix[GROUP + 8 * (i // 2), 2 * MEMBER + i % 2] = found[i]
    return matrix


def multiply(
    engine, instruction: str, a, b, c, scales=None, selectors="{0, 0}, {0, 0}", arch="compute_120a", **options
):
    """D's registers (4 × 32 words, or 2 × 32 of halves); `scales`: a word of each lane for A and for B."""
    sums, kind = len(c), "r" if c.dtype == np.uint32 else "f"
    names = iter(range(99))
    group = lambda count: "{" + ", ".join(f"%{next(names)}" for _ in range(count)) + "}"
    text = f"{instruction} {group(sums)}, {group(len(a))}, {group(len(b))}, {group(sums)}"
    inputs = [*(f'"r"(a[32 * {i} + t])' for i in range(len(a))), *(f'"r"(b[32 * {i} + t])' for i in range(len(b))),
              *(f'"{kind}"(c[32 * {i} + t])' for i in range(sums))]  # fmt: skip
    if scales is not None:
        first, second = selectors.split("}, ")
        text += f", %{next(names)}, {first}}}, %{next(names)}, {second}"
        inputs += ['"r"(s[t])', '"r"(s[32 + t])']
    outputs = ", ".join(f'"={kind}"(d[32 * {i} + t])' for i in range(sums))
    word = "unsigned" if kind == "r" else "float"
    source = f"""extern "C" __global__ void k(const unsigned* a, const unsigned* b, const {word}* c, const unsigned* s,
                                              {word}* d) {{
        int t = threadIdx.x;
        asm volatile("{text};" : {outputs} : {", ".join(inputs)});
    }}"""
    out = np.zeros(c.shape, c.dtype)
    given = np.zeros((2, 32), np.uint32) if scales is None else np.array(scales, np.uint32)
    counters = engine.c(source, arch=arch)(1, 32, a, b, c.copy(), given, out, **options)
    return out, counters


def padded(name: str, codes: np.ndarray) -> np.ndarray:
    """Codes in bytes: e2m1 in the middle of its byte. What the padding holds doesn't matter."""
    if name == "e2m1":
        return codes << 2 | RANDOM.integers(0, 4, codes.shape) | RANDOM.integers(0, 4, codes.shape) << 6
    return codes if name in ("e4m3", "e5m2") else codes | RANDOM.integers(0, 4, codes.shape) << 6


def close(got: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, half: bool = False) -> None:
    exact, size = a @ b + c, np.abs(a) @ np.abs(b) + np.abs(c)
    bound = (a.shape[1] + 1) * 2.0**-24 * size + (np.abs(exact) * 2.0**-11 if half else 0)
    assert (np.abs(got - exact) <= bound).all()


@pytest.mark.parametrize("second", BYTES)
@pytest.mark.parametrize("first", BYTES)
def test_floats_in_bytes(engine, first, second):
    a, b = finite_codes(first, (16, 32)), finite_codes(second, (8, 32))
    c = RANDOM.normal(0, 100, (16, 8)).astype(np.float32)
    given = registers(padded(first, a), 4), registers(padded(second, b), 4)
    instruction = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{first}.{second}.f32"
    out, _ = multiply(engine, instruction, *given, accumulators(c))
    close(from_accumulators(out), floats(first, a), floats(second, b).T, c.astype(float))


def test_floats_in_bytes_to_halves(engine):
    a, b = finite_codes("e2m3", (16, 32)), finite_codes("e2m1", (8, 32))
    c = RANDOM.normal(0, 10, (16, 8)).astype(np.float16)
    given = registers(padded("e2m3", a), 4), registers(padded("e2m1", b), 4)
    pairs = np.array([accumulators(c)[2 * i : 2 * i + 2].T.copy().view(np.uint32)[:, 0] for i in range(2)])
    instruction = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e2m1.f16"
    out, _ = multiply(engine, instruction, *given, pairs)
    halves = np.concatenate([out[i].view(np.float16).reshape(32, 2).T for i in range(2)])
    close(from_accumulators(halves).astype(float), floats("e2m3", a), floats("e2m1", b).T, c.astype(float), half=True)


def cut_sums(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Sums of terms that are cut to 2^-13 of the power of two that the largest reaches, one by one."""
    found = np.zeros(c.shape)
    for i, j in np.ndindex(*c.shape):
        terms = [*(a[i] * b[:, j]), c[i, j]]
        unit = 2.0 ** (math.floor(math.log2(max(map(abs, terms)) or 1)) - 13)
        found[i, j] = sum(math.trunc(term / unit) * unit for term in terms)
    return found


@pytest.mark.parametrize(("first", "second"), [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e2m1", "e3m2")])
def test_sums_of_fourteen_bits(engine, first, second):
    a, b = finite_codes(first, (16, 32)), finite_codes(second, (8, 32))
    c = (RANDOM.normal(0, 1, (16, 8)) * 2.0 ** RANDOM.integers(-20, 20, (16, 8))).astype(np.float32)
    c[0] = a[0] = 0
    given = registers(padded(first, a), 4), registers(padded(second, b), 4), accumulators(c)
    instruction = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{first}.{second}.f32"
    whole, _ = multiply(engine, instruction, *given)
    with fp8_accumulation("hopper"):
        cut, _ = multiply(engine, instruction, *given)
    expected = cut_sums(floats(first, a), floats(second, b).T, c.astype(float))
    assert (from_accumulators(cut) == expected.astype(np.float32)).all()
    assert (cut != whole).any()
    again, _ = multiply(engine, instruction, *given)
    assert (again == whole).all(), "the choice ends with its block"


def test_infinities_stay_with_fourteen_bits(engine):
    a, b = np.full((16, 32), 0x3C), np.full((8, 32), 0x3C)  # 1.0 of e5m2
    a[1, 3], a[2, 4], a[3, 5], a[3, 6] = 0x7C, 0x7F, 0x7C, 0xFC
    instruction = "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"
    c = accumulators(np.zeros((16, 8), np.float32))
    with fp8_accumulation("hopper"):
        out, _ = multiply(engine, instruction, registers(a, 4), registers(b, 4), c, arch="compute_89")
    found = from_accumulators(out)
    assert (found[0] == 32).all() and np.isposinf(found[1]).all() and np.isnan(found[2:4]).all()


def test_another_kind_of_sums_is_refused():
    with pytest.raises(ValueError, match="'float32' or 'hopper'"):
        fp8_accumulation("ampere")


# kind, types, scales of a row, their type, how the number may be spelt
SCALED = [
    ("mxf8f6f4", "e4m3", "e5m2", 1, "ue8m0", ""), ("mxf8f6f4", "e2m1", "e3m2", 1, "ue8m0", ".scale_vec::1X"),
    ("mxf8f6f4", "e2m3", "e2m1", 1, "ue8m0", ""), ("mxf4", "e2m1", "e2m1", 2, "ue8m0", ""),
    ("mxf4", "e2m1", "e2m1", 2, "ue8m0", ".scale_vec::2X"), ("mxf4nvf4", "e2m1", "e2m1", 2, "ue8m0", ".scale_vec::2X"),
    ("mxf4nvf4", "e2m1", "e2m1", 4, "ue8m0", ".scale_vec::4X"),
    ("mxf4nvf4", "e2m1", "e2m1", 4, "ue4m3", ".scale_vec::4X"),
]  # fmt: skip


def scale_values(kind: str, codes: np.ndarray) -> np.ndarray:
    return np.ldexp(1.0, codes - 127) if kind == "ue8m0" else floats("e4m3", codes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("kind", "first", "second", "count", "scale_type", "vector"), SCALED)
def test_scales_of_parts_of_rows(engine, kind, first, second, count, scale_type, vector, seed):
    """Every lane has a word of its own, of which the selected bytes and threads count."""
    generator, k = np.random.default_rng(seed), 32 if kind == "mxf8f6f4" else 64
    a, b = finite_codes(first, (16, k)), finite_codes(second, (8, k))
    c = generator.normal(0, 10, (16, 8)).astype(np.float32)
    low, high = (110, 140) if scale_type == "ue8m0" else (0, 0x7F)
    codes = generator.integers(low, high, (2, 32, 4))
    byte = [int(generator.choice({1: [0, 1, 2, 3], 2: [0, 2], 4: [0]}[count])) for _ in "ab"]
    thread = [int(generator.integers(0, 2)), int(generator.integers(0, 4))]
    scale_a, scale_b = np.zeros((16, k)), np.zeros((k, 8))
    for part in range(count):
        here = slice(part * k // count, (part + 1) * k // count)
        for row in range(16):  # of a pair of lanes the first has row g, the second row g + 8
            lane = 4 * (row % 8) + 2 * thread[0] + row // 8
            scale_a[row, here] = scale_values(scale_type, codes[0, lane, byte[0] + part])
        for column in range(8):
            scale_b[here, column] = scale_values(scale_type, codes[1, 4 * column + thread[1], byte[1] + part])
    words = codes.astype(np.uint8).view(np.uint32)[:, :, 0]
    each, put = (4, padded) if kind == "mxf8f6f4" else (8, lambda name, codes: codes)
    shape = f"m16n8k{k}"
    instruction = (f"mma.sync.aligned.{shape}.row.col.kind::{kind}.block_scale{vector}.f32.{first}.{second}.f32."
                   f"{scale_type}")  # fmt: skip
    selectors = f"{{{byte[0]}, {thread[0]}}}, {{{byte[1]}, {thread[1]}}}"
    given = registers(put(first, a), each), registers(put(second, b), each), accumulators(c)
    observe = {"observe": True} if engine.name == "compiled" else {}
    out, counters = multiply(engine, instruction, *given, words, selectors, **observe)
    close(from_accumulators(out), floats(first, a) * scale_a, floats(second, b).T * scale_b, c.astype(float))
    if observe:
        key = "flops_tensor_fp8" if kind == "mxf8f6f4" else "flops_tensor_fp4"
        assert counters[key] == 2 * 16 * 8 * k and counters["tensor_hmma"] == 1


def test_selectors_in_registers_and_extreme_scales(engine):
    """2^127 times 2^-127 is 1, and what has no number is none."""
    ones = np.full((16, 64), 2), np.full((8, 64), 2)  # e2m1: 1.0
    words = np.zeros((2, 32, 4), np.uint8)
    words[0, :, 2:], words[1, :, :2] = 254, 0
    words[0, 4 * 3 + 2, 2] = 255  # row 3, the first half of it
    text = """{
        .reg .b16 h, z; mov.b16 h, 2; mov.b16 z, 1;
        mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"""
    c = np.ones((16, 8), np.float32)
    given = registers(ones[0], 8), registers(ones[1], 8), accumulators(c)
    out, _ = multiply(engine, text.replace("\n", " "), *given, words.view(np.uint32)[:, :, 0], "{h, z}, {0, 3}; }")
    expected = np.full((16, 8), 65.0)
    expected[3] = np.nan
    np.testing.assert_array_equal(from_accumulators(out), expected)


@pytest.mark.parametrize("operation", ["xor", "and"])
@pytest.mark.parametrize("shape", [(8, 8, 128), (16, 8, 128), (16, 8, 256)])
def test_single_bits(engine, shape, operation):
    m, n, k = shape
    a, b = RANDOM.integers(0, 2, (m, k)), RANDOM.integers(0, 2, (n, k))
    c = RANDOM.integers(0, 2**32, (m, n), dtype=np.uint32)
    instruction = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.s32.b1.b1.s32.{operation}.popc"
    start = accumulators(np.resize(c, (16, 8)))[: m // 4]
    out, _ = multiply(engine, instruction, registers(a, 32), registers(b, 32), start, arch="compute_80")
    pairs = a[:, None] ^ b[None] if operation == "xor" else a[:, None] & b[None]
    expected = (pairs.sum(axis=2) + c) % 2**32
    assert (from_accumulators(np.resize(out, (4, 32)))[:m] == expected).all()


@pytest.mark.parametrize("layouts", ["row.row", "row.col", "col.row", "col.col"])
@pytest.mark.parametrize(("d", "c"), [("f16", "f16"), ("f32", "f32"), ("f32", "f16")])
def test_four_products_at_once(engine, d, c, layouts):
    """Volta's shape: lanes 4i to 4i + 3 and those 16 further on make product i."""
    first, second = layouts.split(".")
    a, b, sums = (RANDOM.integers(-8, 9, (4, *shape)).astype(float) for shape in ((8, 4), (4, 8), (8, 8)))
    product, member, high = LANE % 16 // 4, LANE % 4, LANE // 16 * 4
    element = lambda i: (member + high, i) if first == "row" else (i + high, member)
    x = np.array([a[product, *element(i)] for i in range(4)], np.float16)
    element = lambda i: (member, i + high) if second == "row" else (i, member + high)
    y = np.array([b[product, *element(i)] for i in range(4)], np.float16)

    def place(kind: str, i: int):
        if kind == "f16":
            return member + high, i
        return (LANE & 1) + (i & 2) + high, (i & 4) + (LANE & 2) + (i & 1)

    pairs = lambda halves: np.ascontiguousarray(halves.reshape(-1, 2, 32).swapaxes(1, 2)).view(np.uint32)[:, :, 0]
    z = np.array([sums[product, *place(c, i)] for i in range(8)], np.float16 if c == "f16" else np.float32)
    given = pairs(z) if c == "f16" else z.view(np.uint32)
    out = np.zeros((4 if d == "f16" else 8, 32), np.uint32)
    names = iter(range(30))
    group = lambda count: "{" + ", ".join(f"%{next(names)}" for _ in range(count)) + "}"
    text = f"mma.sync.aligned.m8n8k4.{layouts}.{d}.f16.f16.{c} " + ", ".join(map(group, (len(out), 2, 2, len(given))))
    outputs = ", ".join(f'"=r"(d[32 * {i} + t])' for i in range(len(out)))
    inputs = ", ".join(f'"r"({name}[32 * {i} + t])' for name, count in (("a", 2), ("b", 2), ("c", len(given)))
                       for i in range(count))  # fmt: skip
    source = f"""extern "C" __global__ void k(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* d) {{
        int t = threadIdx.x;
        asm volatile("{text};" : {outputs} : {inputs});
    }}"""
    engine.c(source, arch="compute_75")(1, 32, pairs(x), pairs(y), np.ascontiguousarray(given), out)
    found = out.view(np.float32)
    if d == "f16":
        found = out[:, :, None].view(np.float16).swapaxes(1, 2).reshape(8, 32)
    expected = a @ b + sums
    assert all((found[i] == expected[product, *place(d, i)]).all() for i in range(8))


BITS = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const unsigned* A, const unsigned* B, int* D, int lda) {
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> c;
    wmma::fill_fragment(c, 5);
    wmma::load_matrix_sync(a, A, lda);
    wmma::load_matrix_sync(b, B, 128);
    wmma::bmma_sync(c, a, b, c);
    wmma::bmma_sync(c, a, b, c, wmma::experimental::bmmaBitOpAND);
    wmma::store_matrix_sync(D, c, 8, wmma::mem_row_major);
}"""


def test_single_bits_by_wmma(engine):
    a, b = RANDOM.integers(0, 2**32, (8, 8), dtype=np.uint32), RANDOM.integers(0, 2**32, (8, 4), dtype=np.uint32)
    out = np.zeros((8, 8), np.int32)
    engine.c(BITS)(1, 32, a, b, out, np.int32(256))
    pairs = [
        np.bitwise_count(op(a[:, None, :4], b[None])).sum(axis=2, dtype=int) for op in (np.bitwise_xor, np.bitwise_and)
    ]
    assert (out == 5 + pairs[0] + pairs[1]).all()


# ---------------------------------------------------------------- what is refused

D4, A4, B2, SCALES = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r4, %r5}", "%r6, {0, 0}, %r7, {0, 0}"
BLOCK = "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
FOUR = f"{D4}, {A4}, {B2}, {D4}"
ONE = "{%r0, %r1}, {%r2}, {%r3}, {%r0, %r1}"


@pytest.mark.parametrize(
    "rest",
    [
        f"m16n8k32.row.col.f32.e4m3.e2m1.f32 {FOUR}",  # .kind is missing
        f"m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f16 {D4}, {A4}, {B2}, {{%r0, %r1}}",
        f"m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {FOUR}",
        f"m16n8k32.row.col.kind::f8f6f4.block_scale.f32.e4m3.e4m3.f32 {FOUR}",
        f"m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32 {FOUR}",
        f"m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue4m3 {FOUR}, {SCALES}",
        f"m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {FOUR}, {SCALES}",
        f"m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3 {FOUR}, {SCALES}",
        f"m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3 {FOUR}, {SCALES}",
        f"{BLOCK} {FOUR}",
        f"{BLOCK} {FOUR}, %r6, {{1, 0}}, %r7, {{0, 0}}",
        f"{BLOCK} {FOUR}, %r6, {{0, 2}}, %r7, {{0, 0}}",
        f"{BLOCK} {FOUR}, %r6, {{0, 0}}, %r7, {{0, 4}}",
        f"{BLOCK} {FOUR}, %r6, {{%r1, %r2}}, %r7, {{0, 0}}",
        f"{BLOCK} {FOUR}, %r6, 0, %r7, {{0, 0}}",
        f"{BLOCK} {D4}, {A4}, {{%r4}}, {D4}, {SCALES}",
        f"m16n8k16.row.col.f16.f16.f16.f32 {{%r0, %r1}}, {A4}, {B2}, {D4}",
        "m8n8k4.row.col.f16.f16.f16.f32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7}, "
        "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}",
        "m8n8k4.row.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7}, {%r0, %r1, %r2, %r3}",
        f"m8n8k128.row.col.s32.b1.b1.s32.xor {ONE}",
        f"m8n8k128.row.col.satfinite.s32.b1.b1.s32.xor.popc {ONE}",
        f"m8n8k32.row.col.s32.s4.s4.s32.xor.popc {ONE}",
        f"sp::ordered_metadata.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {D4}, {A4}, {A4}, {D4}, %r6, 0",
    ],
)
def test_products_that_the_manual_has_not_are_refused(rest):
    with pytest.raises((PTXSyntaxError, Unsupported)):
        checked("sm_120a", f"mma.sync.aligned.{rest};")


@pytest.mark.parametrize(("target", "known"), [("sm_120a", True), ("sm_121a", True), ("sm_120", False),
                                               ("sm_100a", False), ("sm_90a", False)])  # fmt: skip
def test_targets_of_products(target, known):
    with nullcontext() if known else pytest.raises(PTXSyntaxError, match=r"needs \.target sm_120a"):
        checked(target, f"mma.sync.aligned.{BLOCK} {FOUR}, {SCALES};")


def test_every_scaled_product_is_in_the_table():
    scaled = [p for p in tensor.products() if p.scales]
    assert len(scaled) == 25 + 3 and len({p.name for p in tensor.products()}) == len(tensor.products())
