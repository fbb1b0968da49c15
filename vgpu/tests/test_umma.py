"""`tcgen05.mma` on both engines: kinds, types, shapes, layouts of tensor and shared memory, scales, pairs, kernels.

Where elements lie in shared memory is worked out from CuTe's canonical layouts, as for `wgmma`; where rows of D, A and
scales lie in tensor memory is written down here from CUTLASS's `mma_traits_sm100_frag.hpp`.
"""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.errors import KernelError, OutOfBounds
from vgpu.isa import umma
from vgpu.tests.test_tensor import encode
from vgpu.tests.test_tensor_memory import BASE, BLACKWELL, START
from vgpu.tests.test_warpgroup import Tile

MODES = {16: 0, 32: 6, 64: 4, 128: 2}  # bytes of the pattern -> the descriptor's mode
CODES = {name: code for kind in umma.KINDS.values() for code, name in kind.types.items()}
NARROW = {"e4m3": (4, 3), "e5m2": (5, 2), "e2m3": (2, 3), "e3m2": (3, 2), "e2m1": (2, 1)}


def value(kind: str, codes) -> np.ndarray:
    """Numbers of codes of a small float, by its bits of exponent and mantissa."""
    exponent_bits, bits = NARROW[kind]
    codes = np.asarray(codes).astype(int)
    exponent, mantissa = codes >> bits & (1 << exponent_bits) - 1, codes % (1 << bits)
    bias = (1 << exponent_bits - 1) - 1
    number = np.where(exponent > 0, mantissa + (1 << bits), mantissa) * 2.0 ** (np.maximum(exponent, 1) - bias - bits)
    return np.where(codes >> bits + exponent_bits & 1, -number, number)


def drawn(kind: str, shape, generator):
    """Random elements: their codes and their numbers, of which all sums are exact."""
    if kind in NARROW:
        exponent_bits, bits = NARROW[kind]
        codes = generator.integers(0, 1 << bits + exponent_bits + 1, shape)
        if bits + exponent_bits == 7:  # no infinities, and nothing so small that sums need more bits
            codes = generator.choice(
                np.flatnonzero(np.isin(np.abs(value(kind, np.arange(256))), [0, 0.5, 1, 1.5, 2])), shape
            )
        return codes.astype(np.uint64), value(kind, codes)
    numbers = generator.integers(0 if kind == "u8" else -3, 4, shape).astype(np.float64)
    return encode(kind, numbers), numbers


def packed(codes, kind: str, k: int):
    """Rows of 32 bytes as they are in shared memory."""
    bits = 256 // k
    if k == 64:
        return (codes[:, ::2] | codes[:, 1::2] << np.uint64(4)).astype(np.uint8)
    if k == 32 and kind in ("e2m3", "e3m2", "e2m1"):
        width = sum(NARROW[kind]) + 1
        each = codes.reshape(-1, 16)
        whole = [sum(int(code) << width * i for i, code in enumerate(row)) for row in each]
        return np.frombuffer(b"".join(n.to_bytes(16, "little") for n in whole), np.uint8).reshape(len(codes), 32)
    return codes.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]).view(np.uint8)


class Matrix(Tile):
    """A or B in shared memory, with a descriptor for sm_100a."""

    def __init__(self, codes, kind, k, width=128, major="k", start=0):
        if major == "k":
            super().__init__(packed(codes, kind, k).astype(np.uint64), 8, width, major, start)
        elif kind == "tf32":  # four k a line of the pattern, which exchanges 32 bytes
            rows = len(codes)
            self.codes, self.size, (leading, stride) = codes, 4, (2 * 512, 512)
            row, at = np.arange(rows)[:, None] * 4, np.arange(k)
            address = start + row // 128 * leading + at // 4 * stride + at % 4 * 128 + row % 128
            self.places = address ^ (address >> 7 & 3) << 5
            self.descriptor = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32
            self.descriptor |= 1 << 61 | BASE
            return
        else:
            super().__init__(codes, 256 // k, width, major, start)
        self.descriptor = self.descriptor & (1 << 62) - 1 | MODES[width] << 61 | BASE


def in_tensor_memory(codes, kind: str, k: int):
    """The 8 words of each row of A."""
    if k == 32 and kind in ("e2m3", "e3m2", "e2m1"):
        codes = codes << np.uint64(2 if kind == "e2m1" else 1)
        return np.ascontiguousarray(codes.astype(np.uint8)).view(np.uint32)
    return np.ascontiguousarray(packed(codes, kind, k)).view(np.uint32)


def described(v, a, b, d, m, n, **more) -> int:
    """An instruction descriptor."""
    found = CODES_OF[v.kind][a] << 7 | CODES_OF[v.kind][b] << 10 | n >> 3 << 17 | m >> 4 << 24
    if not v.scales:
        found |= {"f16": 0, "f32": 1, "s32": 2}[d] << 4
    for name, number in more.items():
        found |= number << umma.INSTRUCTION[name][0]
    return found


CODES_OF = {name: {t: code for code, t in kind.types.items()} for name, kind in umma.KINDS.items()}

PRODUCT = (
    START.replace("cta_group::1", "cta_group::CTAS")
    + """
extern "C" __global__ CLUSTER void k(const u32* images, int words, u64 da, u64 db, u32 idesc, const u32* before,
    u32* after, int keep, int columns, int d, int a, int sfa, int sfb, const u32* off) {
    extern __shared__ __align__(1024) u32 shared[];
    __shared__ u64 bar;
    int rank = CTAS == 2 ? blockIdx.x % 2 : 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x) shared[i] = images[rank * words + i];
    asm volatile("fence.proxy.async;" ::: "memory");
    u32 t = allocate(512);
    for (int c = 0; c < columns; ++c) put(t + quarter() + c, before[(rank * columns + c) * 128 + threadIdx.x]);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");
    asm volatile("tcgen05.fence::before_thread_sync;");
    SYNC
    asm volatile("tcgen05.fence::after_thread_sync;");
    if (threadIdx.x == 0 && rank == 0) {
        u64 base = at(shared) >> 4;
        da += base; db += base;
        u32 m[8];
        for (int i = 0; i < 8; ++i) m[i] = off[i];
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::CTAS.kind::KIND }"
            :: "r"(t + d), LEFT, "l"(db), "r"(idesc), "r"(keep), "r"(t + sfa), "r"(t + sfb),
            "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3]), "r"(m[4]), "r"(m[5]), "r"(m[6]), "r"(m[7]));
        COMMIT
    }
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }"
        :: "r"(at(&bar)) : "memory");
    asm volatile("tcgen05.fence::after_thread_sync;");
    for (int c = 0; c < columns; ++c) after[(rank * columns + c) * 128 + threadIdx.x] = get(t + quarter() + c);
    SYNC
    release(t, 512);
}"""
)
COMMITS = {
    1: 'asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(at(&bar)));',
    2: 'asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], '
       '%1;"'
       ':: "r"(at(&bar)), "h"((unsigned short)3));',
}  # fmt: skip
SYNCS = {1: "__syncthreads();", 2: 'asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");'}


def kernel_text(v, size=None, masked=False, down=None, collector="") -> str:
    """The kernel of one product: `size` is how its scales are said."""
    words = f"{v.kind}{'.block_scale' if v.scales else ''}{'.' + size if size else ''}{collector}"
    left = "[%1]" if v.in_tensor_memory else "%1"
    more = ", [%5], [%6]" if v.scales else ""
    if masked:
        more += f", {{{', '.join(f'%{7 + i}' for i in range(4 * v.ctas))}}}"
    tail = f", {down}" if down is not None else ""
    return (
        PRODUCT.replace("kind::KIND", f"kind::{words} [%0], {left}, %2, %3{more}, p{tail};")
        .replace("LEFT", '"r"(t + a)' if v.in_tensor_memory else '"l"(da)')
        .replace("CLUSTER", "__cluster_dims__(2)" if v.ctas == 2 else "").replace("COMMIT", COMMITS[v.ctas])
        .replace("SYNC", SYNCS[v.ctas]).replace("CTAS", str(v.ctas))
    )  # fmt: skip


def lanes_of(v, m, n, first=0):
    """(block, row, lanes, columns of D) of each row of the product."""
    for i in range(m):
        if (v.ctas, m) == (1, 64):
            yield 0, i, [(first + i // 16 * 32 + i % 16, 0, n)]
        elif (v.ctas, m) == (2, 128):
            yield i // 64, i % 64, [(i % 64, 0, n // 2), (i % 64 + 64, n // 2, n)]
        else:
            yield i // 128, i % 128, [(i % 128, 0, n)]


SCALES = {"ue8m0": lambda c: 2.0 ** (c - 127.0), "ue4m3": lambda c: value("e4m3", c)}


class Case:
    """Random matrices for one product, and what it gives."""

    def __init__(self, v, types, m, n, seed=1, scale_type="ue8m0"):
        self.v, (self.d_type, self.a_type, self.b_type), self.m, self.n = v, types.split(), m, n
        generator = np.random.default_rng(seed)
        k = v.of.k
        self.a, self.left = drawn(self.a_type, (m, k), generator)
        self.b, self.right = drawn(self.b_type, (n, k), generator)
        self.start = generator.integers(-3, 4, (m, n)).astype(np.float64)
        self.scale_type = scale_type
        low, high = (125, 130) if scale_type == "ue8m0" else (0x30, 0x48)
        self.sa, self.sb = (generator.integers(low, high, (rows, max(v.scales, 1))) for rows in (m, n))
        self.garbage = generator.integers(0, 2**32, (v.ctas, 512, 128), np.uint32)

    def expected(self, keep=1, sign=1, down=0):
        left, right = self.left, self.right
        if self.v.scales:
            each = self.v.of.k // self.v.scales
            left = left * np.repeat(SCALES[self.scale_type](self.sa), each, axis=1)
            right = right * np.repeat(SCALES[self.scale_type](self.sb), each, axis=1)
        return sign * (left @ right.T) + keep * self.start * 2.0**-down

    def run(
        self,
        engine,
        a_layout=None,
        b_layout=None,
        d=11,
        a=2,
        sfa=None,
        keep=1,
        byte=0,
        size=None,
        off=None,
        first=0,
        collector="",
        down=None,
        idesc=None,
        **more,
    ):
        v, m, n, k = self.v, self.m, self.n, self.v.of.k
        sfa = d + n if sfa is None else sfa
        sfb = sfa + 5
        before = self.garbage[:, : sfb + 9 if v.scales else d + n + 2].copy()
        encoded = encode(self.d_type, self.start).astype(np.uint32)
        words = in_tensor_memory(self.a, self.a_type, k)
        for i, (block, row, parts) in zip(range(m), lanes_of(v, m, n, first), strict=True):
            for lane, low, high in parts:
                before[block, d : d + high - low, lane] = encoded[i, low:high]
                if v.in_tensor_memory:
                    before[block, a : a + 8, lane] = words[i]
                if v.scales:
                    self._put_scales(before[block], lane, row, i, sfa, sfb, low, high, byte)
        images, descriptors = self._images(a_layout or {}, b_layout or {})
        code = described(v, self.a_type, self.b_type, self.d_type, m, n, **more)
        if v.scales:
            code |= (self.scale_type == "ue8m0") << 23 | byte << 29 | byte << 4
        source = kernel_text(v, size, off is not None, down, collector)
        after = np.zeros_like(before)
        engine.c(source, **BLACKWELL)(
            v.ctas, 128, images.view(np.uint32), images.shape[1] // 4, *descriptors,
            np.uint32(code if idesc is None else idesc),
            before, after, keep, before.shape[1], d | first << 16, a | first << 16, sfa, sfb,
            np.array([0] * 8 if off is None else off, np.uint32), shared_bytes=images.shape[1],
        )  # fmt: skip
        return self._result(before, after, d, first)

    def _put_scales(self, words, lane, row, i, sfa, sfb, low, high, byte):
        """Each quarter of the lanes has all scales: those of its rows, and of its columns."""
        for at, codes, number in [(row, self.sa[i], sfa), *((j - low, self.sb[j], sfb) for j in range(low, high))]:
            place = words[number + at // 32, lane // 32 * 32 + at % 32 :][:1]
            for part, scale in enumerate(codes.tolist()):
                place[0] = int(place[0]) & ~(255 << 8 * (byte + part)) | scale << 8 * (byte + part)

    def _images(self, a_layout, b_layout):
        """What the blocks have in shared memory: each its rows of A and B."""
        v, images, descriptors = self.v, [], ()
        for block in range(v.ctas):
            a, b = (x[len(x) // v.ctas * block :][: len(x) // v.ctas] for x in (self.a, self.b))
            left = Matrix(a, self.a_type, v.of.k, **a_layout)
            behind = -(-left.end // 1024) * 1024
            right = Matrix(b, self.b_type, v.of.k, **{**b_layout, "start": behind + b_layout.get("start", 0)})
            image = np.zeros(-(-right.end // 1024) * 1024, np.uint8)
            left.put(image)
            right.put(image)
            images.append(image)
            descriptors = np.uint64(left.descriptor), np.uint64(right.descriptor)
        return np.stack(images), descriptors

    def _result(self, before, after, d, first):
        """The product; all else of tensor memory has stayed what it was."""
        found, untouched = np.zeros((self.m, self.n), np.uint32), np.ones(before.shape, bool)
        for i, (block, _, parts) in zip(range(self.m), lanes_of(self.v, self.m, self.n, first), strict=True):
            for lane, low, high in parts:
                found[i, low:high] = after[block, d : d + high - low, lane]
                untouched[block, d : d + high - low, lane] = False
        assert (before == after)[untouched].all()
        if self.d_type == "f16":
            return found.astype(np.uint16).view(np.float16).astype(np.float64)
        return found.view(np.float32 if self.d_type == "f32" else np.int32).astype(np.float64)


def of(kind, ctas=1, a_in_memory=False, scales=0):
    return umma.Variant(kind, ctas, a_in_memory, scales)


TYPES = {
    "f16": ["f32 f16 f16", "f32 bf16 bf16", "f16 f16 f16", "f32 f16 bf16"], "tf32": ["f32 tf32 tf32"],
    "f8f6f4": ["f32 e4m3 e5m2", "f16 e5m2 e4m3", "f32 e2m3 e3m2", "f32 e3m2 e2m1", "f32 e2m1 e2m3"],
    "i8": ["s32 u8 s8", "s32 s8 u8"],
}  # fmt: skip


@pytest.mark.parametrize("in_memory", [False, True], ids=["by descriptor", "in tensor memory"])
@pytest.mark.parametrize("kind", TYPES)
def test_every_type(engine, kind, in_memory):
    for types in TYPES[kind]:
        case = Case(of(kind, a_in_memory=in_memory), types, 64, 8)
        assert (case.run(engine) == case.expected()).all()


SHAPES = [(1, 64, 8), (1, 64, 256), (1, 128, 16), (1, 128, 240), (2, 128, 32), (2, 256, 64)]


@pytest.mark.parametrize("in_memory", [False, True], ids=["by descriptor", "in tensor memory"])
@pytest.mark.parametrize(("ctas", "m", "n"), SHAPES)
def test_shapes_and_pairs(compiled, ctas, m, n, in_memory):
    """Of a pair, each block has half of A and half of B, and its part of D."""
    case = Case(of("f16", ctas, in_memory), "f32 f16 f16", m, n)
    assert (case.run(compiled) == case.expected()).all()


def test_shapes_and_pairs_interpreted(interpreted):
    for ctas, m, n in ((2, 128, 32), (2, 256, 16)):
        case = Case(of("f16", ctas, m == 128), "f32 f16 f16", m, n)
        assert (case.run(interpreted) == case.expected()).all()


@pytest.mark.parametrize("in_memory", [False, True])
def test_64_rows_in_the_upper_half_of_each_quarter(engine, in_memory):
    case = Case(of("f16", 1, in_memory), "f32 f16 f16", 64, 16)
    assert (case.run(engine, first=16) == case.expected()).all()


def swizzled_case(engine, kind, types, n, width, majors):
    """A product of matrices in a swizzled layout, each K-major or MN-major."""
    case = Case(of(kind), types, 128, n)  # as many bytes as a line of the widest pattern
    layouts = [{"width": width, "major": "k" if letter == "k" else "mn"} for letter in majors]
    turns = {f"turn_{role}": int(letter == "m") for role, letter in zip("ab", majors, strict=True)}
    assert (case.run(engine, *layouts, **turns) == case.expected()).all()


@pytest.mark.parametrize("width", MODES)
@pytest.mark.parametrize("majors", ["kk", "mm", "km"])
def test_every_swizzle_and_major(compiled, width, majors):
    swizzled_case(compiled, "f16", "f32 f16 f16", 64, width, majors)
    swizzled_case(compiled, "i8", "s32 u8 s8", 128, width, majors)


@pytest.mark.parametrize("width", [16, 128])
def test_swizzles_interpreted(interpreted, width):
    swizzled_case(interpreted, "f16", "f32 f16 f16", 64, width, "mk")
    swizzled_case(interpreted, "i8", "s32 u8 s8", 128, width, "mm")


@pytest.mark.parametrize("roles", ["a", "b"])
def test_transposed_tf32(engine, roles):
    """Only with the mode that keeps 32 bytes together."""
    case = Case(of("tf32"), "f32 tf32 tf32", 64, 32)
    layouts = [{"major": "mn" if role in roles else "k"} for role in "ab"]
    assert (case.run(engine, *layouts, **{f"turn_{role}": 1 for role in roles}) == case.expected()).all()


@pytest.mark.parametrize("step", [0, 1, 3])
def test_k_advances_inside_the_pattern(compiled, step):
    case = Case(of("f16"), "f32 bf16 bf16", 128, 64)
    layout = {"start": 32 * step}
    assert (case.run(compiled, layout, layout) == case.expected()).all()


def test_flags(engine):
    for more, expected in (
        ({"negate_a": 1}, {"sign": -1}), ({"negate_a": 1, "negate_b": 1}, {}), ({"keep": 0}, {"keep": 0}),
        ({"down": 3}, {"down": 3}), ({"collector": ".collector::a::fill"}, {}),
    ):  # fmt: skip
        case = Case(of("f16"), "f32 f16 f16", 64, 8)
        assert (case.run(engine, **more) == case.expected(**expected)).all()


def test_without_d(engine):
    """D isn't read where the predicate is false: not even its NaNs count."""
    case = Case(of("f16"), "f16 f16 f16", 64, 8)
    exact, case.start = case.expected(keep=0), np.full((64, 8), np.nan)
    assert (case.run(engine, keep=0) == exact).all()


@pytest.mark.parametrize("ctas", [1, 2])
def test_lanes_that_keep_d(engine, ctas):
    case = Case(of("f16", ctas), "f32 f16 f16", 128 * ctas, 32)
    off = np.random.default_rng(9).integers(0, 2**32, 8, np.uint32)
    kept = np.concatenate([off[4 * b : 4 * b + 4].view(np.uint8) for b in range(ctas)])
    kept = np.unpackbits(kept, bitorder="little").astype(bool)[:, None]
    assert (case.run(engine, off=off) == np.where(kept, case.start, case.expected())).all()


def test_saturation_and_wrapping(engine):
    for saturates in (0, 1):
        case = Case(of("i8"), "s32 u8 u8", 64, 8)
        case.a[:], case.b[:], case.left[:], case.right[:] = 255, 255, 255, 255
        case.start = np.where(np.arange(8) % 2, 2**31 - 1000, -(2**31)) * np.ones((64, 1))
        exact = case.expected()
        wanted = np.minimum(exact, 2**31 - 1) if saturates else (exact + 2**31) % 2**32 - 2**31
        assert (case.run(engine, saturate=saturates) == wanted).all()


@pytest.mark.parametrize("kind", ["f16", "tf32", "f8f6f4"])
def test_random_numbers(engine, kind):
    """Within the engines' bound: one rounding to float32 a step."""
    case = Case(of(kind), TYPES[kind][0], 64, 16)
    generator = np.random.default_rng(8)
    if kind == "f8f6f4":
        case.a, case.b = (generator.integers(0, 0x78, x.shape, np.uint64) for x in (case.a, case.b))
        case.left, case.right = value("e4m3", case.a), value("e5m2", case.b)
    else:
        case.left, case.right = (
            generator.standard_normal(x.shape).astype(np.float16).astype(float) for x in (case.a, case.b)
        )
        case.a, case.b = (encode(case.a_type, x) for x in (case.left, case.right))
    size = np.abs(case.left) @ np.abs(case.right.T) + np.abs(case.start)
    assert (np.abs(case.run(engine) - case.expected()) <= (case.v.of.k + 1) * size * 2.0**-24).all()


# ---------------------------------------------------------------- scales

SCALED = [
    ("mxf8f6f4", 1, "e4m3 e5m2", "ue8m0", None), ("mxf8f6f4", 1, "e2m1 e3m2", "ue8m0", "block32"),
    ("mxf4", 2, "e2m1 e2m1", "ue8m0", None), ("mxf4nvf4", 2, "e2m1 e2m1", "ue8m0", "scale_vec::2X"),
    ("mxf4nvf4", 4, "e2m1 e2m1", "ue4m3", "scale_vec::4X"), ("mxf4nvf4", 4, "e2m1 e2m1", "ue8m0", "block16"),
]  # fmt: skip


@pytest.mark.parametrize("in_memory", [False, True], ids=["by descriptor", "in tensor memory"])
@pytest.mark.parametrize(("kind", "scales", "types", "scale_type", "size"), SCALED)
def test_scales(engine, kind, scales, types, scale_type, size, in_memory):
    case = Case(of(kind, 1, in_memory, scales), f"f32 {types}", 128, 8, scale_type=scale_type)
    assert (case.run(engine, size=size) == case.expected()).all()


@pytest.mark.parametrize(("kind", "scales", "byte"), [("mxf8f6f4", 1, 3), ("mxf8f6f4", 1, 1), ("mxf4", 2, 2)])
def test_scales_are_selected(compiled, kind, scales, byte):
    case = Case(of(kind, 1, False, scales), "f32 e2m1 e2m1", 128, 64)
    assert (case.run(compiled, byte=byte) == case.expected()).all()


@pytest.mark.parametrize(("m", "n"), [(128, 64), (256, 128)])
def test_scales_of_pairs(compiled, m, n):
    case = Case(of("mxf8f6f4", 2, False, 1), "f32 e4m3 e4m3", m, n)
    assert (case.run(compiled) == case.expected()).all()


def test_scales_of_pairs_interpreted(interpreted):
    case = Case(of("mxf4", 2, False, 2), "f32 e2m1 e2m1", 128, 32)
    assert (case.run(interpreted) == case.expected()).all()


# ---------------------------------------------------------------- misuse

WRONG = {
    "sparse": (of("f16"), 1 << 2, {}, KernelError, "sparse"),
    "reserved bits": (of("f16"), 1 << 23, {}, KernelError, "reserved"),
    "saturation of floats": (of("f16"), 1 << 3, {}, KernelError, "reserved"),
    "a type that the kind lacks": (of("f16"), 3 << 7, {}, KernelError, "type 3"),
    "a type of D that the kind lacks": (of("f16"), 3 << 4, {}, KernelError, "D the type 2"),
    "256 rows of one block": (of("f16"), (8 ^ 16) << 24, {}, KernelError, "M = 256"),
    "N = 8 with 128 rows": (of("f16"), (2 ^ 1) << 17, {}, KernelError, "N = 8"),
    "D beyond the allocation": (of("f16"), 0, {"d": 505}, OutOfBounds, "allocated"),
    "D at another lane": (of("f16"), 0, {"d": 1 << 16 | 40}, OutOfBounds, "lane"),
    "A outside of shared memory": (of("f16"), 0, {"a_layout": {"start": 1 << 17}}, OutOfBounds, "shared memory"),
    "more rows than there are": (of("f16"), 0, {"image": 1024}, OutOfBounds, "shared memory"),
    "scales beyond the allocation": (of("mxf4", 1, False, 2), 0, {"sfa": 510}, OutOfBounds, "allocated"),
    "scales of another type": (of("mxf4", 1, False, 2), 1 << 23, {}, KernelError, "ue4m3"),
    "scales from byte 1": (of("mxf4", 1, False, 2), 1 << 29, {}, KernelError, "byte 1"),
    "another swizzling mode": (of("f16"), 0, {"mode": 3}, KernelError, "mode 3"),
    "tf32 that is not K-major": (of("tf32"), 1 << 15, {}, KernelError, "mode 1"),
    "a descriptor for sm_90a": (of("f16"), 0, {"mode": -1}, KernelError, "46 to 48"),
}


@pytest.mark.parametrize(("v", "flip", "more", "error", "words"), WRONG.values(), ids=WRONG)
def test_misuse(engine, monkeypatch, v, flip, more, error, words):
    types = {"f16": "f16 f16", "tf32": "tf32 tf32", "mxf4": "e2m1 e2m1"}[v.kind]
    case, more = Case(v, f"f32 {types}", 128, 16), dict(more)
    right = described(v, case.a_type, case.b_type, "f32", 128, 16) | bool(v.scales) << 23
    mode, size, layout = more.pop("mode", None), more.pop("image", None), more.pop("a_layout", None)
    plain = Case._images

    def images(self, *layouts):
        found, (a, b) = plain(self, *layouts)
        a = np.uint64(int(a) + (layout["start"] >> 4)) if layout else a
        if mode is not None:
            a = np.uint64(int(a) & ~BASE) if mode < 0 else np.uint64(int(a) & (1 << 61) - 1 | mode << 61)
        return (found if size is None else found[:, :size].copy()), (a, b)

    monkeypatch.setattr(Case, "_images", images)
    case.garbage = case.garbage[:, :1]
    monkeypatch.setattr(Case, "_result", lambda *_: None)
    monkeypatch.setattr(Case, "_put_scales", lambda *_: None)
    monkeypatch.setattr(f"{__name__}.lanes_of", lambda *_: [(0, 0, [])] * 128)
    with pytest.raises(error, match=words):
        case.run(engine, idesc=right ^ flip, **more)


def test_a_pair_needs_a_peer(engine, monkeypatch):
    monkeypatch.setitem(globals(), "PRODUCT", PRODUCT.replace("CLUSTER", ""))
    case = Case(of("f16", 2), "f32 f16 f16", 256, 32)
    with pytest.raises(KernelError, match="peer"):
        case.run(engine)


# ---------------------------------------------------------------- all of them

EVERY = [
    pytest.param(kind, ctas, types, m, n, id=f"{kind} {ctas} {types} {m}x{n}")
    for kind, every in TYPES.items() for types in every for ctas, m, n in SHAPES
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "ctas", "types", "m", "n"), EVERY)
def test_every_kind_and_shape(engine, kind, ctas, types, m, n):
    for in_memory in (False, True):
        v = of(kind, ctas, in_memory)
        if v.has_columns(m, n, False):
            case = Case(v, types, m, n)
            assert (case.run(engine) == case.expected()).all()
