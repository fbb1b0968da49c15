"""Tensor cores: every product of the table on both engines, fragments, matrices in shared memory, counters, misuse."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from vgpu import ptx, reference
from vgpu.base.errors import Misaligned, OutOfBounds, PartialWarp, Unsupported
from vgpu.isa import tensor
from vgpu.launch import launch
from vgpu.storage import memory

LANE = np.arange(32)


def run_ptx(engine, text: str, arrays, threads: int = 32, **options):
    """Run the kernel `k` of a PTX text with pointers to the arrays, which are written back."""
    there = []
    for array in arrays:
        copy = memory.array(array.shape, array.dtype)
        copy[...] = array
        there.append(copy)
    params = [struct.pack("<Q", a.ctypes.data) for a in there]
    if engine == "reference":
        module = ptx.parse(text)
        result = reference.run(module.kernels["k"], module, 1, threads, params)
    else:
        result = launch.launch(launch.load(text, language="cuda")["k"], 1, threads, params, **options)
    for array, copy in zip(arrays, there, strict=True):
        array[...] = copy
    return result


# ---------------------------------------------------------------- every product, by registers


def fragment_kernel(opcode: str, instruction: str, fragments, repeats=(1, 1)) -> str:
    """A kernel that loads the registers of A, B and C (one row of 32 lanes each), multiplies and stores D."""
    names, lines = [], []
    kinds = {32: "b32", 64: "b64"}
    for letter, f in zip("abcd", fragments, strict=True):
        count = f.registers
        registers = [f"%{letter}{i}" for i in range(count)]
        kind = {"f32": "f32", "f64": "f64"}.get(f.type, kinds[f.width]) if letter in "cd" else kinds[f.width]
        lines.append(f".reg .{kind} {', '.join(registers)};")
        size = f.width // 8
        lines += [f"mad.lo.u64 %p, %lane, {size}, %{letter}p;"] if letter != "d" else []
        if letter != "d":
            lines += [f"ld.global.b{f.width} {r}, [%p+{32 * size * i}];" for i, r in enumerate(registers)]
        if opcode == "wmma" and letter in "ab" and f.type == "f16":  # eight registers, in which the matrix repeats
            registers = (registers * 8)[:8]
        names.append("{" + ", ".join(registers) + "}")
    d = fragments[3]
    size = d.width // 8
    lines.append(f"{instruction} {names[3]}, {names[0]}, {names[1]}, {names[2]};")
    lines.append(f"mad.lo.u64 %p, %lane, {size}, %dp;")
    lines += [f"st.global.b{d.width} [%p+{32 * size * i}], %d{i};" for i in range(d.registers)]
    parameters = ", ".join(f".param .u64 {letter}" for letter in "abcd")
    return "\n".join([
        ".version 8.7", ".target sm_90", ".address_size 64", f".visible .entry k({parameters})", "{",
        ".reg .b64 %ap, %bp, %cp, %dp, %p, %lane;", ".reg .b32 %t;",
        *[f"ld.param.u64 %{letter}p, [{letter}];" for letter in "abcd"],
        "mov.u32 %t, %tid.x;", "cvt.u64.u32 %lane, %t;", *lines, "ret;", "}",
    ])  # fmt: skip


def encode(kind: str, values: np.ndarray) -> np.ndarray:
    """Raw bits of numbers that the type can hold."""
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint64)
    if kind in ("bf16", "tf32"):
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        return bits >> np.uint64(16) if kind == "bf16" else bits
    if kind in ("f32", "f64"):
        return values.astype(f"f{tensor.BITS[kind] // 8}").view(f"u{tensor.BITS[kind] // 8}").astype(np.uint64)
    if kind in ("e4m3", "e5m2"):
        table = eight_bit_floats(kind)
        return np.abs(values[..., None] - table).argmin(axis=-1).astype(np.uint64)
    return values.astype(np.int64).astype(np.uint64) & np.uint64((1 << tensor.BITS[kind]) - 1)


def eight_bit_floats(kind: str) -> np.ndarray:
    """All values of an 8-bit float by their codes, with huge numbers in the place of those that are none."""
    codes = np.arange(256)
    sign = np.where(codes >> 7, -1.0, 1.0)
    bits, bias = {"e4m3": (3, 7), "e5m2": (2, 15)}[kind]
    exponent, mantissa = (codes & 127) >> bits, (codes & ((1 << bits) - 1)) / (1 << bits)
    value = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (exponent - bias))
    special = (codes & 127) >= (127 if kind == "e4m3" else 124)
    return np.where(special, 1e30, sign * value)


def numbers(kind: str, shape, generator) -> np.ndarray:
    """Numbers that the type holds exactly."""
    if kind in ("s8", "u8", "s4", "u4", "s32"):
        bits = tensor.BITS[kind]
        low = -(1 << bits - 1) if kind[0] == "s" else 0
        return generator.integers(low, low + (1 << bits), shape)
    values = generator.normal(0, 2, shape)
    if kind in ("e4m3", "e5m2"):
        table = eight_bit_floats(kind)
        return table[np.abs(values[..., None] - table).argmin(axis=-1)]
    if kind == "f16":
        return values.astype(np.float16).astype(np.float64)
    if kind in ("bf16", "tf32"):
        cut = 0xFFFF0000 if kind == "bf16" else 0xFFFFE000
        return (values.astype(np.float32).view(np.uint32) & np.uint32(cut)).view(np.float32).astype(np.float64)
    return values.astype(f"f{tensor.BITS[kind] // 8}").astype(np.float64)


def lanes_of(role: str, bits: int, m: int, n: int, k: int):
    """(register, position, row, column of the matrix) of every element, by the manual's group of four lanes."""
    group, member = LANE >> 2, LANE & 3
    if role in "cd":
        tiles = [(i, j) for j in range(0, n, 8) for i in range(0, m, 8)]
        for index, (i, j) in enumerate(tiles):
            for e in (0, 1):
                register, place = (index, e) if bits == 16 else (2 * index + e, 0)
                yield register, place, i + group, j + 2 * member + e
        return
    each = max(1, 32 // bits)
    outer, width = (m if role == "a" else n), 4 * each
    if role == "a":
        tiles = [(i, j) for j in range(0, k, width) for i in range(0, outer, 8)]
    else:
        tiles = [(i, j) for i in range(0, outer, 8) for j in range(0, k, width)]
    for register, (i, j) in enumerate(tiles):
        for e in range(each):
            row, column = i + group, j + each * member + e
            yield (register, e, row, column) if role == "a" else (register, e, column, row)


def pack(f: tensor.Fragment, product, codes: np.ndarray) -> np.ndarray:
    registers = np.zeros((f.registers, 32), np.uint64)
    for register, place, row, column in lanes_of(f.role, f.bits, product.m, product.n, product.k):
        registers[register] |= codes[row, column] << np.uint64(place * f.bits)
    return registers.astype(f"u{f.width // 8}")


def unpack(f: tensor.Fragment, product, registers: np.ndarray) -> np.ndarray:
    matrix = np.zeros((product.m, product.n), np.uint64)
    low = np.uint64((1 << f.bits) - 1)
    for register, place, row, column in lanes_of("d", f.bits, product.m, product.n, product.k):
        matrix[row, column] = registers[register].astype(np.uint64) >> np.uint64(place * f.bits) & low
    kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}[f.type]
    return matrix.astype(f"u{f.bits // 8}").view(kind).astype(np.int64 if f.type == "s32" else np.float64)


def tolerance(product, a, b, c) -> np.ndarray:
    """How far a sum may be from the exact one: the engines' stated bound."""
    if product.d == "s32":
        return np.zeros((product.m, product.n))
    size = np.abs(a) @ np.abs(b) + np.abs(c)
    bound = (product.k + 1) * size * (2.0**-53 if product.d == "f64" else 2.0**-24)
    return bound + (np.abs(a @ b + c) * 2.0**-11 + 2.0**-24 if product.d == "f16" else 0)


# Those of single bits and of floats below 8 bits are in test_narrow_products.py.
PRODUCTS = [
    p for p in tensor.products() if not (p.bitwise or p.scales or p.layouts) and {p.a, p.b} <= set(tensor.MMA_SHAPES)
]


def spelling(p: tensor.Product) -> str:
    """The `mma` (or else `wmma.mma`) instruction of a product."""
    end = ".satfinite" if p.saturates else ""
    shape = f"m{p.m}n{p.n}k{p.k}"
    if (p.m, p.n, p.k) in tensor.MMA_SHAPES.get(p.a, ()):
        return f"mma.sync.aligned.{shape}.row.col{end}.{p.d}.{p.a}.{p.b}.{p.c}"
    kinds = f"{p.d}.{p.c}" if p.a == "f16" else f"{p.d}.{p.a}.{p.b}.{p.c}"
    return f"wmma.mma.sync.aligned.row.col.{shape}.{kinds}{end}"


@pytest.mark.parametrize("name", ["compiled", "reference"])
@pytest.mark.parametrize("product", PRODUCTS, ids=lambda p: p.name)
def test_every_product(product, name):
    generator = np.random.default_rng(3)
    p = product
    a, b = numbers(p.a, (p.m, p.k), generator), numbers(p.b, (p.k, p.n), generator)
    c = numbers(p.c, (p.m, p.n), generator)
    if p.c == "s32" and not p.saturates:
        c[0, 0], c[1, 1] = 2**31 - 1, -(2**31)
    elif p.c == "s32":
        c = np.where(generator.integers(0, 2, c.shape), c % 5000, np.where(c > 0, 2**31 - 1, -(2**31)))
    fragments = p.fragments
    given = [pack(f, p, encode(f.type, x)) for f, x in zip(fragments, (a, b, c), strict=False)]
    out = np.zeros((fragments[3].registers, 32), f"u{fragments[3].width // 8}")
    run_ptx(name, fragment_kernel(spelling(p).split(".")[0], spelling(p), fragments), [*given, out])
    got, exact = unpack(fragments[3], p, out), a @ b + c
    if p.d == "s32":
        wrapped = (exact + 2**31) % 2**32 - 2**31
        expected = np.clip(exact, -(2**31), 2**31 - 1) if p.saturates else wrapped
        assert (got == expected).all()
        assert (expected != exact).any() or not p.saturates
    else:
        assert (np.abs(got - exact) <= tolerance(p, a, b, c)).all()
        assert np.abs(exact).max() > 1


def test_all_spelt_out():
    """Every product of the table can be written, as mma or as wmma."""
    assert all(tensor.product(spelling(p).split(".")[0], tuple(spelling(p).split(".")[1:])) == p for p in PRODUCTS)


SPECIAL = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 2.0**-24, 57344.0]


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32", "f64"])
def test_infinities_and_nans_spread_as_ieee_has_it(engine, kind):
    p = next(p for p in PRODUCTS if p.a == kind and p.m == 16 and p.n == 8 and p.k >= 8 and p.c != "f16" != p.d)
    generator = np.random.default_rng(5)
    a, b = generator.choice(SPECIAL, (p.m, p.k)), np.ones((p.k, p.n))
    a[0], a[1], b[:, 1] = 1, 0, 0  # 0·inf is NaN
    c = np.zeros((p.m, p.n))
    c[0, 0], c[0, 2] = np.inf, np.nan
    given = [pack(f, p, encode(f.type, x)) for f, x in zip(p.fragments, (a, b, c), strict=False)]
    out = np.zeros((p.fragments[3].registers, 32), f"u{p.fragments[3].width // 8}")
    run_ptx(engine.name, fragment_kernel("mma", spelling(p), p.fragments), [*given, out])
    with np.errstate(all="ignore"):
        expected = (a[:, :, None] * b[None]).sum(axis=1) + c
    np.testing.assert_allclose(unpack(p.fragments[3], p, out), expected, rtol=1e-6)


def test_tf32_ignores_the_low_bits(engine):
    p = next(p for p in PRODUCTS if p.name == "m16n8k8_f32_tf32_tf32_f32")
    a, b, c = np.full((16, 8), 1 + 2.0**-20), np.ones((8, 8)), np.zeros((16, 8))
    given = [pack(f, p, encode(f.type, x)) for f, x in zip(p.fragments, (a, b, c), strict=False)]
    out = np.zeros((4, 32), np.uint32)
    run_ptx(engine.name, fragment_kernel("mma", spelling(p), p.fragments), [*given, out])
    assert (unpack(p.fragments[3], p, out) == 8).all()


# ---------------------------------------------------------------- nvcuda::wmma

WMMA = [  # CUDA type, element of the arrays, accumulator, shape, NumPy types of both
    ("half", "half", "float", (16, 16, 16), "f2", "f4"), ("half", "half", "half", (16, 16, 16), "f2", "f2"),
    ("half", "half", "float", (32, 8, 16), "f2", "f4"), ("half", "half", "half", (8, 32, 16), "f2", "f2"),
    ("__nv_bfloat16", "__nv_bfloat16", "float", (16, 16, 16), "bf16", "f4"),
    ("__nv_bfloat16", "__nv_bfloat16", "float", (32, 8, 16), "bf16", "f4"),
    ("__nv_bfloat16", "__nv_bfloat16", "float", (8, 32, 16), "bf16", "f4"),
    ("wmma::precision::tf32", "float", "float", (16, 16, 8), "f4", "f4"),
    ("signed char", "signed char", "int", (16, 16, 16), "i1", "i4"),
    ("unsigned char", "unsigned char", "int", (32, 8, 16), "u1", "i4"),
    ("signed char", "signed char", "int", (8, 32, 16), "i1", "i4"),
    ("double", "double", "double", (8, 8, 4), "f8", "f8"),
]  # fmt: skip


def bfloat(values: np.ndarray) -> np.ndarray:
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def device(values: np.ndarray, kind: str) -> np.ndarray:
    return bfloat(values) if kind == "bf16" else values.astype(kind)


SPACES = {
    "global": "const E *pa = A, *pb = B;",
    # Rows that a bank-conflict-free tile would have: 16 bytes longer than needed.
    "shared": """__shared__ __align__(32) E sa[2048], sb[2048];
            for (int i = threadIdx.x; i < 2048; i += 32) { sa[i] = A[i]; sb[i] = B[i]; }
            __syncthreads(); const E *pa = sa, *pb = sb;""",
    "either": """__shared__ __align__(32) E sa[2048], sb[2048];
            for (int i = threadIdx.x; i < 2048; i += 32) { sa[i] = A[i]; sb[i] = B[i]; }
            __syncthreads(); const E *pa = which ? sa : A, *pb = which ? sb : B;""",
}
ORDERS = [("row", "col", "row"), ("col", "row", "col"), ("row", "row", "row")]


def source(kind: str, element: str, sums: str, shape) -> str:
    """One kernel for each way in which the matrices lie, named after it: headers are read once for all of them."""
    m, n, k = shape
    kernels = [f"""
        extern "C" __global__ void {a}_{b}_{order}_{space}(const E* A, const E* B, const {sums}* C, {sums}* D,
                                                           int lda, int ldb, int ldc, int which) {{
            wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {kind}, wmma::{a}_major> a;
            wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {kind}, wmma::{b}_major> b;
            wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {sums}> c;
            {load}
            wmma::load_matrix_sync(a, pa, lda);
            wmma::load_matrix_sync(b, pb, ldb);
            wmma::load_matrix_sync(c, C, ldc, wmma::mem_{order}_major);
            for (int i = 0; i < a.num_elements; i++) a.x[i] = {"a.x[i]" if kind != element else "a.x[i] + a.x[i]"};
            wmma::mma_sync(c, a, b, c);
            for (int i = 0; i < c.num_elements; i++) c.x[i] = c.x[i] + c.x[i];
            wmma::store_matrix_sync(D, c, ldc, wmma::mem_{order}_major);
        }}""" for (a, b, order) in ORDERS for space, load in SPACES.items()]  # fmt: skip
    return f"#include <mma.h>\nusing namespace nvcuda;\ntypedef {element} E;\n" + "\n".join(kernels)


def in_memory(matrix: np.ndarray, order: str, pad: int) -> tuple[np.ndarray, int]:
    """The matrix in rows or columns that are `pad` elements longer than needed, 2048 elements in all."""
    lines = matrix if order == "row" else matrix.T
    flat = np.zeros(2048)
    stride = lines.shape[1] + pad
    for i, line in enumerate(lines):
        flat[i * stride : i * stride + len(line)] = line
    return flat, stride


# The first type lies in every way; the others in each order once, from another space in turn, and else exhaustively.
WMMA_CASES = [
    pytest.param(*case, *orders, space, id="-".join(map(str, (*case[1:4], *orders, space))).replace(" ", ""),
                 marks=() if turn == 0 or (turn + at) % 2 == space_at else pytest.mark.exhaustive)
    for turn, case in enumerate(WMMA) for at, orders in enumerate(ORDERS) for space_at, space in enumerate(SPACES)
    if space != "either" or case[3][0] == 16  # generic addresses: one shape is enough
]  # fmt: skip


@pytest.mark.parametrize(("kind", "element", "sums", "shape", "dtype", "total", "a", "b", "order", "space"), WMMA_CASES)
def test_wmma(engine, kind, element, sums, shape, dtype, total, a, b, order, space):
    m, n, k = shape
    generator = np.random.default_rng(8)
    low = 0 if dtype == "u1" else -8
    x, y, z = (generator.integers(low, 9, size).astype(float) for size in ((m, k), (k, n), (m, n)))
    size = {"f2": 2, "bf16": 2, "f4": 4, "f8": 8}.get(dtype, 1)
    out_size = np.dtype(total).itemsize
    (fa, lda), (fb, ldb), (fc, ldc) = (
        in_memory(w, o, 32 // s) for w, o, s in ((x, a, size), (y, b, size), (z, order, out_size))
    )
    out = np.zeros(2048, total)
    kernel = engine.c(source(kind, element, sums, shape), f"{a}_{b}_{order}_{space}")
    kernel(1, 32, device(fa, dtype), device(fb, dtype), fc.astype(total), out, lda, ldb, ldc, 1)
    double = 1 if kind != element else 2
    expected, _ = in_memory(2 * (double * x @ y + z), order, 32 // out_size)
    assert (out.astype(float) == expected).all()


def test_four_bit_fragments(engine):
    text = """
        #include <mma.h>
        using namespace nvcuda;
        extern "C" __global__ void k(const signed char* A, const signed char* B, int* D) {
            wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::s4, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 8, 8, 32, wmma::experimental::precision::s4, wmma::col_major> b;
            wmma::fragment<wmma::accumulator, 8, 8, 32, int> c;
            wmma::fill_fragment(c, 5);
            wmma::load_matrix_sync(a, A, 32);
            wmma::load_matrix_sync(b, B, 32);
            wmma::mma_sync(c, a, b, c);
            wmma::store_matrix_sync(D, c, 8, wmma::mem_row_major);
        }"""
    generator = np.random.default_rng(2)
    x, y = generator.integers(-8, 8, (8, 32)), generator.integers(-8, 8, (32, 8))
    halves = lambda w: ((w[:, ::2] & 15) | (w[:, 1::2] & 15) << 4).astype(np.uint8).view(np.int8)
    out = np.zeros((8, 8), np.int32)
    engine.c(text)(1, 32, np.ascontiguousarray(halves(x)), np.ascontiguousarray(halves(y.T)), out)
    assert (out == x @ y + 5).all()


MATMUL = """
    #include <mma.h>
    using namespace nvcuda;
    extern "C" __global__ void matmul(const half* A, const half* B, float* C, int n) {
        int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(c, 0.0f);
        for (int k = 0; k < n; k += 16) {
            wmma::load_matrix_sync(a, A + row * n + k, n);
            wmma::load_matrix_sync(b, B + k * n + column, n);
            wmma::mma_sync(c, a, b, c);
        }
        wmma::store_matrix_sync(C + row * n + column, c, n, wmma::mem_row_major);
    }"""


def test_matmul_with_counters(compiled):
    n = 256
    generator = np.random.default_rng(0)
    a, b = (generator.normal(size=(n, n)).astype(np.float16) for _ in range(2))
    out = np.zeros((n, n), np.float32)
    counters = compiled.c(MATMUL)((n // 64, n // 16), 128, a, b, out, n, observe=True)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = (n + 1) * 2.0**-24 * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
    assert (np.abs(out - exact) <= bound).all()
    products = (n // 16) ** 3
    assert counters["sm__inst_executed_pipe_tensor.sum"] == counters["tensor_hmma"] == products
    assert counters["flops_tensor_fp16"] == 2 * n**3
    assert counters["flops_fp16"] == counters["tensor_imma"] == 0
    # A 16×16 tile of halves has rows of one sector: each of 4 loads of A (a word a lane) touches 8 rows; B, whose
    # columns are the group's, takes 8 loads of one half a lane, each from 8 rows of k in 1 sector.
    assert counters["global_load_requests"] == products * (4 + 8)
    assert counters["global_store_requests"] == (n // 16) ** 2 * 4
    assert counters["global_store_sectors"] == (n // 16) ** 2 * 4 * 8, "8 rows of 8 floats, one sector each"
    assert counters["global_store_bytes"] == 4 * n * n


# ---------------------------------------------------------------- ldmatrix, stmatrix, movmatrix

MATRICES = """
    extern "C" __global__ void k(const unsigned* in, unsigned* out, int stride) {
        __shared__ __align__(16) unsigned tile[2048];
        for (int i = threadIdx.x; i < 2048; i += 32) tile[i] = in[i];
        __syncthreads();
        unsigned at = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x * stride, r[4] = {0, 0, 0, 0};
        %s
        for (int i = 0; i < 4; i++) out[32 * i + threadIdx.x] = r[i];
        __syncthreads();
        for (int i = threadIdx.x; i < 2048; i += 32) out[128 + i] = tile[i];
    }"""


def matrix_code(opcode: str, count: int, trans: str) -> str:
    registers = "{" + ", ".join(f"%{i}" for i in range(count)) + "}"
    if opcode == "ldmatrix":
        outputs = ", ".join(f'"=r"(r[{i}])' for i in range(count))
        return (f'asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {registers}, [%{count}];" '
                f': {outputs} : "r"(at) : "memory");')  # fmt: skip
    inputs = ", ".join(f'"r"(threadIdx.x * 100 + {i})' for i in range(count))
    return (f'asm volatile("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%{count}], {registers};" '
            f':: {inputs}, "r"(at) : "memory");')  # fmt: skip


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("stride", [16, 32, 48, 128])
def test_ldmatrix(engine, count, trans, stride):
    data = np.random.default_rng(1).integers(0, 2**32, 2048, dtype=np.uint32)
    out = np.zeros(128 + 2048, np.uint32)
    engine.c(MATRICES % matrix_code("ldmatrix", count, trans))(1, 32, data, out, stride)
    for i in range(count):
        starts = (np.arange(8) + 8 * i) * stride // 2
        matrix = np.array([data.view(np.uint16)[s : s + 8] for s in starts])
        expected = np.ascontiguousarray(matrix.T if trans else matrix).view(np.uint32).ravel()
        assert (out[32 * i : 32 * i + 32] == expected).all()


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix(engine, count, trans):
    data, out = np.zeros(2048, np.uint32), np.zeros(128 + 2048, np.uint32)
    engine.c(MATRICES % matrix_code("stmatrix", count, trans), arch="compute_90")(1, 32, data, out, 32)
    expected = np.zeros(2048, np.uint32)
    for i in range(count):
        matrix = (LANE * 100 + i).astype(np.uint32).view(np.uint16).reshape(8, 8)
        rows = np.ascontiguousarray(matrix.T if trans else matrix).view(np.uint32)
        for row in range(8):
            expected[8 * (8 * i + row) :][:4] = rows[row]
    assert (out[128:] == expected).all()


def test_movmatrix(engine):
    code = 'asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[0]) : "r"(tile[threadIdx.x]));'
    data = np.arange(2048, dtype=np.uint32) * 65537
    out = np.zeros(128 + 2048, np.uint32)
    engine.c(MATRICES % code)(1, 32, data, out, 0)
    expected = np.ascontiguousarray(data[:32].view(np.uint16).reshape(8, 8).T).view(np.uint32).ravel()
    assert (out[:32] == expected).all()


# (matrices, bytes between rows, wavefronts): 8 rows of 16 bytes fill the 32 banks once if they lie side by side.
CONFLICTS = [(4, 16, 4), (2, 16, 2), (1, 16, 1), (4, 32, 8), (4, 64, 16), (4, 128, 32), (1, 128, 8), (4, 144, 4),
             (2, 48, 2), (4, 80, 4)]  # fmt: skip


@pytest.mark.parametrize(("count", "stride", "wavefronts"), CONFLICTS)
def test_bank_conflicts_of_ldmatrix(compiled, count, stride, wavefronts):
    data, out = np.zeros(2048, np.uint32), np.zeros(128 + 2048, np.uint32)
    kernel = compiled.c(MATRICES % matrix_code("ldmatrix", count, ""))
    line = 1 + (MATRICES % "").splitlines().index("        ")
    counters = kernel(1, 32, data, out, stride, observe=True).lines[line]
    assert counters["matrix_load_requests"] == 1
    assert counters["shared_load_wavefronts"] == wavefronts
    assert counters.get("shared_load_conflicts", 0) == wavefronts - count
    assert "shared_load_requests" not in counters


# ---------------------------------------------------------------- misuse


def test_part_of_a_warp(engine):
    out = np.zeros((16, 16), np.float32)
    a = np.zeros((16, 16), np.float16)
    kernel = engine.c(MATMUL)
    with pytest.raises(PartialWarp, match=r"(?s)and 19 others.*wmma.*multiple of 32|Only 20 of the 32") as caught:
        kernel(1, 20, a, a, out, 16)
    assert caught.value.line in (10, 11)


def test_a_branch_by_thread(engine):
    text = MATMUL.replace("wmma::mma_sync(c, a, b, c);", "if (threadIdx.x % 2) wmma::mma_sync(c, a, b, c);")
    a, out = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float32)
    with pytest.raises(PartialWarp) as caught:
        engine.c(text)(1, 32, a, a, out, 16)
    assert caught.value.line in (13, 15), "one half waits at the product, the other at the store"


def test_a_branch_by_warp_is_fine(engine):
    text = MATMUL.replace("wmma::mma_sync(c, a, b, c);", "if (threadIdx.x >= 32) wmma::mma_sync(c, a, b, c);")
    a, out = np.ones((32, 32), np.float16), np.zeros((32, 32), np.float32)
    engine.c(text)((1, 2), 64, a, a, out, 32)
    assert (out[:, :16] == 0).all() and (out[:, 16:] == 32).all()


def test_lanes_meet_for_a_product(engine):
    """Lanes that took different ways through a loop come together before the warp multiplies."""
    text = MATMUL.replace(
        "wmma::fill_fragment(c, 0.0f);",
        "int t = 0; for (int i = 0; i < threadIdx.x % 5; i++) t += n > i; wmma::fill_fragment(c, t * 0.0f);",
    )
    a, out = np.ones((16, 16), np.float16), np.zeros((16, 16), np.float32)
    engine.c(text)(1, 32, a, a, out, 16)
    assert (out == 16).all()


@pytest.mark.parametrize(("change", "error", "words"), [
    (("A + row * n + k, n", "A + row * n + k + threadIdx.x * 16, n"), PartialWarp, "address"),
    (("A + row * n + k, n", "A + 1, n"), Misaligned, "multiple of 32"),
    (("A + row * n + k, n", "A, n + 1"), Misaligned, "(?s)16 bytes.*(multiple of 8|17) elements"),
    (("A + row * n + k, n", "A + 256, n"), OutOfBounds, "load|read"),
    (("C + row * n + column", "C + 128"), OutOfBounds, "store|wrote"),
])  # fmt: skip
def test_wrong_places(engine, change, error, words):
    a, out = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float32)
    assert change[0] in MATMUL
    with pytest.raises(error, match=words) as caught:
        engine.c(MATMUL.replace(*change))(1, 32, a, a, out, 16)
    assert caught.value.line == (15 if error is OutOfBounds and "C" in change[0] else 11)


@pytest.mark.parametrize(("stride", "error"), [(8, Misaligned), (512, OutOfBounds)])
def test_wrong_rows_of_ldmatrix(engine, stride, error):
    data, out = np.zeros(2048, np.uint32), np.zeros(128 + 2048, np.uint32)
    with pytest.raises(error):
        engine.c(MATRICES % matrix_code("ldmatrix", 4, ""))(1, 32, data, out, stride)


REFUSED = [
    ("mma.sync.aligned.m8n8k8.row.col.f16.f16.f16.f16 {%r, %r}, {%r, %r}, {%r, %r}, {%r, %r}", "m16n8k8"),
    ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f, %f, %f, %f}, {%r, %r}, {%r, %r}, "
     "{%f, %f, %f, %f}, %r, 0", "dense"),
    ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f, %f, %f, %f}, %l, %l, %r, 0, 1, 1, 1, 0, 0", "dense"),
]  # fmt: skip


@pytest.mark.parametrize(("instruction", "words"), REFUSED)
def test_what_is_refused_says_what_to_use_instead(engine, instruction, words):
    text = (".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{.reg .b32 %r; .reg .f32 %f; "
            f".reg .b64 %l;\n{instruction};\nret;\n}}")  # fmt: skip
    match = words if engine.name == "compiled" else "not known"
    with pytest.raises(Unsupported, match=match):
        run_ptx(engine.name, text, [])


# ---------------------------------------------------------------- a whole multiplication by mma.sync and ldmatrix

BY_HAND = """
    #include <cuda_fp16.h>
    // Four warps make a tile of 64 × 64 of C = A·B, all row-major: each 16 rows, B turned by ldmatrix.
    extern "C" __global__ void matmul(const half* A, const half* B, float* C, int n) {
        __shared__ __align__(16) half a[64][SKEW(32)], b[32][SKEW(64)];
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
        float c[8][4] = {};
        for (int k = 0; k < n; k += 32) {
            for (int i = threadIdx.x; i < 64 * 4; i += 128)
                *(int4*)&a[i / 4][i % 4 * 8] = *(const int4*)&A[(row + i / 4) * n + k + i % 4 * 8];
            for (int i = threadIdx.x; i < 32 * 8; i += 128)
                *(int4*)&b[i / 8][i % 8 * 8] = *(const int4*)&B[(k + i / 8) * n + column + i % 8 * 8];
            __syncthreads();
            for (int step = 0; step < 32; step += 16) {
                unsigned x[4], y[2];
                unsigned at = __cvta_generic_to_shared(&a[warp * 16 + lane % 16][step + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                    : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at));
                for (int j = 0; j < 8; j++) {
                    at = __cvta_generic_to_shared(&b[step + lane % 16][j * 8]);
                    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                        : "=r"(y[0]), "=r"(y[1]) : "r"(at));
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
                        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
                }
            }
            __syncthreads();
        }
        for (int j = 0; j < 8; j++)
            for (int i = 0; i < 4; i++)
                C[(row + warp * 16 + lane / 4 + i / 2 * 8) * n + column + j * 8 + lane % 4 * 2 + i % 2] = c[j][i];
    }"""


@pytest.mark.parametrize("pad", [0, 8])
def test_matmul_by_hand(compiled, pad):
    n = 128
    generator = np.random.default_rng(6)
    a, b = (generator.normal(size=(n, n)).astype(np.float16) for _ in range(2))
    out = np.zeros((n, n), np.float32)
    kernel = compiled.c(BY_HAND.replace("SKEW(32)", str(32 + pad)).replace("SKEW(64)", str(64 + pad)))
    counters = kernel((n // 64, n // 64), 128, a, b, out, n, observe=True)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), atol=1e-3)
    warps, steps = 4 * (n // 64) ** 2, n // 16
    assert counters["tensor_hmma"] == warps * steps * 8
    assert counters["matrix_load_requests"] == warps * steps * 9
    least = warps * steps * (4 + 8 * 2)
    # Rows of 64 and 128 bytes put 8 rows of a matrix on the same banks, 2 and 8 times; 16 bytes more spread them.
    assert counters["shared_load_wavefronts"] == (least if pad else warps * steps * (4 * 4 + 8 * 2 * 8))
    assert counters["shared_load_conflicts"] == counters["shared_load_wavefronts"] - least


def test_matmul_by_hand_on_the_reference(interpreted):
    n = 64
    generator = np.random.default_rng(6)
    a, b = (generator.normal(size=(n, n)).astype(np.float16) for _ in range(2))
    out = np.zeros((n, n), np.float32)
    interpreted.c(BY_HAND.replace("SKEW(32)", "32").replace("SKEW(64)", "64"))(1, 128, a, b, out, n)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), atol=1e-3)
