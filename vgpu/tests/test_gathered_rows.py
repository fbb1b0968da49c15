"""Tensor copies of four rows, each at a place of its own: tile::gather4 and tile::scatter4."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.context import TENSOR_MAP
from vgpu.base.errors import KernelError, OutOfBounds, Unsupported
from vgpu.ptx import PTXSyntaxError
from vgpu.tests.test_bulk_copies import ASM, ints, mapped, on_device
from vgpu.tests.test_narrow_formats import checked

ARCH = {"arch": "compute_100a"}
MAP = "struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };"
ROWS = "int column, int a, int b, int c, int d"
GATHER = f"""{ASM}{MAP}
extern "C" __global__ void k(const __grid_constant__ CUtensorMap in, float* out, int count, {ROWS}) {{
    extern __shared__ __align__(1024) float tile[];
    __shared__ u64 ready;
    if (threadIdx.x == 0) {{
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&ready)));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(&ready)), "r"(4 * count));
        asm volatile("cp.async.bulk.tensor.2d.SPACE.global.tile::gather4.mbarrier::complete_tx::bytesMORE"
                     " [%0], [%1, {{%3, %4, %5, %6, %7}}], [%2]MASK;"
                     :: "r"(at(tile)), "l"(&in), "r"(at(&ready)), "r"(column), "r"(a), "r"(b), "r"(c), "r"(d)
                     : "memory");
    }}
    __syncthreads();
    asm volatile("{{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }}"
                 :: "r"(at(&ready)) : "memory");
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = tile[i];
}}"""
SCATTER = f"""{ASM}{MAP}
extern "C" __global__ void k(const __grid_constant__ CUtensorMap out, const float* in, int count, {ROWS}) {{
    extern __shared__ __align__(1024) float tile[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {{
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
                     " [%0, {{%2, %3, %4, %5, %6}}], [%1];"
                     :: "l"(&out), "r"(at(tile)), "r"(column), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }}
}}"""


def kernel(engine, text: str, space: str = "shared::cta", more: str = "", mask: str = ""):
    return engine.c(text.replace("SPACE", space).replace("MORE", more).replace("MASK", mask), **ARCH)


def taken(array: np.ndarray, column: int, rows: tuple[int, ...], width: int) -> np.ndarray:
    """The parts of the rows, with zeros for what lies outside the array."""
    found = np.zeros((len(rows), width), array.dtype)
    for number, row in enumerate(rows):
        for i in range(width):
            if 0 <= row < array.shape[0] and 0 <= column + i < array.shape[1]:
                found[number, i] = array[row, column + i]
    return found


CASES = [(0, (2, 5, 0, 9)), (8, (3, 3, 3, 3)), (24, (-1, 7, 10, 0)), (-4, (9, 8, 7, 6)), (40, (1, 2, 3, 4))]


@pytest.mark.parametrize(("column", "rows"), CASES)
@pytest.mark.parametrize("step", [1, 2])
def test_rows_are_gathered(engine, column, rows, step):
    """A map's step along the rows doesn't matter to boxes of one row."""
    data, out = on_device(ints(10, 32)), np.full((4, 16), 7, np.float32)
    map_ = mapped(data, (1, 16), steps=(step, 1))
    kernel(engine, GATHER)(1, 32, map_, out, out.size, column, *rows, shared_bytes=out.nbytes)
    np.testing.assert_array_equal(out, taken(data, column, rows, 16))


def test_rows_are_swizzled_by_their_place_in_shared_memory(engine):
    data, out = on_device(ints(10, 32)), np.zeros((4, 16), np.float32)
    map_ = mapped(data, (1, 16), swizzle=64)
    kernel(engine, GATHER)(1, 32, map_, out, out.size, 4, 2, 5, 0, 9, shared_bytes=out.nbytes)
    pieces = taken(data, 4, (2, 5, 0, 9), 16).reshape(4, 4, 4)
    np.testing.assert_array_equal(out.reshape(pieces.shape), [pieces[r, np.arange(4) ^ r // 2] for r in range(4)])


@pytest.mark.parametrize("more", [".multicast::cluster", ".cta_group::1"])
def test_forms_for_clusters(engine, more):
    data, out = on_device(ints(10, 32)), np.zeros((4, 16), np.float32)
    made = kernel(engine, GATHER, "shared::cluster", more, ", 1" if "multicast" in more else "")
    made(1, 32, mapped(data, (1, 16)), out, out.size, 16, 8, 1, 2, 4, shared_bytes=out.nbytes)
    np.testing.assert_array_equal(out, data[[8, 1, 2, 4], 16:])


@pytest.mark.parametrize(("column", "rows"), CASES)
def test_rows_are_scattered(engine, column, rows):
    given, out = ints(4, 16), on_device(np.full((10, 32), 77, np.float32))
    expected = out.copy()
    for row, values in zip(rows, given, strict=True):
        for i, value in enumerate(values):
            if 0 <= row < 10 and 0 <= column + i < 32:
                expected[row, column + i] = value
    kernel(engine, SCATTER)(1, 32, mapped(out, (1, 16)), given, given.size, column, *rows, shared_bytes=given.nbytes)
    np.testing.assert_array_equal(out, expected)


def test_bytes_and_sectors_are_counted(compiled):
    data, out = on_device(ints(10, 32)), np.zeros((4, 16), np.float32)
    found = kernel(compiled, GATHER)(
        1, 32, mapped(data, (1, 16)), out, out.size, 0, 2, 5, 0, -9, shared_bytes=out.nbytes, observe=True
    )
    assert (found["bulk_loads"], found["bulk_load_bytes"]) == (1, 256)
    found = kernel(compiled, SCATTER)(
        1, 32, mapped(data, (1, 16)), out, out.size, 0, 2, 5, 0, 9, shared_bytes=out.nbytes, observe=True
    )
    assert (found["bulk_stores"], found["bulk_store_bytes"]) == (1, 256)


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("text", [GATHER, SCATTER])
def test_boxes_of_more_than_one_row(engine, text):
    map_ = mapped(on_device(ints(10, 32)), (2, 16))
    with pytest.raises(KernelError, match="tensor map"):
        kernel(engine, text)(1, 32, map_, np.zeros(64, np.float32), 64, 0, 1, 2, 3, 4, shared_bytes=1024)


@pytest.mark.parametrize("text", [GATHER, SCATTER])
def test_more_than_shared_memory_or_the_array_has(engine, text):
    data, other = on_device(ints(10, 32)), np.zeros(64, np.float32)
    with pytest.raises(OutOfBounds):  # three rows fit
        kernel(engine, text)(1, 32, mapped(data, (1, 16)), other, 0, 0, 1, 2, 3, 4, shared_bytes=192)
    changed = bytearray(mapped(data, (1, 16)))
    changed[TENSOR_MAP["sizes"] + 4] = 11
    with pytest.raises(OutOfBounds):
        kernel(engine, text)(1, 32, bytes(changed), other, 0, 0, 1, 2, 3, 4, shared_bytes=1024)


LOAD = "cp.async.bulk.tensor.2d.SPACE.global.tile::gather4.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
FIVE, TWO = "[%d0, {%r1, %r2, %r3, %r4, %r5}]", "[%d0, {%r1, %r2}]"
NEAR, WIDE = LOAD.replace("SPACE", "shared::cta"), LOAD.replace("SPACE", "shared::cluster")


@pytest.mark.parametrize(
    ("target", "statement", "words"),
    [
        ("sm_100a", f"{NEAR} [%r0], {TWO}, [%r6]", "5 coordinates"),
        ("sm_100a", f"{NEAR.replace('2d', '3d')} [%r0], {FIVE}, [%r6]", "2 dimensions"),
        ("sm_100a", f"{NEAR.replace('gather', 'scatter')} [%r0], {FIVE}, [%r6]", "has .tile::scatter4"),
        ("sm_100a", f"{STORE.replace('scatter', 'gather')} {FIVE}, [%r0]", "has .tile::gather4"),
        ("sm_100a", f"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::scatter4 {FIVE}", "has .tile::scatter4"),
        ("sm_90a", f"{NEAR} [%r0], {FIVE}, [%r6]", "sm_100 or a newer one"),
        ("sm_100", f"{WIDE} [%r0], {FIVE}, [%r6]", "sm_100a"),
        ("sm_120a", f"{STORE} {FIVE}, [%r0]", "sm_100a"),
        ("sm_100", f"{WIDE.replace('::gather4', '')}.cta_group::2 [%r0], {TWO}, [%r6]", "sm_100a"),
        ("sm_120", f"{NEAR} [%r0], {FIVE}, [%r6]", None),
        ("sm_100a", f"{WIDE} [%r0], {FIVE}, [%r6]", None),
        ("sm_100a", f"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 {FIVE}", None),
        ("sm_103a", f"{STORE} {FIVE}, [%r0]", None),
    ],
)
def test_forms(target, statement, words):
    if words is None:
        checked(target, f".reg .b64 %d<1>; {statement};")
        return
    with pytest.raises(PTXSyntaxError, match=words):
        checked(target, f".reg .b64 %d<1>; {statement};")


@pytest.mark.parametrize("mode", ["im2col::w", "im2col::w::128"])
def test_columns_with_a_halo_are_refused_by_name(mode):
    load = f"cp.async.bulk.tensor.4d.shared::cta.global.{mode}.mbarrier::complete_tx::bytes"
    with pytest.raises(Unsupported, match="along W with a halo"):
        checked("sm_100a", f".reg .b64 %d<1>; {load} [%r0], [%d0, {{%r1, %r2, %r3, %r4}}], [%r5], {{%h1, %h2}};")
