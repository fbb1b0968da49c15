"""Tensor memory on both engines: allocation, moves to and from registers, copies, shifts, commits, and their misuse.

Which thread has what is worked out here from CuTe's layouts (CUTLASS, `copy_traits_sm100.hpp`): for a shape of rows of
`pitch` bits, the bits that each thread's registers hold.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from vgpu.base.errors import InvalidFree, KernelError, OutOfBounds, PartialWarp, Unsupported
from vgpu.isa import tensor_memory
from vgpu.launch import launch
from vgpu.ptx import PTXSyntaxError
from vgpu.tests.test_tensor import run_ptx

BLACKWELL = {"arch": "compute_100a"}
# Shape -> bits of a row for .x1, then (shape, stride) of threads, and of the 32-bit registers, for `.xN` of pitch p.
CUTE = {
    "32x32b": (32, lambda p, n: ([(32, p)], [(n, 32)])),
    "16x64b": (64, lambda p, n: ([(2, 8 * p), (2, 32), (8, p)], [(n, 64)])),
    "16x128b": (128, lambda p, n: ([(4, 32), (8, p)], [(2, 8 * p), (n, 128)])),
    "16x256b": (256, lambda p, n: ([(4, 64), (8, p)], [(2, 32), (2, 8 * p), (n, 256)])),
    "16x32bx2": (64, lambda p, n: ([(16, p), (2, p // 2)], [(n, 32)])),
}
START = """
typedef unsigned u32; typedef unsigned long long u64;
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 allocate(u32 columns) {
    __shared__ u32 address;
    if (threadIdx.x < 32)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
            :: "r"(at(&address)), "r"(columns) : "memory");
    __syncthreads();
    return address;
}
__device__ void release(u32 address, u32 columns) {
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" :: "r"(address), "r"(columns));
}
__device__ u32 quarter() { return threadIdx.x / 32 % 4 << 21; }
__device__ void put(u32 address, u32 value) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" :: "r"(address), "r"(value));
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}
__device__ u32 get(u32 address) {
    u32 value;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(address));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    return value;
}
"""


def cute(modes) -> np.ndarray:
    """The values of a layout, first mode fastest."""
    found = np.zeros(1, int)
    for size, stride in modes:
        found = (np.arange(size)[:, None] * stride + found).ravel()
    return found


def cells(shape: str, number: int, halves: bool, split: int):
    """(lane, column) of each register of each thread, arrays (threads, registers); with halves, of the lower one."""
    bits, layout = CUTE[shape]
    pitch = bits * number
    threads, registers = (cute(modes) for modes in layout(pitch, number))
    bit = threads[:, None] + registers
    lane, column = bit // pitch, bit % pitch // (16 if halves else 32)
    if shape == "16x32bx2":  # the second half of a row lies where the instruction says
        half = bit % pitch >= pitch // 2
        column = np.where(half, column - pitch // 2 // (16 if halves else 32) + split, column)
    return lane, column


def listed(count: int, start: int = 0) -> str:
    return "{" + ", ".join(f"%{start + i}" for i in range(count)) + "}"


def moves():
    found = []
    for shape in CUTE:
        for number, halves, store in itertools.product(tensor_memory.NUMBERS, (False, True), (False, True)):
            words = ["st" if store else "ld", "sync", "aligned", shape, f"x{number}"]
            words += [("un" if store else "") + "pack::16b"] * halves + ["b32"]
            if (moved := tensor_memory.move(tuple(words))) is not None:
                few = number == 2 or (shape, number, halves) == ("32x32b", 128, False)
                marks = () if few else pytest.mark.exhaustive
                found.append(pytest.param(".".join(words), moved, marks=marks, id="_".join((words[0], *words[3:]))))
    return found


@pytest.mark.parametrize(("words", "moved"), moves())
def test_every_move(engine, words, moved):
    """A warp's lanes of memory by 32x32b.x1, and the same by the instruction."""
    count, split = moved.registers, 2 * moved.columns + 3 if moved.columns < 200 else moved.columns
    lanes = 0 if moved.lanes == 32 else 16
    column = 0 if moved.columns + moved.splits * split > 500 else 5
    span = min(512, column + moved.columns + moved.splits * split + 3)
    text = f", {split}" if moved.splits else ""
    if moved.store:
        body = f"""for (int i = 0; i < {count}; ++i) r[i] = data[i * 128 + threadIdx.x];
            asm volatile("tcgen05.{words} [%{count}]{text}, {listed(count)};"
                :: {", ".join(f'"r"(r[{i}])' for i in range(count))}, "r"(base + FIRST));
            asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
            for (int c = 0; c < {span}; ++c) all[c * 128 + threadIdx.x] = get(base + c);"""
    else:
        body = f"""for (int c = 0; c < {span}; ++c) put(base + c, all[c * 128 + threadIdx.x]);
            asm volatile("tcgen05.{words} {listed(count)}, [%{count}]{text};"
                : {", ".join(f'"=r"(r[{i}])' for i in range(count))} : "r"(base + FIRST));
            asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
            for (int i = 0; i < {count}; ++i) data[i * 128 + threadIdx.x] = r[i];"""
    source = (
        START
        + f"""extern "C" __global__ void k(u32* data, u32* all) {{
        u32 t = allocate(512), base = t + quarter(), r[{count}];
        if ({int(moved.store)}) for (int c = 0; c < {span}; ++c) put(base + c, 7);
        {body.replace("FIRST", str(lanes << 16 | column))}
        release(t, 512);
    }}"""
    )
    generator = np.random.default_rng(1)
    data = generator.integers(0, 2**32, (count, 128), np.uint32)
    every = generator.integers(0, 2**32, (span, 128), np.uint32)
    given, before = data.copy(), every.copy()
    engine.c(source, **BLACKWELL)(1, 128, data, every)
    lane, at = cells(moved.shape, moved.number, moved.halves, split)
    if not moved.store:
        assert (every == before).all()
        for warp in range(4):
            found = before[at + column, 32 * warp + lanes + lane]
            if moved.halves:
                found = found & 0xFFFF | before[at + 1 + column, 32 * warp + lanes + lane] << 16
            assert (data[:, 32 * warp :][:, :32] == found.T).all()
        return
    wanted = np.full_like(before, 7)
    for warp in range(4):
        words_ = given[:, 32 * warp :][:, :32].T
        wanted[at + column, 32 * warp + lanes + lane] = words_ & 0xFFFF if moved.halves else words_
        if moved.halves:
            wanted[at + 1 + column, 32 * warp + lanes + lane] = words_ >> 16
    assert (every == wanted).all()


# ---------------------------------------------------------------- allocation


def test_allocations_share_the_columns(engine):
    """First come, first served: aligned runs; what is given back is taken again."""
    source = (
        START
        + """extern "C" __global__ void k(u32* out) {
        u32 a = allocate(128), b = allocate(32), c = allocate(256);
        release(a, 128);
        u32 d = allocate(64), e = allocate(64);
        if (threadIdx.x == 0) { out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; }
        release(b, 32); release(c, 256); release(d, 64); release(e, 64);
    }"""
    )
    out = np.zeros(5, np.uint32)
    engine.c(source, **BLACKWELL)(2, 64, out)
    assert out.tolist() == [0, 128, 256, 0, 64]


def test_each_block_has_its_own(engine):
    source = (
        START
        + """extern "C" __global__ void k(u32* out) {
        u32 t = allocate(32);
        put(t + quarter(), blockIdx.x * 1000 + threadIdx.x);
        out[blockIdx.x * 128 + threadIdx.x] = get(t + quarter());
        release(t, 32);
    }"""
    )
    out = np.zeros((8, 128), np.uint32)
    engine.c(source, **BLACKWELL)(8, 128, out)
    assert (out == np.arange(8)[:, None] * 1000 + np.arange(128)).all()


def test_fresh_columns_hold_no_data(engine):
    source = (
        START
        + """extern "C" __global__ void k(u32* out) {
        u32 t = allocate(32);
        put(t + quarter(), 1);
        release(t, 32);
        t = allocate(32);
        out[threadIdx.x] = get(t + quarter());
        release(t, 32);
    }"""
    )
    out = np.zeros(128, np.uint32)
    engine.c(source, **BLACKWELL)(1, 128, out)
    assert (out == 0xFFFFFFFF).all()


MISUSE = {
    "48 columns": ("u32 t = allocate(48);", KernelError, "48 columns"),
    "1024 columns": ("u32 t = allocate(1024);", KernelError, "1024 columns"),
    "more than there are": ("u32 t = allocate(512); t = allocate(32);", KernelError, "32 columns"),
    "after relinquishing": (
        'if (threadIdx.x < 32) asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");'
        "u32 t = allocate(32);", KernelError, "relinquish_alloc_permit"),
    "freed twice": ("u32 t = allocate(32); release(t, 32); release(t, 32);", InvalidFree, "allocation"),
    "freed in part": ("u32 t = allocate(64); release(t, 32);", InvalidFree, "allocation"),
    "freed with an offset": ("u32 t = allocate(64); release(t + 32, 32);", InvalidFree, "allocation"),
    "never freed": ("u32 t = allocate(32);", KernelError, "still allocated"),
    "used after it was freed": (
        "u32 t = allocate(32); release(t, 32); put(t + quarter(), 1);", OutOfBounds, "allocated"),
    "beyond the allocation": ("u32 t = allocate(32); put(t + quarter() + 32, 1);", OutOfBounds, "allocated"),
    "another quarter": ("u32 t = allocate(32); put(t, 1);", OutOfBounds, "lanes 32 to 63"),
    "between the lanes": ("u32 t = allocate(32); put(t + quarter() + (8 << 16), 1);", OutOfBounds, "lanes 0 to 31"),
    "a rank in the lane": (
        "u32 t = allocate(32); put(t + quarter() + (128 << 16), 1);", OutOfBounds, "lane 128.* has 128"),
    "addresses that differ": (
        "u32 t = allocate(32); put(t + quarter() + threadIdx.x, 1);", PartialWarp, "another|different"),
    "part of a warp": ("u32 t = allocate(32); if (threadIdx.x < 7) put(t, 1);", PartialWarp, "32"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "error", "words"), MISUSE.values(), ids=MISUSE)
def test_misuse(engine, body, error, words):
    with pytest.raises(error, match=words):
        engine.c(START + f'extern "C" __global__ void k() {{ {body} }}', **BLACKWELL)(1, 64)


# ---------------------------------------------------------------- copies from shared memory


COPY = (
    START
    + """extern "C" __global__ void k(const u32* image, u64 descriptor, u32* all) {
    __shared__ __align__(1024) u32 shared[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) shared[i] = image[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __shared__ u64 bar;
    u32 t = allocate(32);
    for (int c = 0; c < 32; ++c) put(t + quarter() + c, 7);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");
        asm volatile("tcgen05.fence::before_thread_sync;");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("tcgen05.fence::after_thread_sync;");
        descriptor += at(shared) >> 4;
        INSTRUCTION
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
            :: "r"(at(&bar)) : "memory");
    }
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }"
        :: "r"(at(&bar)) : "memory");
    asm volatile("tcgen05.fence::after_thread_sync;");
    for (int c = 0; c < 32; ++c) all[c * 128 + threadIdx.x] = get(t + quarter() + c);
    release(t, 32);
}"""
)
CP = 'asm volatile("tcgen05.cp.cta_group::1.{} [%0], %1;" :: "r"(t + {}), "l"(descriptor));'
BASE = 1 << 46  # what every descriptor has

# All warps wait for the copies and for the products of each step, and for nothing else: a warp that was slow to look
# would miss a phase, so the first one must not be a step ahead before the others have had a time slice.
STEPS = """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k(const float* in, float* out, int steps) {
    __shared__ __align__(16) float s[32];
    __shared__ unsigned long long full, done;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; mbarrier.init.shared.b64 [%1], 1;"
        :: "r"(at(&full)), "r"(at(&done)) : "memory");
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < steps; ++i) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(at(&full)) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                :: "r"(at(s)), "l"(in + 32 * i), "r"(at(&full)) : "memory");
        }
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }"
            :: "r"(at(&full)), "r"(i % 2) : "memory");
        sum += s[threadIdx.x % 32];
        if (threadIdx.x == 0) asm volatile(
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(at(&done)) : "memory");
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }"
            :: "r"(at(&done)), "r"(i % 2) : "memory");
    }
    out[threadIdx.x] = sum;
}"""


def test_products_leave_other_warps_the_time_to_look(engine):
    given, out = np.arange(5 * 32, dtype=np.float32), np.zeros(128, np.float32)
    engine.c(STEPS, **BLACKWELL)(1, 128, given, out, 5)
    np.testing.assert_array_equal(out, np.tile(given.reshape(5, 32).sum(0), 4))


@pytest.mark.parametrize("threads", (64, 256))
def test_one_mbarrier_for_copies_and_products(engine, threads):
    """Two phases a step: a warp that is slow to look would take the next step's for the one that it waits for."""
    source = STEPS.replace("at(&done)", "at(&full)")
    for turn in ("0", "1"):
        source = source.replace('"r"(i % 2) :', f'"r"({turn}) :', 1)
    given, out = np.arange(5 * 32, dtype=np.float32), np.zeros(threads, np.float32)
    engine.c(source, **BLACKWELL)(1, threads, given, out, 5)
    np.testing.assert_array_equal(out, np.tile(given.reshape(5, 32).sum(0), threads // 32))


def test_the_last_commit_of_a_block_that_has_ended(engine):
    """One block of a cluster waits for a product of the other, which ends at once."""
    source = """
    __device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
    extern "C" __global__ void __cluster_dims__(2) k(int* out) {
        __shared__ unsigned long long done;
        unsigned rank, waiting = 1;
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
        if (threadIdx.x == 0)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&done)) : "memory");
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        if (rank == 0 && threadIdx.x == 0)
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
                         " [%0], %1;" :: "r"(at(&done)), "h"((short)2) : "memory");
        while (rank == 1 && waiting)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 0, 1, p; }"
                : "=r"(waiting) : "r"(at(&done)) : "memory");
        out[blockIdx.x * 32 + threadIdx.x] = rank;
    }"""
    out = np.full((4, 32), 7, np.int32)
    engine.c(source, **BLACKWELL)(4, 32, out)
    np.testing.assert_array_equal(out, np.repeat([[0], [1], [0], [1]], 32, 1))


def expanded(data, packed):
    """16 elements side by side, in bits 1 to 6 or 2 to 5 of a byte each."""
    bits, up = {"b6x16_p32": (6, 1), "b4x16_p64": (4, 2)}[packed]
    chunks = np.ascontiguousarray(data).view(np.uint8).reshape(-1, 16)
    whole = [int.from_bytes(chunk.tobytes(), "little") for chunk in chunks]
    found = [[(number >> bits * i & (1 << bits) - 1) << up for i in range(16)] for number in whole]
    return np.array(found, np.uint8).reshape(len(data), -1).view(np.uint32)


@pytest.mark.parametrize("packed", [None, *tensor_memory.PACKED])
@pytest.mark.parametrize("shape", tensor_memory.COPIES)
def test_every_copy(engine, shape, packed):
    """Rows without swizzling: eight lines of 16 bytes, the second 16 bytes of a row `leading` further on."""
    lanes, column = (3, 5) if shape == "4x256b" else (0, 5)
    source = COPY.replace(
        "INSTRUCTION", CP.format(shape + (f".b8x16.{packed}" if packed else ""), lanes << 16 | column)
    )
    image = np.random.default_rng(2).integers(0, 2**32, 4096, np.uint32)
    leading, stride = 128, 256
    rows, width = int(shape.partition("x")[0]), int(shape.partition("x")[2].partition("b")[0]) // 32
    bytes_ = image.view(np.uint8)
    data = np.stack([
        np.concatenate([bytes_[r // 8 * stride + r % 8 * 16 + c * leading :][:16] for c in range(width // 4)])
        for r in range(rows)
    ]).view(np.uint32)  # fmt: skip
    data = expanded(data, packed) if packed else data
    wanted = np.full((128, 32), 7, np.uint32)
    places = {
        "4x256b": np.arange(4) * 32 + lanes, "128x256b": np.arange(128), "128x128b": np.arange(128),
        "64x128b.warpx2::02_13": np.arange(128).reshape(2, 64), "32x128b.warpx4": np.arange(128).reshape(4, 32),
        "64x128b.warpx2::01_23": np.arange(128).reshape(2, 2, 32).transpose(1, 0, 2).reshape(2, 64),
    }[shape]  # fmt: skip
    for lanes_ in np.atleast_2d(places):
        wanted[lanes_, column : column + width] = data
    every = np.zeros((32, 128), np.uint32)
    engine.c(source, **BLACKWELL)(1, 128, image, np.uint64(BASE | leading >> 4 << 16 | stride >> 4 << 32), every)
    assert (wanted == every.T).all()


@pytest.mark.parametrize("shape", [shape for shape in tensor_memory.COPIES if "." in shape])
def test_the_words_of_a_copy_in_the_other_order(shape):
    words = ("cp", "cta_group::1", *shape.split("."))
    found = tensor_memory.form((*words[:2], *words[:1:-1]))
    assert found is not None and found == tensor_memory.form(words)


def test_a_copy_from_a_swizzled_tile(engine):
    source = COPY.replace("INSTRUCTION", CP.format("128x256b", 0))
    image = np.arange(4096, dtype=np.uint32)
    every = np.zeros((32, 128), np.uint32)
    engine.c(source, **BLACKWELL)(1, 128, image, np.uint64(BASE | 1024 >> 4 << 32 | 2 << 61 | 2), every)
    row, column = np.arange(128)[:, None], np.arange(8) + 8  # 32 bytes into rows of 128
    byte = row * 128 + column * 4
    assert (every.T[:, :8] == (byte ^ (byte >> 7 & 7) << 4) // 4).all()


def test_shift(engine):
    """31 lanes get what the following lane had, in 8 columns; all others keep theirs."""
    source = COPY.replace("put(t + quarter() + c, 7)", "put(t + quarter() + c, threadIdx.x * 100 + c)").replace(
        "INSTRUCTION", 'asm volatile("tcgen05.shift.cta_group::1.down [%0];" :: "r"(t + (32 << 16 | 4)));'
    )
    every = np.zeros((32, 128), np.uint32)
    engine.c(source, **BLACKWELL)(1, 128, np.zeros(4096, np.uint32), np.uint64(BASE), every)
    wanted = np.arange(128) * 100 + np.arange(32)[:, None]
    wanted[4:12, 32:63] += 100
    assert (every == wanted).all()


WRONG_COPIES = {
    "beyond the allocation": (BASE | 256 >> 4 << 32, "128x256b", 25, OutOfBounds, "allocated|tensor memory"),
    "beyond shared memory": (BASE | 4096 >> 4 << 32, "128x256b", 0, OutOfBounds, "shared memory"),
    "to lane 16": (BASE, "128x128b", 16 << 16, OutOfBounds, "lane|tensor memory"),
    "without its fixed bits": (0, "128x128b", 0, KernelError, "46 to 48"),
    "an unknown mode": (BASE | 3 << 61, "128x128b", 0, KernelError, "mode 3"),
}


@pytest.mark.parametrize(("descriptor", "shape", "into", "error", "words"), WRONG_COPIES.values(), ids=WRONG_COPIES)
def test_wrong_copies(engine, descriptor, shape, into, error, words):
    source = COPY.replace("INSTRUCTION", CP.format(shape, into))
    with pytest.raises(error, match=words):
        engine.c(source, **BLACKWELL)(
            1, 128, np.zeros(4096, np.uint32), np.uint64(descriptor), np.zeros((32, 128), np.uint32)
        )


# ---------------------------------------------------------------- text that is no such instruction


HEAD = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry k() { .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .b16 %h<2>; .reg .pred %p<2>; mov.u32 %r0, 0;
"""
REFUSED = {
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0}, [%r1];": "vector of 2",
    "tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r0}, [%r1];": "x64",
    "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r0}, [%r1], 600;": "0 to 511",
    "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r0}, [%r1];": "operands",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%d1];": "tensor memory in brackets",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [12];": "tensor memory in brackets",
    "tcgen05.st.sync.aligned.32x32b.x1.pack::16b.b32 [%r1], {%r0};": "form",
    "tcgen05.ld.aligned.32x32b.x1.b32 {%r0}, [%r1];": "form",
    "tcgen05.alloc.cta_group::3.sync.aligned.b32 [%r1], 32;": "form",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 [%r1], 32;": "32 bits or a number",
    "tcgen05.cp.cta_group::1.64x128b [%r1], %d0;": "form",
    "tcgen05.cp.cta_group::1.128x128b [%r1], %r0;": "64 bits",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1], %h0;": "operands",
    "tcgen05.commit.cta_group::1.b64 [%d1];": "form",
    "tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %d0, %d1, [%r2], %r0, %p0;": "sparse",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %d0, %d1, %r0, %p0;": "stationary",
    "tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], [%r1], %d1, %r0, %p0;": "ashift",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d0, %d1, %r0;": "operands",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d0, [%r2], %r0, %p0;": "64 bits",
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d0, %d1, %r0, %p0, 16;": "0 to 15",
    "tcgen05.mma.cta_group::1.kind::i8 [%r1], %d0, %d1, %r0, %p0, 1;": "operands",
    "tcgen05.mma.cta_group::2.kind::f16 [%r1], %d0, %d1, %r0, {%r1, %r1, %r1, %r1}, %p0;": "vector of 8",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%r1], %d0, %d1, %r0, %p0;": "form",
    "tcgen05.mma.cta_group::1.kind::f16.block_scale [%r1], %d0, %d1, %r0, [%r1], [%r1], %p0;": "form",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r1], %d0, %d1, %r0, [%r1], [%r1], %p0;": "form",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%r1], %d0, %d1, %r0, [%r1], [%r1], %p0;": "form",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refusals(line):
    with pytest.raises((PTXSyntaxError, Unsupported), match=REFUSED[line]):
        run_ptx("compiled", f"{HEAD}{line}\nret; }}\n", [], threads=32)


def test_one_number_of_blocks_in_a_kernel():
    lines = "".join(f"tcgen05.shift.cta_group::{ctas}.down [%r0];\n" for ctas in (1, 2))
    with pytest.raises(PTXSyntaxError, match="both"):
        launch.load(f"{HEAD}{lines}ret; }}\n", language="cuda")


def test_older_targets_lack_it():
    line = "tcgen05.wait::ld.sync.aligned;"
    with pytest.raises(PTXSyntaxError, match=r"needs \.target sm_100a"):
        launch.load(f"{HEAD.replace('sm_100a', 'sm_100')}{line}\nret; }}\n", language="cuda")
