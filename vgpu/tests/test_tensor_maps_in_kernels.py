"""Tensor maps that kernels make: `tensormap.replace`, `tensormap.cp_fenceproxy`, and what is no form of them."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.context import TENSOR_BYTES
from vgpu.base.errors import KernelError, OutOfBounds
from vgpu.launch import launch
from vgpu.ptx import PTXSyntaxError
from vgpu.storage import memory
from vgpu.storage import tensor_map as maps

# A warp makes a map in shared memory, copies it to global memory and loads a box by it.
SOURCE = r"""
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#define SET(field, type, constraint, value) asm volatile( \
    "tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1;" \
    :: "r"(at(map)), constraint(value) : "memory")
#define EACH(field, type, constraint, dimension, value) asm volatile( \
    "tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " #dimension ", %1;" \
    :: "r"(at(map)), constraint(value) : "memory")
extern "C" __global__ void k(const TYPE* in, u64* there, TYPE* out, int rows, int columns, int row, int column) {
    __shared__ alignas(128) unsigned map[32];
    __shared__ alignas(1024) TYPE box[8 * 32];
    __shared__ u64 bar;
    map[threadIdx.x] = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&bar)) : "memory");
    __syncwarp();
    if (threadIdx.x == 0) { FIELDS }
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%0], [%1], 128;" :: "l"(there), "r"(at(map)) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(there) : "memory");
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(&bar)), "n"(sizeof(box)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];" :: "r"(at(box)), "l"(there), "r"(column), "r"(row), "r"(at(&bar)) : "memory");
    }
    unsigned done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(at(&bar)) : "memory"); while (!done);
    for (int i = threadIdx.x; i < 8 * 32; i += 32) out[i] = box[i];
}
"""
KINDS = {"float": (np.float32, 7), "short": (np.int16, 1), "double": (np.float64, 9), "unsigned": (np.uint32, 2)}


def fields(kind: str, swizzle: int = 0, fill: int = 0, rank: str = '"n", 1') -> list[str]:
    dtype, number = KINDS[kind]
    return [
        'SET("global_address", "b64", "l", in);',
        f'SET("rank", "b32", {rank});',
        'EACH("box_dim", "b32", "n", 0, 32);',
        'EACH("box_dim", "b32", "n", 1, 8);',
        'EACH("global_dim", "b32", "r", 0, columns);',
        'EACH("global_dim", "b32", "r", 1, rows);',
        f'EACH("global_stride", "b64", "l", 0, columns * {np.dtype(dtype).itemsize}ull);',
        'EACH("element_stride", "b32", "n", 0, 1);',
        'EACH("element_stride", "b32", "n", 1, 1);',
        f'SET("elemtype", "b32", "n", {number});',
        'SET("interleave_layout", "b32", "n", 0);',
        f'SET("swizzle_mode", "b32", "n", {swizzle});',
        f'SET("fill_mode", "b32", "n", {fill});',
    ]


def run(engine, kind, given, at=(0, 0), shape=(20, 48), outside=0):
    """The box that was loaded, the one that should have been, and the map."""
    values = np.random.default_rng(1).integers(-99, 99, shape).astype(KINDS[kind][0])
    here, there = memory.array(shape, values.dtype), memory.array((16,), np.uint64)
    here[...] = values
    out = np.zeros((8, 32), values.dtype)
    source = SOURCE.replace("TYPE", kind).replace("FIELDS", " ".join(given))
    engine.c(source, "k", arch="compute_90a")(1, 32, here, there, out, *map(np.int32, (*shape, *at)))
    padded = np.full((64, 96), outside, values.dtype)
    padded[: shape[0], : shape[1]] = values
    return out, padded[at[0] : at[0] + 8, at[1] : at[1] + 32], maps.decode(there.tobytes(), 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [1, -1])
def test_fields_may_be_set_in_any_order(engine, kind, step):
    found, expected, made = run(engine, kind, fields(kind)[::step])
    nbytes = expected.itemsize
    assert np.array_equal(found, expected)
    assert (made.element, made.sizes, made.strides, made.box) == (nbytes, (48, 20), (nbytes, 48 * nbytes), (32, 8))
    assert (made.steps, made.swizzle, made.corners, made.fills_nan) == ((1, 1), 0, (), False)


@pytest.mark.parametrize("at", [(3, 16), (16, 0), (0, 32), (16, 40)])
def test_what_lies_outside_is_zero_or_nan(engine, at):
    found, expected, _ = run(engine, "float", fields("float"), at)
    assert np.array_equal(found, expected)
    found, expected, made = run(engine, "float", fields("float", fill=1), at, outside=np.nan)
    assert np.array_equal(found, expected, equal_nan=True) and made.fills_nan


def test_a_rank_in_a_register_and_a_swizzle(engine):
    found, expected, made = run(engine, "float", fields("float", swizzle=3, rank='"r", columns / columns'))
    pieces = found.reshape(8, 8, 4)  # 16 bytes each
    assert np.array_equal(np.stack([pieces[row][np.arange(8) ^ row] for row in range(8)]).reshape(8, 32), expected)
    assert made.swizzle == 128


@pytest.mark.parametrize("field", ["global_address", "elemtype", "box_dim", "rank"])
def test_a_field_that_is_missing(engine, field):
    with pytest.raises(KernelError, match="tensor map"):
        run(engine, "float", [each for each in fields("float") if field not in each])


def test_a_map_that_is_set_outside_the_memory_of_its_block(engine):
    with pytest.raises(OutOfBounds):
        run(engine, "float", ["unsigned* map = (unsigned*)box + (1 << 16);", *fields("float")])


REPLACE = "tensormap.replace.tile.{}.shared::cta.b1024.{} {}"
COPY = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.{}.gpu.sync.aligned [%d0], [%d1], {};"
WRONG = {
    REPLACE.format("rank", "b64", "[%d0], 1;"): "is no replacement in a tensor map",
    REPLACE.format("swizzle_atomicity", "b32", "[%d0], 1;"): "is no replacement in a tensor map",
    "tensormap.replace.tile.rank.local.b1024.b32 [%d0], 1;": "is no replacement in a tensor map",
    "tensormap.replace.im2col.rank.global.b1024.b32 [%d0], 1;": "is no replacement in a tensor map",
    "tensormap.replace.tile [%d0], 1;": "is no replacement in a tensor map",
    REPLACE.format("box_dim", "b32", "[%d0], 5, %r0;"): "replaces .box_dim of dimension 5",
    REPLACE.format("global_stride", "b64", "[%d0], 4, %d1;"): "replaces .global_stride of dimension 4",
    REPLACE.format("box_dim", "b32", "[%d0], %r0;"): "has 2 operands",
    REPLACE.format("box_dim", "b32", "[%d0], %r0, %r0;"): "a number",
    REPLACE.format("global_address", "b64", "[%d0], %r0;"): "64 bits",
    REPLACE.format("elemtype", "b32", "[%d0], %r0;"): "a number",
    REPLACE.format("elemtype", "b32", "[%d0], 13;"): "sets .elemtype to 13: the virtual GPU has 0, 1, 2",
    REPLACE.format("interleave_layout", "b32", "[%d0], 1;"): "sets .interleave_layout to 1: the virtual GPU has 0",
    REPLACE.format("swizzle_mode", "b32", "[%d0], 4;"): "sets .swizzle_mode to 4",
    COPY.format("release", 64): f"copies 64 bytes: a tensor map has {TENSOR_BYTES}",
    COPY.format("acquire", 128): "is no copy of a tensor map that PTX has",
}


@pytest.mark.parametrize("instruction", WRONG)
def test_what_is_no_form_of_them(instruction):
    head = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() { .reg .b32 %r<2>; .reg .b64 %d<2>; "
    with pytest.raises(PTXSyntaxError) as caught:
        launch.load(f"{head}{instruction} ret; }}", language="cuda")
    assert WRONG[instruction] in str(caught.value)
