"""Textures and surfaces: both engines against a model in NumPy, written from the formulas in double precision.

The model follows NVIDIA's "CUDA C++ Programming Guide", appendix "Texture Fetching".
"""

import gc
import itertools

import numpy as np
import pytest

from vgpu.base.errors import CompileError, KernelError, Misaligned, OutOfBounds, Unsupported
from vgpu.compile import cuda_c_to_ptx
from vgpu.faults.texture import BadHandle
from vgpu.launch import launch
from vgpu.standins import cupy as cp
from vgpu.standins.cupy.cuda import runtime, texture
from vgpu.storage import memory

WRAP, CLAMP, MIRROR, BORDER = range(4)
KINDS = {"i": runtime.cudaChannelFormatKindSigned, "u": runtime.cudaChannelFormatKindUnsigned, "f": 2}
C_NAMES = {
    "i1": "signed char",
    "u1": "unsigned char",
    "i2": "short",
    "u2": "unsigned short",
    "i4": "int",
    "u4": "unsigned",
}
N = 96


def channel_format(dtype, channels=1):
    bits = 8 * np.dtype(dtype).itemsize
    return texture.ChannelFormatDescriptor(
        *(bits if c < channels else 0 for c in range(4)), KINDS[np.dtype(dtype).kind]
    )


def array_of(data, channels=1, flags=0):
    """A CUDA array of (…, width × channels); layers with flag 1."""
    sizes = data.shape[::-1]
    if flags & 1 and data.ndim == 2:
        sizes = (sizes[0], 0, sizes[1])
    found = texture.CUDAarray(channel_format(data.dtype, channels), sizes[0] // channels, *sizes[1:], flags=flags)
    found.copy_from(data)
    return found


def texture_of(array, modes=(CLAMP,) * 3, linear=0, unit=0, normalised=0, border=None):
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    how = texture.TextureDescriptor(modes, linear, unit, normalizedCoords=normalised, borderColors=border)
    return texture.TextureObject(resource, how)


def surface_of(array):
    return texture.SurfaceObject(texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array))


def random_texels(shape, dtype, seed=1):
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def random_coordinates(axes, sizes, normalised, seed=2):
    random = np.random.default_rng(seed)
    found = []
    for n in sizes[:axes]:
        x = random.uniform(-2.2, 3.2, N) * (1 if normalised else n)
        x[:8] = np.array([0, 0.5, n - 0.5, n, -0.25, n + 0.25, -3 * n - 0.4, 4 * n + 0.4]) / (n if normalised else 1)
        found.append(x.astype(np.float32))
    return found


# ---------------------------------------------------------------- the model


def model_axis(x, n, mode, normalised, linear):
    """[(index or -1 for the border, weight)] of every coordinate along one axis."""
    x = np.asarray(x, np.float64)
    if not normalised:
        mode = CLAMP if mode in (WRAP, MIRROR) else mode
    else:
        if mode == WRAP:
            x = x - np.floor(x)
        if mode == MIRROR:
            x = np.where(np.floor(x) % 2 == 0, x - np.floor(x), 1 - (x - np.floor(x)))
        x = x * n
    taps = [(np.floor(x), np.ones_like(x))]
    if linear:
        low = np.floor(x - 0.5)
        alpha = np.round((x - 0.5 - low) * 256) / 256
        taps = [(low, 1 - alpha), (low + 1, alpha)]
    resolved = []
    for index, weight in taps:
        index = index.astype(np.int64)
        if mode == WRAP:
            index = index % n
        elif mode == BORDER:
            index = np.where((index >= 0) & (index < n), index, -1)
        else:
            index = np.clip(index, 0, n - 1)
        resolved.append((index, weight))
    return resolved


def model(texels, coordinates, modes, normalised, linear, border=0.0):
    """Sampled values (N, channels); texels (…, y, x, channel) already as floats or integers."""
    axes = [
        model_axis(x, n, mode, normalised, linear)
        for x, n, mode in zip(coordinates, texels.shape[-2::-1], modes, strict=False)
    ]
    total = 0
    for corner in itertools.product(*axes):
        indices = [index for index, _ in corner]
        outside = np.any([index < 0 for index in indices], axis=0)
        value = np.where(outside[:, None], border, texels[tuple(np.maximum(i, 0) for i in indices[::-1])])
        weight = np.prod([weight for _, weight in corner], axis=0)
        total = total + weight[:, None] * value if linear else value
    return total


def as_unit(data):
    return np.maximum(data / np.iinfo(data.dtype).max, -1.0)


# ---------------------------------------------------------------- reading


CALL = {1: "tex1D<{t}>(tex, x)", 2: "tex2D<{t}>(tex, x, y)", 3: "tex3D<{t}>(tex, x, y, z)"}


def reader(engine, call, result="float"):
    """A kernel (N threads) that writes what `call` gives of the coordinates x, y and z."""
    return engine.c(f"""extern "C" __global__ void k({result}* out, cudaTextureObject_t tex,
            const float* xs, const float* ys, const float* zs) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        float x = xs[i], y = ys[i], z = zs[i];
        out[i] = {call};
    }}""")


def read(engine, call, tex, coordinates, result="float", dtype=np.float32, channels=1):
    out = np.zeros((N, channels), dtype)
    filled = [*coordinates, *[np.zeros(N, np.float32)] * (3 - len(coordinates))]
    reader(engine, call, result)(2, N // 2, out, np.uint64(tex.ptr), *filled)
    return out


SHAPES = {1: (13,), 2: (7, 10), 3: (4, 5, 6)}
CASES = [
    (axes, linear, mode, normalised)
    for axes in SHAPES
    for linear in (0, 1)
    for mode in (WRAP, CLAMP, MIRROR, BORDER)
    for normalised in (0, 1)
]


@pytest.mark.parametrize(("axes", "linear", "mode", "normalised"), CASES)
def test_floats_follow_the_formulas(engine, axes, linear, mode, normalised):
    data = random_texels(SHAPES[axes], np.float32)
    modes = (mode, CLAMP, mode)[:axes]
    tex = texture_of(array_of(data), modes, linear, 0, normalised, border=(0.75,))
    coordinates = random_coordinates(axes, data.shape[::-1], normalised)
    found = read(engine, CALL[axes].format(t="float"), tex, coordinates)
    expected = model(data[..., None], coordinates, modes, normalised, linear, 0.75)
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.01 if linear else 0)
    # Where single precision rounds a coordinate the other way, eight bits of fraction differ by one; rarely.
    assert np.mean(np.abs(found - expected) > 1e-5) < 0.12


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("code", ["i1", "u1", "i2", "u2", "i4", "u4"])
def test_integers_are_read_as_they_are(engine, code, channels):
    data = random_texels((6, 9 * channels), code)
    tex = texture_of(array_of(data, channels), (CLAMP, BORDER))
    coordinates = random_coordinates(2, (9, 6), 0)
    name = C_NAMES[code]
    if channels > 1:
        name = {"signed char": "char", "unsigned char": "uchar", "unsigned short": "ushort", "unsigned": "uint"}.get(
            name, name
        ) + str(channels)
    found = read(engine, CALL[2].format(t=name), tex, coordinates, name, code, channels)
    np.testing.assert_array_equal(found, model(data.reshape(6, 9, channels), coordinates, (CLAMP, BORDER), 0, 0))


@pytest.mark.parametrize("linear", [0, 1])
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("code", ["i1", "u1", "i2", "u2", "f2", "f4"])
def test_floats_of_every_texel(engine, code, channels, linear):
    data = random_texels((6, 9 * channels), code)
    unit = data.dtype.kind != "f"
    tex = texture_of(array_of(data, channels), (MIRROR, WRAP), linear, int(unit), 1)
    coordinates = random_coordinates(2, (9, 6), 1)
    name = "float" if channels == 1 else f"float{channels}"
    found = read(engine, CALL[2].format(t=name), tex, coordinates, name, "f4", channels)
    texels = (as_unit(data) if unit else data.astype("f8")).reshape(6, 9, channels)
    expected = model(texels, coordinates, (MIRROR, WRAP), 1, linear)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=0.03 if linear else 0)
    assert np.mean(np.abs(found - expected) > 1e-5) < 0.12


def test_the_fraction_has_eight_bits(engine):
    """Between texels 0 and 1 the result is a multiple of 1/256, rounded to nearest: 1 occurs."""
    tex = texture_of(array_of(np.array([0, 1], np.float32)), linear=1)
    x = np.float32(0.5) + np.arange(N, dtype=np.float32) / np.float32(2048)
    x[-1] = np.float32(1.5 - 1 / 1024)
    found = read(engine, "tex1D<float>(tex, x)", tex, [x])[:, 0]
    exact = (x.astype("f8") - 0.5) * 256
    np.testing.assert_array_equal(found, np.floor(exact + 0.5) / 256)
    assert found[-1] == 1


@pytest.mark.parametrize(("x", "wanted"), [(np.nan, 0), (np.inf, 2), (-np.inf, 0), (1e30, 2), (-1e30, 0)])
def test_coordinates_beyond_all_bounds(engine, x, wanted):
    tex = texture_of(array_of(np.arange(3, dtype=np.float32)), linear=1)
    assert (read(engine, "tex1D<float>(tex, x)", tex, [np.full(N, x, np.float32)]) == wanted).all()


def test_layers_are_clamped_and_never_mixed(engine):
    data = random_texels((3, 4, 5), np.float32)
    tex = texture_of(array_of(data, flags=1), linear=1)
    x, y = random_coordinates(2, (5, 4), 0)
    layer = np.arange(N) % 5
    found = read(engine, "tex2DLayered<float>(tex, x, y, (int)z)", tex, [x, y, layer.astype(np.float32)])
    all_layers = [model(image[..., None], [x, y], (CLAMP,) * 2, 0, 1) for image in data]
    expected = np.choose(np.minimum(layer, 2)[:, None], all_layers)
    np.testing.assert_allclose(found, expected, atol=0.01)
    rows = random_texels((3, 11), np.int32)
    tex = texture_of(array_of(rows, flags=1))
    found = read(engine, "tex1DLayered<int>(tex, x, (int)z)", tex, [x, y, layer.astype(np.float32)], "int", np.int32)
    column = np.clip(np.floor(x), 0, 10).astype(int)
    np.testing.assert_array_equal(found[:, 0], rows[np.minimum(layer, 2), column])


def test_gather_takes_the_four_corners_counter_clockwise(engine):
    data = random_texels((6, 7 * 2), np.float32)
    tex = texture_of(array_of(data, 2), (CLAMP, CLAMP))
    x, y = random_coordinates(2, (7, 6), 0)
    found = read(engine, "tex2Dgather<float4>(tex, x, y, 1)", tex, [x, y], "float4", channels=4)
    left, top = np.floor(x - 0.5).astype(int), np.floor(y - 0.5).astype(int)
    image = data.reshape(6, 7, 2)[..., 1]
    pick = lambda dx, dy: image[np.clip(top + dy, 0, 5), np.clip(left + dx, 0, 6)]
    np.testing.assert_array_equal(found, np.stack([pick(0, 1), pick(1, 1), pick(1, 0), pick(0, 0)], axis=1))


@pytest.mark.parametrize(
    "call", ["tex2DLod<float>(tex, x, y, 3.f)", "tex2DGrad<float>(tex, x, y, make_float2(1,0), make_float2(0,4))"]
)
def test_one_level_is_read_at_every_level(engine, call):
    data = random_texels((6, 7), np.float32)
    coordinates = random_coordinates(2, (7, 6), 0)
    found = read(engine, call, texture_of(array_of(data)), coordinates)
    np.testing.assert_array_equal(found, model(data[..., None], coordinates, (CLAMP,) * 2, 0, 0))


def test_linear_memory_is_zero_outside(engine):
    data = cp.asarray(random_texels(40, np.float32))
    resource = texture.ResourceDescriptor(
        runtime.cudaResourceTypeLinear, arr=data, chDesc=channel_format("f4", 2), sizeInBytes=160
    )
    tex = texture.TextureObject(resource, texture.TextureDescriptor())
    x = np.arange(N, dtype=np.float32) - 30
    found = read(engine, "tex1Dfetch<float2>(tex, (int)x)", tex, [x], "float2", channels=2)
    expected = np.zeros((N, 2), np.float32)
    expected[30:50] = data.get().reshape(20, 2)
    np.testing.assert_array_equal(found, expected)


def test_pitched_memory(engine):
    host = random_texels((5, 16), np.uint16)
    data = cp.asarray(host)
    resource = texture.ResourceDescriptor(
        runtime.cudaResourceTypePitch2D, arr=data, chDesc=channel_format("u2"), width=10, height=5, pitchInBytes=32
    )
    tex = texture.TextureObject(resource, texture.TextureDescriptor((CLAMP, CLAMP), 1, 1))
    coordinates = random_coordinates(2, (10, 5), 0)
    found = read(engine, "tex2D<float>(tex, x, y)", tex, coordinates)
    np.testing.assert_allclose(
        found, model(as_unit(host[:, :10])[..., None], coordinates, (CLAMP,) * 2, 0, 1), atol=0.01
    )


def test_lanes_may_name_different_textures(engine):
    images = [random_texels((4, 4), np.float32, seed) for seed in range(3)]
    objects = [texture_of(array_of(image), linear=n == 1) for n, image in enumerate(images)]
    kernel = engine.c("""extern "C" __global__ void k(float* out, const cudaTextureObject_t* t) {
        int i = threadIdx.x;
        if (i % 5 != 4) out[i] = tex2D<float>(t[i % 3], i % 4 + 0.5f, 2.5f);
    }""")
    out = np.full(32, -9, np.float32)
    kernel(1, 32, out, np.array([t.ptr for t in objects], np.uint64))
    assert out.tolist() == [-9 if i % 5 == 4 else images[i % 3][2, i % 4] for i in range(32)]


def test_residency_and_sizes(engine):
    data, store = random_texels((3, 4, 5), np.float32), array_of(np.zeros((6, 7), np.int16), flags=2)
    kernel = engine.c("""extern "C" __global__ void k(int* out, cudaTextureObject_t t, cudaSurfaceObject_t s) {
        bool there = false; tex3D<float>(t, 0, 0, 0, &there); out[0] = there;
        asm("txq.width.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
        asm("txq.height.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
        asm("txq.depth.b32 %0, [%1];" : "=r"(out[3]) : "l"(t));
        asm("suq.width.b32 %0, [%1];" : "=r"(out[4]) : "l"(s));
    }""")
    out, tex, surface = np.zeros(5, np.int32), texture_of(array_of(data)), surface_of(store)
    kernel(1, 1, out, np.uint64(tex.ptr), np.uint64(surface.ptr))
    assert out.tolist() == [1, 5, 4, 3, 7]


# ---------------------------------------------------------------- surfaces


@pytest.mark.parametrize(
    ("name", "code", "channels"),
    [("float", "f4", 1), ("uchar4", "u1", 4), ("unsigned short", "u2", 1), ("float4", "f4", 4), ("int2", "i4", 2),
     ("signed char", "i1", 1)],
)  # fmt: skip
def test_surfaces_are_read_and_written(engine, name, code, channels):
    data = random_texels((6, 8 * channels), code)
    one, two = array_of(data, channels, flags=2), array_of(np.zeros_like(data), channels, flags=2)
    kernel = engine.c(f"""extern "C" __global__ void k(cudaSurfaceObject_t a, cudaSurfaceObject_t b) {{
        int x = threadIdx.x, y = threadIdx.y;
        surf2Dwrite(surf2Dread<{name}>(a, x * sizeof({name}), y), b, (7 - x) * sizeof({name}), 5 - y);
    }}""")
    first, second = surface_of(one), surface_of(two)
    kernel(1, (8, 6), np.uint64(first.ptr), np.uint64(second.ptr))
    out = np.zeros_like(data)
    two.copy_to(out)
    np.testing.assert_array_equal(out.reshape(6, 8, channels), data.reshape(6, 8, channels)[::-1, ::-1])


def test_boundary_modes_of_surfaces(engine):
    data = np.arange(1, 61, dtype=np.int32).reshape(3, 4, 5)
    store = array_of(data, flags=2)
    kernel = engine.c("""extern "C" __global__ void k(cudaSurfaceObject_t s, int* out) {
        int x = (int)threadIdx.x - 2;
        out[threadIdx.x] = surf3Dread<int>(s, x * 4, 1, 5, cudaBoundaryModeZero);
        out[threadIdx.x + 9] = surf3Dread<int>(s, x * 4, -1, 5, cudaBoundaryModeClamp);
        out[threadIdx.x + 18] = surf3Dread<int>(s, x * 4, 1, 1, cudaBoundaryModeZero);
        surf3Dwrite(-7, s, x * 4 + 8, 7, 0, cudaBoundaryModeZero);
        if (x >= 4) surf3Dwrite(-x, s, x * 4, 3, 9, cudaBoundaryModeClamp);
    }""")
    out, surface = np.full(27, -1, np.int32), surface_of(store)
    kernel(1, 9, np.uint64(surface.ptr), out)
    columns = np.arange(-2, 7)
    assert (out[:9] == 0).all()
    np.testing.assert_array_equal(out[9:18], data[2, 0][np.clip(columns, 0, 4)])
    inside = (columns >= 0) & (columns < 5)
    np.testing.assert_array_equal(out[18:], np.where(inside, data[1, 1][np.clip(columns, 0, 4)], 0))
    back = np.zeros_like(data)
    store.copy_to(back)
    assert (back != data).sum() == 1 and back[2, 3, 4] == -6


def test_surfaces_in_one_dimension_and_layers(engine):
    line, layers = array_of(np.zeros(40, np.int64).view(np.int32).reshape(-1), 2, flags=2), None
    layers = array_of(np.zeros((3, 4, 8), np.float32), flags=3)
    kernel = engine.c("""extern "C" __global__ void k(cudaSurfaceObject_t s, cudaSurfaceObject_t t) {
        int i = threadIdx.x;
        surf1Dwrite((long long)i << 33, s, i * 8);
        surf2DLayeredwrite((float)i, t, i % 8 * 4, i / 8 % 4, i % 3);
    }""")
    one, two = surface_of(line), surface_of(layers)
    kernel(1, 32, np.uint64(one.ptr), np.uint64(two.ptr))
    out, images = np.zeros(80, np.int32), np.zeros((3, 4, 8), np.float32)
    line.copy_to(out)
    layers.copy_to(images)
    assert out.view(np.int64)[:32].tolist() == [i << 33 for i in range(32)]
    expected = np.zeros((3, 4, 8))
    for i in range(32):
        expected[i % 3, i // 8 % 4, i % 8] = i
    np.testing.assert_array_equal(images, expected)


# ---------------------------------------------------------------- what goes wrong


TEX2D = """extern "C" __global__ void k(float* o, cudaTextureObject_t t) {
    o[threadIdx.x] = tex2D<float>(t, 0, 0);
}"""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: (0, None), "null handle"),
        (lambda: (10**12, None), "no texture handle"),
        (lambda: (2**64 - 1, None), "no texture handle"),
        (lambda: (lambda a: (a.data.ptr, a))(cp.zeros(8)), "address of an array"),
        (lambda: (texture_of(array_of(np.zeros((2, 2), "f4"))).ptr, None), "destroyed already"),
        (lambda: (lambda s: (s.ptr, s))(surface_of(array_of(np.zeros((2, 2), "f4"), flags=2))), "surface object was"),
        (lambda: (lambda t: (t.ptr, t))(texture_of(array_of(np.zeros((2, 2, 2), "f4")))), "tex3D reads"),
        (lambda: (lambda t: (t.ptr, t))(texture_of(array_of(np.zeros((2, 2), "i4")))), "gives integers"),
    ],
)  # fmt: skip
def test_a_bad_handle_is_said_in_words(engine, make, words):
    handle, keep = make()
    gc.collect()
    with pytest.raises(BadHandle, match=words) as caught:
        engine.c(TEX2D)(1, 32, np.zeros(32, np.float32), np.uint64(handle))
    assert caught.value.line == 2 and caught.value.thread == (0, 0, 0)
    del keep


def test_memory_freed_under_a_texture(engine):
    address = runtime.malloc(1024)
    data = cp.ndarray(64, np.float32, cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(address, 1024, None), 0))
    resource = texture.ResourceDescriptor(
        runtime.cudaResourceTypePitch2D, arr=data, chDesc=channel_format("f4"), width=8, height=2, pitchInBytes=32
    )
    tex = texture.TextureObject(resource, texture.TextureDescriptor())
    runtime.free(address)
    with pytest.raises(BadHandle, match="freed already"):
        engine.c(TEX2D)(1, 32, np.zeros(32, np.float32), np.uint64(tex.ptr))


def test_a_surface_access_outside_names_the_place(engine):
    store = array_of(np.zeros((4, 5), np.float32), flags=2)
    surface = surface_of(store)
    kernel = engine.c("""extern "C" __global__ void k(cudaSurfaceObject_t s) {
        surf2Dwrite(1.f, s, threadIdx.x * 4, 3);
    }""")
    with pytest.raises(OutOfBounds) as caught:
        kernel(1, 32, np.uint64(surface.ptr))
    assert caught.value.line == 2 and caught.value.thread == (5, 0, 0)
    assert "20" in str(caught.value) and "5 × 4 texels" in str(caught.value)


def test_x_of_a_surface_counts_bytes(engine):
    surface = surface_of(array_of(np.zeros((4, 8), np.float32), flags=2))
    kernel = engine.c(
        """extern "C" __global__ void k(cudaSurfaceObject_t s) { surf2Dwrite(1.f, s, threadIdx.x, 0); }"""
    )
    with pytest.raises(Misaligned) as caught:
        kernel(1, 8, np.uint64(surface.ptr))
    assert caught.value.thread == (1, 0, 0)


def test_cube_maps_are_refused(engine):
    with pytest.raises((Unsupported, KernelError), match=r"tex\.cube"):
        kernel = engine.c("""extern "C" __global__ void k(float* o, cudaTextureObject_t t) {
            o[0] = texCubemap<float>(t, 1, 0, 0);
        }""")
        kernel(1, 1, np.zeros(1, np.float32), np.uint64(1))


def test_gather_of_integers_is_refused(engine):
    tex = texture_of(array_of(np.zeros((4, 4), np.int32)))
    kernel = engine.c(
        """extern "C" __global__ void k(int4* o, cudaTextureObject_t t) { o[0] = tex2Dgather<int4>(t, 0, 0, 0); }"""
    )
    with pytest.raises(BadHandle, match="tex2Dgather"):
        kernel(1, 1, np.zeros(4, np.int32), np.uint64(tex.ptr))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: texture_of(array_of(np.zeros((2, 2), "i4")), linear=1), runtime.CUDARuntimeError, "FilterSetting"),
        (lambda: texture_of(array_of(np.zeros((2, 2), "i4")), unit=1), runtime.CUDARuntimeError, "InvalidValue"),
        (lambda: surface_of(array_of(np.zeros((2, 2), "f4"))), runtime.CUDARuntimeError, "cudaArraySurfaceLoadStore"),
        (lambda: texture.CUDAarray(texture.ChannelFormatDescriptor(32, 32, 32, 0, 2), 4), runtime.CUDARuntimeError,
         "InvalidChannelDescriptor"),
        (lambda: texture.CUDAarray(channel_format("f4"), 0), runtime.CUDARuntimeError, "width"),
        (lambda: texture.CUDAarray(channel_format("f4"), 4, 4, flags=4), Unsupported, "cube"),
        (lambda: texture.CUDAarray(channel_format("f4"), 4).copy_from(np.zeros(5, "f4")), ValueError, "shape"),
        (lambda: texture.CUDAarray(channel_format("f4"), 4).copy_from(np.zeros(4)), ValueError, "float64"),
        (lambda: texture.CUDAarray(channel_format("f4"), 4).copy_to(np.zeros(8, "f4")[::2]), ValueError, "contiguous"),
        (lambda: texture.TextureDescriptor((1, 1, 1, 1)), ValueError, "three"),
        (lambda: texture.ResourceDescriptor(runtime.cudaResourceTypeArray), TypeError, "cuArr"),
        (lambda: texture.ResourceDescriptor(runtime.cudaResourceTypeMipmappedArray), Unsupported, "one level"),
    ],
)  # fmt: skip
def test_what_cuda_refuses(make, error, words):
    with pytest.raises(error, match=words):
        make()


# ---------------------------------------------------------------- counters, books and CuPy's kernels


def counts(call, tex, lanes=32, options="int x = threadIdx.x; "):
    ptx = cuda_c_to_ptx(
        f"""extern "C" __global__ void k(float* o, cudaTextureObject_t t) {{ {options}o[threadIdx.x] = {call}; }}"""
    ).ptx
    kernel = launch.load(ptx, language="cuda", source="", name="k", filename="kernel.cu")["k"]
    out = memory.array(lanes, np.float32)
    params = [np.uint64(out.ctypes.data).tobytes(), np.uint64(tex.ptr).tobytes()]
    found = launch.launch(kernel, 1, lanes, params, observe=True)
    name = "l1tex__t_{}_pipe_tex_mem_texture.sum"
    assert found[name.format("requests")] == found["texture_requests"]
    return found[name.format("requests")], found[name.format("sectors")]


def test_sectors_hold_two_rows():
    tex = texture_of(array_of(np.zeros((64, 64), np.float32)))
    assert counts("tex2D<float>(t, x, 0.f)", tex) == (1, 8)  # 4 texels a sector
    assert counts("tex2D<float>(t, 0.f, x)", tex) == (1, 16)  # 2 rows a sector; 32 in a row-major array
    assert counts("tex2D<float>(t, x % 8, x / 8)", tex) == (1, 4)  # 8 × 4 texels
    filtered = texture_of(array_of(np.zeros((64, 64), np.float32)), linear=1)
    assert counts("tex2D<float>(t, x + 1.f, 1.f)", filtered) == (1, 9)  # columns 0 to 32, both rows of one sector row
    assert counts("tex2D<float>(t, x + 1.f, 2.f)", filtered) == (1, 18)  # rows 1 and 2: two sector rows
    border = texture_of(array_of(np.zeros((64, 64), np.float32)), (BORDER, BORDER))
    assert counts("tex2D<float>(t, x - 16.f, 0.f)", border) == (1, 4)  # nothing is read outside


def test_linear_memory_is_counted_as_it_lies():
    data = cp.zeros(4096, cp.float32)
    resource = texture.ResourceDescriptor(
        runtime.cudaResourceTypeLinear, arr=data, chDesc=channel_format("f4"), sizeInBytes=data.nbytes
    )
    tex = texture.TextureObject(resource, texture.TextureDescriptor())
    assert counts("tex1Dfetch<float>(t, x)", tex) == (1, 4)
    assert counts("tex1Dfetch<float>(t, 8 * x)", tex) == (1, 32)
    assert counts("tex1Dfetch<float>(t, 0)", tex) == (1, 1)


def test_surface_sectors():
    surface = surface_of(array_of(np.zeros((64, 64), np.float32), flags=2))
    ptx = cuda_c_to_ptx(
        """extern "C" __global__ void k(cudaSurfaceObject_t s) {
        surf2Dwrite(surf2Dread<float>(s, threadIdx.x * 4, 0), s, 0, threadIdx.x);
    }"""
    ).ptx
    kernel = launch.load(ptx, language="cuda", source="", name="k", filename="kernel.cu")["k"]
    found = launch.launch(kernel, 1, 32, [np.uint64(surface.ptr).tobytes()], observe=True)
    names = [
        f"l1tex__t_{what}_pipe_tex_mem_surface_op_{op}.sum" for op in ("ld", "st") for what in ("requests", "sectors")
    ]
    assert [found[name] for name in names] == [1, 8, 1, 16]


def test_an_array_is_on_the_books_until_it_goes():
    gc.collect()  # what other tests have left
    before = memory.usage("cuda array")
    array = texture.CUDAarray(channel_format("f4", 4), 100, 10)
    assert memory.usage("cuda array") == (before[0] + 16000, before[1] + 1)
    tex = texture_of(array)
    del array
    assert memory.usage("cuda array")[1] == before[1] + 1  # the texture keeps it
    del tex
    gc.collect()
    assert memory.usage("cuda array") == before


def test_raw_kernels_take_texture_objects():
    data = random_texels((8, 16), np.float32)
    tex = texture_of(array_of(data))
    kernel = cp.RawKernel(
        """extern "C" __global__ void k(float* o, cudaTextureObject_t t) {
        o[threadIdx.y * 16 + threadIdx.x] = tex2D<float>(t, threadIdx.x, threadIdx.y);
    }""",
        "k",
    )
    out = cp.zeros((8, 16), cp.float32)
    kernel((1,), (16, 8), (out, tex))
    np.testing.assert_array_equal(out.get(), data)
    with pytest.raises(TypeError, match="TextureObject"):
        kernel((1,), (16, 8), (tex, tex))


def test_texture_references_are_gone_from_cuda():
    with pytest.raises(CompileError):
        cuda_c_to_ptx('texture<float, 2> t; extern "C" __global__ void k(float* o) { o[0] = tex2D(t, 0, 0); }')
