"""`wgmma` on both engines: shapes, types, layouts in shared memory, checks, counters, whole kernels.

Where elements lie is worked out here from CuTe's canonical layouts (CUTLASS, `mma_traits_sm90_gmma.hpp`): nested shapes
and strides, and `Swizzle<B, 4, 3>` of the address.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from vgpu.base.errors import Deadlock, OutOfBounds, PartialWarp, Unsupported
from vgpu.base.precision import fp8_accumulation
from vgpu.isa import warpgroup
from vgpu.tests.test_bulk_copies import mapped, on_device
from vgpu.tests.test_tensor import encode, numbers, run_ptx

HOPPER = {"arch": "compute_90a"}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
MODES = {16: 0, 32: 3, 64: 2, 128: 1}  # bytes of the pattern -> the descriptor's mode


# ---------------------------------------------------------------- CuTe's layouts


def evaluated(shape, stride, index: int) -> int:
    """A layout's value at an index, the first mode fastest."""
    if isinstance(shape, int):
        return index * stride
    total = 0
    for each, step in zip(shape, stride, strict=True):
        size = int(np.prod(np.array(flat(each))))
        total += evaluated(each, step, index % size)
        index //= size
    return total


def flat(shape):
    return [shape] if isinstance(shape, int) else [n for each in shape for n in flat(each)]


def canonical(width: int, major: str, size: int, leading: int, stride: int):
    """((shape of rows, shape of k), their strides) in bytes, of elements of `size` bytes, for rows without end."""
    t, w = 16 // size, width // 16
    b = t * size
    if major == "k" and w == 1:
        return ((8, 999), (t, 99)), ((b, stride), (size, leading))
    if major == "k":
        return ((8, 999), (t, 99)), ((w * b, stride), (size, b))
    if w == 1:
        return ((t, 999), (8, 99)), ((size, stride), (b, leading))
    return ((t, w, 999), (8, 99)), ((size, b, leading), (w * b, stride))


def swizzled(address: int, width: int) -> int:
    bits = {16: 0, 32: 1, 64: 2, 128: 3}[width]
    return address ^ (address >> 7 & (1 << bits) - 1) << 4


class Tile:
    """A matrix (rows, k) of raw bits in shared memory, from `start` on: its bytes and its descriptor."""

    def __init__(self, codes, bits, width=128, major="k", start=0, gap=0):
        rows, k = codes.shape
        if bits < 8:  # single bits: bytes of eight
            codes = np.packbits(codes.astype(np.uint8), axis=1, bitorder="little").astype(np.uint64)
            bits, k = 8, k // 8
        size, unit = bits // 8, 8 * width  # bytes of eight lines of the pattern
        if major == "k":
            leading, stride = (128 + gap, 256 + 2 * gap) if width == 16 else (16, unit + gap)
        else:
            across = rows * size // width  # patterns side by side
            leading, stride = (
                (unit + gap, across * (unit + gap)) if width > 16 else (rows // 8 * (128 + gap), 128 + gap)
            )
        (shape_r, shape_k), (stride_r, stride_k) = canonical(width, major, size, leading, stride)
        down, along = ([evaluated(*layout, i) for i in range(count)] for layout, count in (
            ((shape_r, stride_r), rows), ((shape_k, stride_k), k)))  # fmt: skip
        self.places = np.array([[swizzled(start + y + x, width) for x in along] for y in down])
        self.codes, self.size = codes, size
        self.descriptor = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | MODES[width] << 62

    @property
    def end(self) -> int:
        return int(self.places.max()) + self.size

    def put(self, image) -> None:
        for byte in range(self.size):
            image[self.places + byte] = self.codes >> np.uint64(8 * byte) & np.uint64(255)


# ---------------------------------------------------------------- a kernel of one product


def instruction(p, a_registers=False, signs=(1, 1), turns=(0, 0), keep="p") -> str:
    """The inline assembly of a product: `d` and `a` are arrays of registers, `da` and `db` descriptors."""
    d, more = p.d_fragment.registers, ".satfinite" if p.saturates else ".and.popc" if p.a == "b1" else ""
    numbers_ = [] if p.whole else [*signs, *(turns[a_registers:] if p.turns else [])]
    left = "{" + ", ".join(f"%{d + i}" for i in range(4)) + "}" if a_registers else f"%{d}"
    after = d + (4 if a_registers else 1)
    text = (
        f"wgmma.mma_async.sync.aligned.m64n{p.n}k{p.k}.{p.d}.{p.a}.{p.b}{more} "
        f"{{{', '.join(f'%{i}' for i in range(d))}}}, {left}, %{after}, {', '.join(map(str, (keep, *numbers_)))};"
    )
    outs = ", ".join(f'"+r"(d[{i}])' for i in range(d))
    ins = ", ".join(f'"r"(a[{i}])' for i in range(4)) if a_registers else '"l"(da)'
    return (
        f'asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{after + 1}, 0; {text} }}" : {outs} : {ins}, "l"(db), '
        '"r"(keep));'
    )


PRODUCT = """
typedef unsigned long long u64;
typedef unsigned u32;
extern "C" __global__ void k(const u32* image, int words, u64 da, u64 db, const u32* left, u32* sums, int keep) {
    extern __shared__ __align__(1024) u32 shared[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) shared[i] = image[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    int t = threadIdx.x % 128;
    u64 base = (u32)__cvta_generic_to_shared(shared) >> 4;
    da += base; db += base;
    u32 a[4], d[COUNT];
    for (int i = 0; i < 4; ++i) a[i] = left[i * 128 + t];
    for (int i = 0; i < COUNT; ++i) d[i] = sums[i * 128 + t];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    PRODUCT
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < COUNT; ++i) sums[i * 128 + t] = d[i];
}"""


def d_places(p):
    """(register, place in it, row, column) of every element of D: rows and columns for 128 threads."""
    thread = np.arange(128)
    row, column = thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2
    for right, down, odd in itertools.product(range(0, p.n, 8), (0, 8), (0, 1)):
        pair = right // 8 * 2 + down // 8
        yield (pair, odd) if p.d == "f16" else (2 * pair + odd, 0), row + down, column + right + odd


def a_registers(codes, bits):
    """A's four registers of 128 threads: 32 bits of a row each."""
    each = 32 // bits
    words = sum(codes[:, i::each] << np.uint64(bits * i) for i in range(each))  # (64, 8)
    thread = np.arange(128)
    row, column = thread // 32 * 16 + thread % 32 // 4, thread % 4
    return np.stack([words[row + down, column + right] for right in (0, 4) for down in (0, 8)]).astype(np.uint32)


def pack_d(p, codes):
    registers = np.zeros((p.d_fragment.registers, 128), np.uint64)
    for (register, place), row, column in d_places(p):
        registers[register] |= codes[row, column] << np.uint64(16 * place)
    return registers.astype(np.uint32)


def unpack_d(p, registers):
    codes = np.zeros((64, p.n), np.uint32)
    for (register, place), row, column in d_places(p):
        codes[row, column] = registers[register] >> (16 * place)
    if p.d == "f16":
        return codes.astype(np.uint16).view(np.float16).astype(np.float64)
    return codes.view(np.float32 if p.d == "f32" else np.int32).astype(np.float64)


def small(kind, shape, generator):
    """Numbers of which all sums are exact."""
    if kind == "b1":
        return generator.integers(0, 2, shape)
    return generator.integers(0 if kind == "u8" else -3, 4, shape).astype(np.float64)


def codes_of(kind, values):
    return values.astype(np.uint64) if kind == "b1" else encode(kind, values)


class Case:
    """Random matrices for one product, and what it gives."""

    def __init__(self, p, generator, draw=small):
        self.p = p
        self.a, self.b = draw(p.a, (64, p.k), generator), draw(p.b, (p.n, p.k), generator)
        self.d = small(p.d, (64, p.n), generator)

    def run(self, engine, a_layout=None, b_layout=None, registers=False, keep=1, signs=(1, 1), turns=(0, 0), **options):
        p, bits = self.p, BITS[self.p.a]
        left, right = codes_of(p.a, self.a), codes_of(p.b, self.b)
        first = Tile(left, bits, **(a_layout or {}))
        behind = -(-first.end // 1024) * 1024
        second = Tile(right, bits, **{**(b_layout or {}), "start": behind + (b_layout or {}).get("start", 0)})
        image = np.zeros(-(-second.end // 1024) * 1024, np.uint8)
        first.put(image)
        second.put(image)
        source = PRODUCT.replace("PRODUCT", instruction(p, registers, signs, turns))
        kernel = engine.c(source.replace("COUNT", str(p.d_fragment.registers)), **HOPPER)
        sums = pack_d(p, encode(p.d, self.d))
        self.result = kernel(
            1, options.pop("threads", 128), image.view(np.uint32), image.size // 4, np.uint64(first.descriptor),
            np.uint64(second.descriptor), a_registers(left, bits), sums, keep,
            shared_bytes=options.pop("shared_bytes", image.size), **options,
        )  # fmt: skip
        return unpack_d(p, sums)

    def expected(self, keep=1, signs=(1, 1)):
        return signs[0] * signs[1] * (self.a @ self.b.T) + keep * self.d


def of(n, types, saturates=False):
    """The product of these types (D, A, B)."""
    d, a, b = types.split()
    return next(
        p for p in warpgroup.products() if (p.n, p.d, p.a, p.b, p.saturates) == (n, d, a, b, saturates)
    )  # fmt: skip


# ---------------------------------------------------------------- layouts


@pytest.mark.parametrize("width", MODES)
@pytest.mark.parametrize("majors", ["kk", "mk", "km", "mm"])
def test_every_swizzle_and_major(engine, width, majors):
    case = Case(of(64, "f32 f16 f16"), np.random.default_rng(1))
    layouts = [{"width": width, "major": "k" if letter == "k" else "mn"} for letter in majors]
    turns = tuple(int(letter == "m") for letter in majors)
    assert (case.run(engine, *layouts, turns=turns) == case.expected()).all()


@pytest.mark.parametrize("width", MODES)
def test_distances_are_those_of_the_descriptor(engine, width):
    case = Case(of(48, "f32 bf16 bf16"), np.random.default_rng(2))
    assert (case.run(engine, {"width": width, "gap": 1024}, {"width": width, "gap": 2048}) == case.expected()).all()


@pytest.mark.parametrize(("width", "steps"), [(32, 1), (64, 2), (128, 4)])
def test_k_advances_inside_the_pattern(engine, width, steps):
    """A kernel adds 32 bytes to the start for the next k: swizzling follows the address."""
    p, generator = of(16, "f32 f16 f16"), np.random.default_rng(3)
    case = Case(p, generator)
    for step in range(steps):
        layout = {"width": width, "start": 32 * step}
        assert (case.run(engine, layout, layout) == case.expected()).all()


@pytest.mark.parametrize("width", [64, 128])
def test_base_offset_is_where_the_pattern_starts(engine, width):
    p = of(8, "f32 f16 f16")
    case = Case(p, np.random.default_rng(4))
    plain = Tile.__init__

    def shifted(tile, codes, bits, width=128, major="k", start=0, gap=0):
        plain(tile, codes, bits, width, major, start, gap)
        tile.places = tile.places + 256  # the whole pattern, as if memory began 256 bytes later
        tile.descriptor += 256 >> 4 | (256 >> 7) << 49

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tile, "__init__", shifted)
        assert (case.run(engine, {"width": width}, {"width": width}) == case.expected()).all()


# ---------------------------------------------------------------- types

TYPES = sorted({(p.d, p.a, p.b, p.saturates) for p in warpgroup.products()})


@pytest.mark.parametrize("registers", [False, True], ids=["by descriptor", "in registers"])
@pytest.mark.parametrize("types", TYPES, ids=lambda t: "_".join(map(str, t)))
def test_every_type(engine, types, registers):
    *kinds, saturates = types
    generator = np.random.default_rng(5)
    for n in (8, 48):
        case = Case(of(n, " ".join(kinds), saturates), generator)
        assert (case.run(engine, registers=registers) == case.expected()).all()


@pytest.mark.parametrize("n", [8, 24, 40, 104, 256])
def test_columns(compiled, n):
    case = Case(of(n, "f32 f16 f16"), np.random.default_rng(6))
    assert (case.run(compiled) == case.expected()).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("p", warpgroup.products(), ids=lambda p: p.name)
def test_every_product(engine, p):
    case = Case(p, np.random.default_rng(7))
    assert (case.run(engine) == case.expected()).all()


@pytest.mark.parametrize("types", ["f32 f16 f16", "f32 bf16 bf16", "f32 tf32 tf32", "f32 e4m3 e5m2", "f16 f16 f16"])
def test_random_numbers(engine, types):
    """Within the engines' bound: one rounding to float32 a step, and to f16 at the end."""
    case = Case(of(32, types), np.random.default_rng(8), numbers)
    size = np.abs(case.a) @ np.abs(case.b.T) + np.abs(case.d)
    exact = case.expected()
    bound = (case.p.k + 1) * size * 2.0**-24 + (np.abs(exact) * 2.0**-11 + 2.0**-24 if case.p.d == "f16" else 0)
    assert (np.abs(case.run(engine) - exact) <= bound).all()


@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (-1, -1)])
def test_signs(engine, signs, registers):
    for types in ("f32 f16 f16", "f32 tf32 tf32", "f32 e5m2 e4m3"):
        case = Case(of(16, types), np.random.default_rng(9))
        assert (case.run(engine, signs=signs, registers=registers) == case.expected(signs=signs)).all()


@pytest.mark.parametrize("types", ["f32 f16 f16", "f16 f16 f16", "s32 u8 s8"])
def test_without_d(engine, types):
    """D isn't read where the predicate is false: not even its NaNs count."""
    case = Case(of(16, types), np.random.default_rng(10))
    exact = case.expected(keep=0)
    case.d = np.full_like(case.d, 2**31 - 1 if types[0] == "s" else np.nan)
    assert (case.run(engine, keep=0) == exact).all()


def test_saturation_and_wrapping(engine):
    for saturates in (False, True):
        case = Case(of(8, "s32 u8 u8", saturates), np.random.default_rng(11))
        case.a, case.b = np.full_like(case.a, 255), np.full_like(case.b, 255)
        case.d = np.where(np.arange(8) % 2, 2**31 - 1000, -(2**31)) * np.ones((64, 1))
        exact = case.expected()
        wanted = np.minimum(exact, 2**31 - 1) if saturates else (exact + 2**31) % 2**32 - 2**31
        assert (case.run(engine) == wanted).all()
        assert (wanted != exact).any()


def test_tf32_ignores_the_low_bits(engine):
    case = Case(of(8, "f32 tf32 tf32"), np.random.default_rng(12))
    exact = case.expected()
    case.a = case.a * (1 + 2.0**-20)
    assert (case.run(engine) == exact).all()


# ---------------------------------------------------------------- misuse


@pytest.mark.parametrize("threads", [32, 96, 160])
def test_a_block_without_a_whole_warpgroup(engine, threads):
    case = Case(of(8, "f32 f16 f16"), np.random.default_rng(13))
    with pytest.raises(PartialWarp):
        case.run(engine, threads=threads)


def test_descriptors_of_generic_addresses(engine, monkeypatch):
    """The low 18 bits of a generic address are those of the offset, as on a GPU; ThunderKittens takes them so."""
    generic = PRODUCT.replace("(u32)__cvta_generic_to_shared(shared) >> 4", "((u64)shared & 0x3FFFF) >> 4")
    assert generic != PRODUCT
    monkeypatch.setitem(globals(), "PRODUCT", generic)
    case = Case(of(64, "f32 bf16 bf16"), np.random.default_rng(15))
    assert (case.run(engine, turns=(0, 1), b_layout={"major": "mn"}) == case.expected()).all()


def test_two_warpgroups(engine):
    """Both multiply the same rows and store the same sums."""
    case = Case(of(8, "f32 f16 f16"), np.random.default_rng(14))
    case.d[:] = 0  # loaded by one of them after the other has stored
    assert (case.run(engine, threads=256, keep=0) == case.expected()).all()


@pytest.mark.parametrize("layout", [{}, {"width": 16}, {"width": 64, "major": "mn"}], ids=str)
def test_a_matrix_beyond_shared_memory(engine, layout):
    case = Case(of(64, "f32 f16 f16"), np.random.default_rng(15))
    turns = (0, int(layout.get("major") == "mn"))
    end = Tile(codes_of("f16", case.b), 16, **layout).end + 8192
    assert (case.run(engine, b_layout=layout, turns=turns, shared_bytes=end) == case.expected()).all()
    with pytest.raises(OutOfBounds, match="shared memory"):
        case.run(engine, b_layout=layout, turns=turns, shared_bytes=end - 1024)


HEAD = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k() {
.reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>; .reg .b16 %h<2>;
"""
MMA = "wgmma.mma_async.sync.aligned"
GOOD = f"{MMA}.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %d0, %d1, %p0, 1, 1, 0, 0;"


def refused(line: str, head: str = HEAD) -> str:
    from vgpu.launch import launch
    from vgpu.ptx import PTXSyntaxError

    with pytest.raises((PTXSyntaxError, Unsupported)) as error:
        kernel = launch.load(f"{head}{line}\nret; }}\n", language="cuda")["k"]
        launch.launch(kernel, 1, 128, [])
    return str(error.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1, 1, 0, 0", "1, 1"), ("1, 1, 0, 0", "1, 1, 0"), ("1, 1, 0, 0", "1, 2, 0, 0"), ("1, 1, 0, 0", "0, 1, 0, 0"),
        ("1, 1, 0, 0", "1, 1, 2, 0"), ("%p0", "%r0"), ("%p0", "2"), ("%d0", "%r0"), ("%d1", "%r0"), ("%f3", "_"),
        ("%f3", "%d3"), (", %f3", ""), ("%d0", "{%r0, %r1, %r2}"), ("%d0", "{%r0, %r1, %r2, %r3}"),
        ("m64n8k16", "m64n12k16"), ("m64n8k16", "m64n8k8"), ("m64n8k16", "m64n264k16"), ("m64n8k16", "m32n8k16"),
        ("f32.f16.f16", "f32.f16.bf16"), ("f32.f16.f16", "f16.bf16.bf16"), ("f32.f16.f16", "f32.f16.f16.satfinite"),
        (".aligned", ""), (".sync", ""), ("mma_async", "mma_async.sp"), ("mma_async", "mma"),
    ],
)  # fmt: skip
def test_what_is_no_product(old, new):
    assert old in GOOD
    assert "wgmma" in refused(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    "line",
    [
        f"{MMA}.m64n40k32.s32.s8.s8 {{%r0, %r1, %r2, %r3}}, %d0, %d1, %p0;",
        f"{MMA}.m64n8k32.s32.s8.s8 {{%r0, %r1, %r2, %r3}}, %d0, %d1, %p0, 1, 1;",
        f"{MMA}.m64n8k256.s32.b1.b1.xor.popc {{%r0, %r1, %r2, %r3}}, %d0, %d1, %p0;",
        f"{MMA}.m64n8k256.s32.b1.b1 {{%r0, %r1, %r2, %r3}}, %d0, %d1, %p0;",
        f"{MMA}.m64n8k64.s32.s4.s4 {{%r0, %r1, %r2, %r3}}, %d0, %d1, %p0;",
        "wgmma.fence;", "wgmma.fence.sync.aligned 1;", "wgmma.commit_group.sync.aligned %r0;",
        "wgmma.wait_group.sync.aligned;", "wgmma.wait_group.sync.aligned -1;", "wgmma.wait_group.sync.aligned %r0;",
        "wgmma;", "wgmma.sync.aligned;", "setmaxnreg.inc.sync.aligned.u32 41;", "setmaxnreg.inc.sync.aligned.u32 16;",
        "setmaxnreg.dec.sync.aligned.u32 264;", "setmaxnreg.inc.sync.u32 40;", "setmaxnreg.inc.sync.aligned.u32 %r0;",
    ],
)  # fmt: skip
def test_what_else_is_refused(line):
    assert line.split(".")[0].rstrip(";") in refused(line)


def test_what_a_refusal_says():
    from vgpu.launch import launch
    from vgpu.ptx import PTXSyntaxError

    with pytest.raises(PTXSyntaxError, match=r"needs \.target sm_90a"):
        launch.load(f"{HEAD.replace('sm_90a', 'sm_90')}{GOOD}\nret; }}\n", language="cuda")
    assert "sparse" in refused(GOOD.replace("mma_async", "mma_async.sp"))


# ---------------------------------------------------------------- four warps together


EARLY = """
typedef unsigned long long u64; typedef unsigned u32;
extern "C" __global__ void k(u32* out) {
    __shared__ alignas(1024) unsigned short a[64 * 64];
    __shared__ volatile int free;
    int t = threadIdx.x;
    for (int i = t; i < 64 * 64; i += 160) a[i] = 0x3C00;
    if (t == 0) free = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t < 128) {
        u64 at = (u32)__cvta_generic_to_shared(a) >> 4 | 1ull << 62 | 64ull << 32;
        float d[4] = {};
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(at));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (t == WAITS) free = 1;
        for (int i = 0; i < 4; ++i) out[4 * t + i] = __float_as_uint(d[i]);
    } else if (t >= 128) {
        while (!free) { }
        for (int i = t - 128; i < 64 * 64; i += 32) a[i] = 0;
    }
}"""


@pytest.mark.parametrize("thread", [0, 127])
def test_the_wait_is_for_all_four_warps(engine, thread):
    """One thread says that the matrices may be overwritten after its wait, as published kernels do."""
    out = np.zeros(512, np.uint32)
    kernel = engine.c(EARLY.replace("WAITS", str(thread)), **HOPPER)
    for seed in range(8):
        kernel(1, 160, out, schedule="random", seed=seed)
        assert (out.view(np.float32) == 16).all()


def test_part_of_a_warpgroup_waits_for_ever(engine):
    with pytest.raises(Deadlock, match="warpgroup"):
        source = EARLY.replace("WAITS", "0").replace("t < 128", "t < 32").replace("while (!free) { }", "")
        engine.c(source, **HOPPER)(1, 160, np.zeros(512, np.uint32))


# ---------------------------------------------------------------- whole kernels

GEMM = """
typedef unsigned long long u64; typedef unsigned u32;
struct alignas(64) Map { u64 opaque[16]; };
constexpr int STAGES = 3, TILE = 64, BM = 128, BN = 64;
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void await(u64* bar, int parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }"
        :: "r"(at(bar)), "r"(parity) : "memory");
}
__device__ void load(void* to, const Map* map, u64* bar, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4}], [%2];" :: "r"(at(to)), "l"(map), "r"(at(bar)), "r"(x), "r"(y) : "memory");
}
__device__ u64 tile(const void* p) { return (u64)((at(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
// C[M, N] = A[M, K] · B[N, K]: a warpgroup copies, two multiply 64 rows each.
extern "C" __global__ __launch_bounds__(384) void gemm(
    const __grid_constant__ Map map_a, const __grid_constant__ Map map_b, float* c, int n, int k) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ u64 full[STAGES], empty[STAGES];
    unsigned char* a = shared;
    unsigned char* b = shared + STAGES * BM * 128;
    int group = threadIdx.x / 128, t = threadIdx.x % 128;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(full + s)) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(at(empty + s)) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    int steps = k / TILE;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t == 0) {
            for (int i = 0; i < steps; ++i) {
                int s = i % STAGES;
                WAIT_EMPTY
                asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }"
                    :: "r"(at(full + s)), "r"((BM + BN) * 128) : "memory");
                load(a + s * BM * 128, &map_a, full + s, i * TILE, blockIdx.y * BM);
                load(b + s * BN * 128, &map_b, full + s, i * TILE, blockIdx.x * BN);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        u32 d[32];
        for (int i = 0; i < 32; ++i) d[i] = 0;
        for (int i = 0; i < steps; ++i) {
            int s = i % STAGES;
            await(full + s, i / STAGES & 1);
            u64 da = tile(a + s * BM * 128 + (group - 1) * 64 * 128), db = tile(b + s * BN * 128);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int keep = 1, kk = 0; kk < 4; ++kk, da += 2, db += 2) { PRODUCT }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            TOUCH
            WAIT_GROUP
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        int row = blockIdx.y * BM + (group - 1) * 64 + t / 32 * 16 + t % 32 / 4, column = blockIdx.x * BN + t % 4 * 2;
        for (int i = 0; i < 32; ++i)
            c[(row + i / 2 % 2 * 8) * n + column + i / 4 * 8 + i % 2] = __uint_as_float(d[i]);
    }
}"""
AWAIT_EMPTY = "if (i >= STAGES) await(empty + s, i / STAGES - 1 & 1);"
ARRIVE = """if (t == 0 && OTHER >= 0) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }"
    :: "r"(at(empty + OTHER % STAGES)) : "memory");"""
WAIT_ALL = 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");' + ARRIVE.replace("OTHER", "i")
WAIT_ONE = 'asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");' + ARRIVE.replace("OTHER", "(i - 1)")


def gemm(engine, wait=WAIT_ALL, touch="", empty=AWAIT_EMPTY, k=320, **options):
    """Run the kernel: A, B, C on the device, and what `profile` and `sanitize` take."""
    source = GEMM.replace("PRODUCT", instruction(of(64, "f32 f16 f16"))).replace("WAIT_EMPTY", empty)
    source = source.replace("WAIT_GROUP", wait).replace("TOUCH", touch)
    generator = np.random.default_rng(20)
    a, b = (on_device(generator.integers(-3, 4, (128, k)).astype(np.float16)) for _ in range(2))
    c = on_device(np.zeros((128, 128), np.float32))
    maps = [mapped(x, (rows, 64), swizzle=128) for x, rows in ((a, 128), (b, 64))]
    kernel = engine.c(source, **HOPPER)
    found = kernel((2, 1), 384, *maps, c, 128, k, shared_bytes=3 * 192 * 128, **options)
    return a.astype(np.float32) @ b.astype(np.float32).T, c, found


@pytest.mark.parametrize("wait", [WAIT_ALL, WAIT_ONE], ids=["one group", "two groups"])
def test_a_pipeline_of_copies_and_products(engine, wait):
    expected, c, _ = gemm(engine, wait)
    assert (c == expected).all()


def test_counters(compiled):
    """Each warp counts its share of 4·5 products of two warpgroups in two blocks; descriptors make no requests."""
    found = gemm(compiled, observe=True)[2]
    products = 4 * 5 * 2 * 2
    assert found["tensor_gmma"] == found["sm__inst_executed_pipe_tensor_op_gmma.sum"] == 4 * products
    assert found["tensor_instructions"] == 4 * products
    assert found["flops_tensor_fp16"] == 2 * 64 * 64 * 16 * products
    assert found["shared_load_requests"] == found["shared_store_requests"] == 0
    assert found["bulk_load_bytes"] == 2 * 5 * 192 * 128


# ---------------------------------------------------------------- the sanitizer


def found_in(monkeypatch, run) -> list:
    """What the sanitizer finds in the launches of a function."""
    from vgpu.launch import launch
    from vgpu.tools.sanitize import run as watched

    every = []

    def sanitized(kernel, grid, block, params, arrays=(), shared_bytes=0, **_):
        every.extend(watched.run(launch.Prepared(kernel, params, arrays), grid, block, shared_bytes, False, 60))

    monkeypatch.setattr(launch, "launch", sanitized)
    run()
    return every


@pytest.mark.parametrize("line", ["wgmma.sys.sync.aligned !%p1, 1;", "tcgen05.ld.sync.aligned.32x32b.u64.b32 [%r1];"])
def test_what_is_refused_is_refused_by_name_when_watched(monkeypatch, line):
    """Whatever operands it has."""
    told = []
    head = HEAD.replace("sm_90a", "sm_100a") if line.startswith("tcgen05") else HEAD
    found_in(monkeypatch, lambda: told.append(refused(line, head)))
    assert line.split()[0] in told[0]


@pytest.mark.parametrize("wait", [WAIT_ALL, WAIT_ONE], ids=["one group", "two groups"])
def test_nothing_is_found_in_a_right_pipeline(compiled, monkeypatch, wait):
    assert found_in(monkeypatch, lambda: gemm(compiled, wait)) == []


def test_sums_used_before_the_wait(compiled, monkeypatch):
    touch = "if (k == 1) for (int j = 0; j < 32; ++j) d[j] ^= 1u;"
    assert found_in(monkeypatch, lambda: gemm(compiled, touch=touch)) == []
    found = found_in(monkeypatch, lambda: gemm(compiled, touch=touch.replace("k == 1", "k == 320")))
    assert {f.kind for f in found} == {"product_pending"}
    assert "d[j] ^= 1u" in found[0].source


def test_a_stage_released_before_the_wait(compiled, monkeypatch):
    early = ARRIVE.replace("OTHER", "i") + 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");'
    found = found_in(monkeypatch, lambda: gemm(compiled, early))
    assert {f.kind for f in found} == {"race_read_write"}


def test_a_stage_that_nobody_waits_for(compiled, monkeypatch):
    found = found_in(monkeypatch, lambda: gemm(compiled, empty=""))
    assert "copy_pending" in {f.kind for f in found}


@pytest.mark.parametrize("fence", [True, False])
def test_a_product_of_stores_without_a_proxy_fence(compiled, monkeypatch, fence):
    case = Case(of(8, "f32 f16 f16"), np.random.default_rng(21))
    if not fence:
        monkeypatch.setitem(
            globals(), "PRODUCT", PRODUCT.replace('asm volatile("fence.proxy.async;" ::: "memory");', "")
        )
    found = found_in(monkeypatch, lambda: case.run(compiled))
    assert {f.kind for f in found} == (set() if fence else {"product_fence"})


def test_a_product_without_a_barrier(compiled, monkeypatch):
    case = Case(of(8, "f32 f16 f16"), np.random.default_rng(22))
    monkeypatch.setitem(globals(), "PRODUCT", PRODUCT.replace("__syncthreads();", ""))
    assert "race_read_write" in {f.kind for f in found_in(monkeypatch, lambda: case.run(compiled))}


def test_registers_of_a_written_before_the_wait():
    """A compiler gives A new registers, so this is for PTX written by hand."""
    from vgpu import ptx
    from vgpu.lower import basic_blocks, in_flight

    a = GOOD.replace("%d0", "{%r0, %r1, %r2, %r3}").replace("0, 0;", "0;")
    wait = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
    lines = {
        "add.u32 %r1, %r4, 1;": True, "add.u32 %r4, %r1, 1;": False, "mul.f32 %f4, %f1, %f1;": True, wait: False,
        "mov.b32 {%h0, %h1}, %r1;": False, "mov.f32 %f1, %f4;": False, "mov.f32 %f1, 0f00000000;": True,
    }  # fmt: skip
    for line, expected in lines.items():
        text = f"{HEAD}{a}\n{line}\nadd.u32 %r5, %r5, 1; {wait} mov.f32 %f0, %f1; ret; }}"
        found = in_flight.early(basic_blocks.split(ptx.parse(text).functions["k"].body))
        assert bool(found) == expected


PERMUTED = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
.shared .align 128 .b8 tile[2048];
ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x;
mov.u32 %r1, tile; mad.lo.u32 %r2, %r0, 16, %r1;
add.u32 %r3, %r0, 0x3c003c00;
st.shared.v4.b32 [%r2], {%r3, %r3, %r3, %r3};
fence.proxy.async; bar.sync 0;
shr.u32 %r4, %r1, 4; cvt.u64.u32 %d1, %r4; or.b64 %d1, %d1, 0x1000080000;
mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0fBF800000;
mov.u32 %r5, 0;
LOOP:
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d1, %d1, 1, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f3, %f1, %f0, %f2}, %d1, %d1, 1, 1, -1, 0, 1;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
mul.f32 %f1, %f1, 0f3F000000;
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra LOOP;
mad.wide.u32 %d2, %r0, 16, %d0;
st.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
ret; }
"""


def test_sums_in_other_orders_of_registers():
    """Registers of D that can't lie side by side for every product, and are used in between."""
    outs = [np.zeros((128, 4), np.float32) for _ in range(2)]
    for engine, out in zip(("compiled", "reference"), outs, strict=True):
        run_ptx(engine, PERMUTED, [out], threads=128)
    assert (outs[0] == outs[1]).all() and np.unique(outs[0]).size > 100


# ---------------------------------------------------------------- few bits in the sums of 8-bit floats


def cut(value: float, unit: float) -> float:
    return float(np.trunc(value / unit) * unit)


def narrow(parts) -> float:
    """14 bits of each, below the greatest, and of their sum."""
    greatest = max(map(abs, parts))
    if greatest == 0:
        return 0.0
    total = sum(cut(part, 2.0 ** (np.floor(np.log2(greatest)) - 13)) for part in parts)
    return cut(total, 2.0 ** (np.floor(np.log2(abs(total))) - 13)) if total else 0.0


@pytest.mark.parametrize("types", ["f32 e4m3 e4m3", "f32 e5m2 e4m3", "f16 e4m3 e5m2"])
def test_hoppers_accumulation(engine, types):
    case = Case(of(8, types), np.random.default_rng(30), numbers)
    case.d[0] *= 1000
    exact = case.run(engine)
    with fp8_accumulation("hopper"):
        got = case.run(engine)
    parts = np.concatenate([case.a[:, None] * case.b[None], case.d[..., None]], axis=2)
    wanted = np.array([[narrow(column) for column in row] for row in parts])
    if types[0:3] == "f16":
        wanted = wanted.astype(np.float16).astype(np.float64)
    assert (got == wanted).all()
    assert types[0:3] == "f16" or (got != exact).any()


def test_a_small_number_is_lost_beside_a_large_one(engine):
    """2^14 + 1 needs 15 bits: D stays what it is, however often 1 is added."""
    case = Case(of(8, "f32 e4m3 e4m3"), np.random.default_rng(31))
    case.a[:], case.b[:] = 0, 0
    case.a[:, 0], case.b[:, 0], case.d[:] = 1, 1, 2.0**14
    assert (case.run(engine) == 2**14 + 1).all()
    with fp8_accumulation():
        assert (case.run(engine) == 2**14).all()
        case.d[:] = 2.0**13
        assert (case.run(engine) == 2**13 + 1).all()


def test_infinities_stay_with_few_bits(engine):
    case = Case(of(8, "f32 e5m2 e5m2"), np.random.default_rng(32))
    case.d[0], case.d[1] = np.inf, np.nan
    with fp8_accumulation():
        got = case.run(engine)
    assert np.isposinf(got[0]).all() and np.isnan(got[1]).all() and (got[2:] == case.expected()[2:]).all()


def test_other_types_keep_their_bits(engine):
    case = Case(of(8, "f32 f16 f16"), np.random.default_rng(33))
    case.d[:] = 2.0**20
    with fp8_accumulation():
        assert (case.run(engine) == case.expected()).all()
    with pytest.raises(ValueError, match="float32"):
        fp8_accumulation("few")
    assert "not in use" in repr(fp8_accumulation())
