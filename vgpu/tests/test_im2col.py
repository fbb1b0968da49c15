"""Tensor maps of im2col mode: loads and stores of 3, 4 and 5 dimensions, strides, dilation, padding, wrong maps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from vgpu import cp, im2col_map
from vgpu.base.context import TENSOR_MAP
from vgpu.base.errors import KernelError, OutOfBounds, Unsupported
from vgpu.ptx import PTXSyntaxError
from vgpu.standins.tensor_map import driver_arguments
from vgpu.storage import memory
from vgpu.storage import tensor_map as maps
from vgpu.tests.test_narrow_formats import checked

MAP = "struct __align__(64) CUtensorMap { char bytes[128]; };"
READY = 'asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" :: "r"(b));'


def source(rank: int, element: str, mode: str = "im2col") -> str:
    """A kernel whose first thread loads `words` elements to shared memory, which all copy to `out`."""
    names = "cwhdn"[: rank - 1] + "n"
    coordinates = ", ".join(f"%{i + 3}" for i in range(rank))
    shifts = ", ".join(f"%{i + 3 + rank}" for i in range(rank - 2))
    inputs = ", ".join([*(f'"r"({name})' for name in names), *(f'"h"(o{name})' for name in names[1:-1])])
    parameters = ", ".join([*(f"int {name}" for name in names), *(f"unsigned short o{name}" for name in names[1:-1])])
    return (
        MAP
        + f"""
    extern "C" __global__ void k(const __grid_constant__ CUtensorMap map, {element}* out, int count, {parameters}) {{
        extern __shared__ __align__(1024) char tile[];
        __shared__ __align__(8) unsigned long long ready;
        unsigned b = __cvta_generic_to_shared(&ready), t = __cvta_generic_to_shared(tile);
        {element}* elements = ({element}*)tile;
        if (threadIdx.x == 0) {{
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
            asm volatile("fence.proxy.async.shared::cta;");
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                         :: "r"(b), "r"(count * (int)sizeof({element})));
            asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes "
                         "[%0], [%1, {{{coordinates}}}], [%2], {{{shifts}}};"
                         :: "r"(t), "l"(&map), "r"(b), {inputs} : "memory");
        }}
        __syncthreads();
        {READY}
        for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = elements[i];
    }}"""
    )


def column(array, corners, pixels, channels, start, shifts=None, steps=None) -> np.ndarray:
    """Pixels in the order of im2col mode, in the manual's words; `start` and `shifts` in NumPy's order of axes."""
    spatial = array.shape[1:-1]
    steps, shifts = steps or (1,) * array.ndim, shifts or (0,) * len(spatial)
    (lower, upper), at, found = corners, list(start), []
    for _ in range(pixels):
        where = [at[0], *(a + s for a, s in zip(at[1:-1], shifts, strict=True))]
        inside = all(0 <= p < n for p, n in zip(where, array.shape, strict=False))
        row = np.zeros(channels, array.dtype)
        for channel in range(channels):
            if inside and 0 <= at[-1] + channel < array.shape[-1]:
                row[channel] = array[*where, at[-1] + channel]
        found.append(row)
        for axis in reversed(range(len(spatial))):
            at[axis + 1] += steps[axis + 1]
            if at[axis + 1] <= spatial[axis] - 1 + upper[axis]:
                break
            at[axis + 1] = lower[axis]
        else:
            at[0] += 1
    return np.array(found)


def mapped(array, corners, channels, pixels, **options) -> bytes:
    copy = memory.array(array.shape, array.dtype)
    copy[...] = array
    found = maps.describe_im2col(copy.ctypes.data, array.itemsize, array.shape, copy.strides, corners,
                                 channels=channels, pixels=pixels, **options)  # fmt: skip
    KEPT.append(copy)
    return found.encode()


KEPT: list[np.ndarray] = []  # what maps point to
# shape, lower and upper corner, channels, pixels, start, shifts, steps (all in NumPy's order)
CASES = [
    ((3, 9, 8), (-1,), (-1,), 4, 20, (0, -1, 0), (0,), None),
    ((3, 9, 8), (-1,), (-1,), 4, 20, (0, -1, 4), (2,), None),
    ((2, 9, 8), (-2,), (-2,), 8, 24, (0, 3, 0), (4,), None),  # a dilated filter, and past the last image
    ((2, 11, 4), (-1,), (-1,), 4, 12, (0, -1, 0), (0,), (1, 2, 1)),
    ((2, 7, 9, 8), (-1, -1), (-1, -1), 8, 64, (0, -1, -1, 0), (0, 0), None),
    ((2, 7, 9, 8), (-1, -1), (-1, -1), 4, 100, (0, 3, 4, 4), (2, 1), None),
    ((2, 8, 9, 8), (0, 0), (-2, -2), 4, 50, (0, 5, 2, 0), (2, 2), None),
    ((2, 8, 14, 4), (-1, -1), (-1, -1), 4, 32, (0, 5, 7, 0), (1, 1), (1, 2, 2, 1)),
    ((2, 7, 9, 8), (-1, -2), (-1, -2), 4, 65, (1, 2, 3, 6), (0, 4), (1, 3, 2, 1)),  # channels past the last one
    ((2, 4, 5, 6, 4), (-1, -1, -1), (-1, -1, -1), 4, 150, (0, -1, -1, -1, 0), (0, 1, 2), None),
    ((2, 4, 5, 6, 4), (0, -1, 0), (-2, -1, -2), 4, 70, (1, 1, 2, 3, 0), (2, 0, 1), (1, 2, 1, 2, 1)),
    ((1, 3, 3, 3, 4), (-16, 15, 0), (-2, 15, 0), 4, 40, (0, -5, 16, 1, 0), (31, 0, 0), None),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CASES)))
def test_columns(engine, case):
    shape, lower, upper, channels, pixels, start, shifts, steps = CASES[case]
    data = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    out = np.full((pixels, channels), -1, np.float32)
    kernel = engine.c(source(len(shape), "float"), arch="compute_90")
    given = (*(np.int32(c) for c in reversed(start)), *(np.uint16(s) for s in reversed(shifts)))
    kernel(1, 32, mapped(data, (lower, upper), channels, pixels, steps=steps), out, out.size, *given,
           shared_bytes=out.nbytes)  # fmt: skip
    expected = column(data, (lower, upper), pixels, channels, start, shifts, steps)
    assert (out == expected).all()
    assert (expected == 0).any() or case == 0


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float64])
def test_elements_of_every_size_and_swizzle(engine, dtype):
    channels = 64 // np.dtype(dtype).itemsize
    shape, corners = (2, 5, 6, channels), ((-1, -1), (-1, -1))
    data = (np.arange(np.prod(shape)) % 251).astype(dtype).reshape(shape)
    element = {1: "unsigned char", 2: "unsigned short", 8: "double"}[data.itemsize]
    out = np.zeros((32, channels), dtype)
    kernel = engine.c(source(4, element), arch="compute_90")
    there = out.view({1: np.uint8, 2: np.uint16, 8: np.float64}[data.itemsize])
    given = (*(np.int32(c) for c in (0, -1, -1, 0)), np.uint16(2), np.uint16(1))
    kernel(1, 32, mapped(data, corners, channels, 32, swizzle=64), there, out.size, *given, shared_bytes=out.nbytes)
    expected = column(data, corners, 32, channels, (0, -1, -1, 0), (1, 2)).reshape(32, 4, -1)
    pieces = np.array([[expected[row, piece ^ row // 2 % 4] for piece in range(4)] for row in range(32)])
    assert (there.view(dtype).reshape(pieces.shape) == pieces).all()


STORE = (
    MAP
    + """
extern "C" __global__ void k(const __grid_constant__ CUtensorMap map, const float* in, int count, int c, int w, int h,
                             int n) {
    extern __shared__ __align__(128) float tile[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned t = __cvta_generic_to_shared(tile);
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
                     "[%0, {%1, %2, %3, %4}], [%5];" :: "l"(&map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(t) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}"""
)


def test_stores(engine):
    """Pixels outside the images are not written."""
    shape, corners, start = (2, 5, 6, 4), ((-1, 0), (0, -1)), (0, -1, 2, 0)
    given = np.arange(1, 4 * 64 + 1, dtype=np.float32).reshape(64, 4)
    encoded = mapped(np.zeros(shape, np.float32), corners, 4, 64)
    engine.c(STORE, arch="compute_90")(1, 32, encoded, given, given.size, 0, 2, -1, 0, shared_bytes=given.nbytes)
    places = np.arange(1, np.prod(shape) // 4 + 1, dtype=np.float32).reshape(*shape[:-1], 1)
    expected = np.zeros((*shape[:-1], 4), np.float32)
    for number, place in enumerate(column(places, corners, 64, 1, start)[:, 0]):
        if place:
            expected.reshape(-1, 4)[int(place) - 1] = given[number]
    assert (KEPT[-1] == expected).all()


def test_a_convolution(compiled):
    """3 × 3 with padding 1, stride 2 and dilation 1: nine copies of one map, each times its weights."""
    images = np.random.default_rng(2).integers(-4, 5, (2, 8, 8, 4)).astype(np.float32)
    weights = np.random.default_rng(3).integers(-4, 5, (3, 3, 4)).astype(np.float32)
    encoded = mapped(images, ((-1, -1), (-1, -1)), 4, 32, steps=(1, 2, 2, 1))
    kernel = compiled.c(source(4, "float"), arch="compute_90")
    total = np.zeros(32, np.float32)
    for y, x in itertools.product(range(3), range(3)):
        out = np.zeros((32, 4), np.float32)
        start = (np.int32(0), np.int32(-1), np.int32(-1), np.int32(0))
        counters = kernel(1, 32, encoded, out, 128, *start, np.uint16(x), np.uint16(y), shared_bytes=512, observe=True)
        assert counters["bulk_loads"] == 1 and counters["bulk_load_bytes"] == 512
        total += out @ weights[y, x]
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = sum(padded[:, y : y + 8 : 2, x : x + 8 : 2] @ weights[y, x] for y in range(3) for x in range(3))
    assert (total == expected.ravel()).all()


# ---------------------------------------------------------------- maps that are wrong, and the host's side

GOOD = dict(shape=(2, 7, 9, 8), corners=((-1, -1), (-1, -1)), channels=8, pixels=16)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shape": (7, 8)}, "3 to 5 dimensions"), ({"corners": ((-1,), (-1,))}, "lower has 1"),
        ({"corners": ((-129, 0), (0, 0))}, "-128 to 127"), ({"corners": ((0, 0), (-7, 0))}, "nothing lies between"),
        ({"channels": 257}, "256 channels"), ({"channels": 3}, "multiple of 16"), ({"pixels": 1025}, "1024 pixels"),
        ({"pixels": 0}, "1024 pixels"), ({"steps": (1, 9, 1, 1)}, "steps"), ({"swizzle": 16}, "swizzle"),
        ({"channels": 16, "swizzle": 32}, "32 bytes"),
    ],
)  # fmt: skip
def test_what_the_driver_refuses(change, words):
    given = GOOD | change
    array = np.zeros(given.pop("shape"), np.float32)
    corners = given.pop("corners")
    with pytest.raises(ValueError, match=words):
        maps.describe_im2col(4096, 4, array.shape, array.strides, corners, **given)


def launch(engine, encoded: bytes) -> None:
    out = np.zeros((16, 8), np.float32)
    given = (*(np.int32(c) for c in (0, -1, -1, 0)), np.uint16(0), np.uint16(0))
    engine.c(source(4, "float"), arch="compute_90")(1, 32, encoded, out, out.size, *given, shared_bytes=out.nbytes)


def test_the_maps_mode_has_to_be_the_instructions(engine):
    data = memory.array((2, 7, 9, 8), np.float32)
    tiled = maps.describe(data.ctypes.data, 4, data.shape, data.strides, (1, 2, 2, 8)).encode()
    with pytest.raises(KernelError, match=r"tensor map"):
        launch(engine, tiled)


@pytest.mark.parametrize(
    ("field", "at", "value"),
    [("mode", 0, 5), ("mode", 0, 0), ("box", 4, 1024 + 1), ("box", 4, 0), ("box", 8, 0x80007FFF), ("box", 8, 128),
     ("box", 12, 0xFF80FF7F), ("box", 12, 0xFFF90000), ("steps", 4, 0), ("sizes", 4, 0)],
)  # fmt: skip
def test_maps_that_nobody_made(engine, field, at, value):
    encoded = bytearray(mapped(np.zeros(GOOD["shape"], np.float32), GOOD["corners"], 8, 16))
    encoded[TENSOR_MAP[field] + at : TENSOR_MAP[field] + at + 4] = value.to_bytes(4, "little")
    with pytest.raises(KernelError, match="tensor map"):
        launch(engine, bytes(encoded))


def test_more_than_shared_memory_has(engine):
    encoded = mapped(np.zeros(GOOD["shape"], np.float32), GOOD["corners"], 8, 1024)
    with pytest.raises(OutOfBounds):
        launch(engine, encoded)


LOAD = "shared::cluster.global.im2col.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    "rest",
    [
        f"3d.{LOAD} [%r0], [%d0, {{%r1, %r2, %r3}}], [%r4]",
        f"3d.{LOAD} [%r0], [%d0, {{%r1, %r2, %r3}}], [%r4], {{%r5}}",
        f"4d.{LOAD} [%r0], [%d0, {{%r1, %r2, %r3, %r4}}], [%r4], {{%h1}}",
        f"2d.{LOAD} [%r0], [%d0, {{%r1, %r2}}], [%r4], {{%h1}}",
        "3d.global.shared::cta.im2col.bulk_group [%d0, {%r1, %r2, %r3}], [%r0]",
        "2d.global.shared::cta.im2col_no_offs.bulk_group [%d0, {%r1, %r2}], [%r0]",
        f"3d.{LOAD.replace('im2col', 'im2col_no_offs')} [%r0], [%d0, {{%r1, %r2, %r3}}], [%r4]",
        f"3d.{LOAD.replace('im2col', 'im2col::w')} [%r0], [%d0, {{%r1, %r2, %r3}}], [%r4], {{%h1, %h2}}",
        "prefetch.tensor.3d.L2.global.im2col [%d0, {%r1, %r2, %r3}]",
    ],
)
def test_forms_that_are_refused(rest):
    word = "cp.async.bulk." if rest.startswith("prefetch") else "cp.async.bulk.tensor."
    with pytest.raises((PTXSyntaxError, Unsupported)):
        checked("sm_100a", f".reg .b64 %d<1>; {word}{rest};")


def test_a_map_of_an_array():
    found = im2col_map(cp.zeros((2, 7, 9, 8), np.float32), (-1, -2), (-3, 0), channels=8, pixels=16)
    assert str(found) == "TensorMap(2×7×9×8 float32, columns of 16 pixels with 8 channels)"
    described = maps.decode(bytes(found), 4)
    assert described is not None and described.corners == ((-2, 0), (-1, -3)) and described.box == (8, 16)
    with pytest.raises(TypeError, match="array on the device"):
        im2col_map(np.zeros((2, 7, 8), np.float32), (0,), (0,), channels=8, pixels=4)


def test_what_the_driver_is_given():
    """Corners begin with W, as coordinates do."""
    found = maps.describe_im2col(4096, 4, (2, 7, 9, 8), (2016, 288, 32, 4), ((-1, -2), (-3, -4)), channels=8, pixels=16)
    _, rank, _, sizes, _, lower, upper, channels, pixels, *_ = driver_arguments(found, "FLOAT32")
    assert rank == 4 and [int(n) for n in sizes] == [8, 9, 7, 2]
    assert (lower, upper, channels, pixels) == ([-2, -1], [-4, -3], 8, 16)
