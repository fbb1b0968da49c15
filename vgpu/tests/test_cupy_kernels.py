"""RawKernel and RawModule: CUDA C++ that is compiled and run, and arguments that are checked."""

import warnings

import numpy as np
import pytest

from vgpu.base.errors import CompileError, LaunchError, Misaligned, Unsupported
from vgpu.standins import cupy as cp
from vgpu.standins.cupy.signature import parameters
from vgpu.storage import memory

SAXPY = r"""
extern "C" __global__ void saxpy(const float* __restrict__ x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


@pytest.fixture
def saxpy():
    return cp.RawKernel(SAXPY, "saxpy")


@pytest.fixture
def xy():
    return cp.arange(100, dtype=cp.float32), cp.ones(100, cp.float32)


def test_saxpy(saxpy, xy):
    x, y = xy
    assert saxpy((4,), (32,), (x, y, np.float32(2), 100)) is None
    np.testing.assert_array_equal(y.get(), 2 * np.arange(100, dtype=np.float32) + 1)
    assert (saxpy.name, saxpy.code, saxpy.backend, repr(saxpy)) == ("saxpy", SAXPY, "nvrtc", "<RawKernel 'saxpy'>")


@pytest.mark.parametrize("n", [100, np.int32(100), np.int64(100), np.uint8(0) + np.int16(100)])
def test_integers_that_a_gpu_gets_right(saxpy, xy, n):
    if isinstance(n, np.int16):
        with pytest.raises(TypeError, match=r"int16 has 2 bytes and the kernel reads 4. Pass np.int32\(100\)"):
            saxpy((4,), (32,), (*xy, np.float32(1), n))
        return
    saxpy((4,), (32,), (*xy, np.float32(1), n))
    assert xy[1][99].item() == 100


class OnHost:
    """Like a tensor of PyTorch on the CPU."""

    def __array__(self):
        return np.ones(100, np.float32)


WRONG = [
    (lambda x, y: (x, y, 2.0, 100), r"argument 3 of saxpy, `float a`: a Python float.*Pass np\.float32\(2\.0\)"),
    (lambda x, y: (x, y, 2, 100), r"`float a`: the integer 2 .*Pass np\.float32\(2\)"),
    (lambda x, y: (x, y, np.float64(2), 100), r"`float a`: float64 was given.*Pass np\.float32"),
    (lambda x, y: (x, y, np.float32(2), 100.0), r"argument 4 of saxpy, `int n`.*Pass np\.int32\(100\)"),
    (lambda x, y: (x, y, np.float32(2), 2**40), r"`int n`: 1099511627776 does not fit into 32 bits"),
    (lambda x, y: (x, y, np.float32(2), True), r"`int n`: a bool was given.*Pass np\.int32\(True\)"),
    (lambda x, y: (x, y, np.float32(2), x), r"`int n`: an array was given where the kernel takes a value"),
    (lambda x, y: (x, y.get(), np.float32(2), 1), r"`float\* y`: a NumPy array was given.*cp\.asarray\(x\)"),
    (
        lambda x, y: (x, y.astype("f8"), np.float32(2), 1),
        r"array of float64 was given.*several numbers. Make the array with dtype=np\.float32.*on purpose: x\.view",
    ),
    (
        lambda x, y: (x, y.astype("f2"), np.float32(2), 1),
        r"an array of float16.*parts of numbers.*x\.view\(np\.float32",
    ),
    (lambda x, y: (x, 1.5, np.float32(2), 1), r"`float\* y`: a Python float.*where the kernel takes a pointer"),
    (lambda x, y: (x, y, None, 1), r"`float a`: None was given"),
    (lambda x, y: (x, y, 1j, 1), r"`float a`: complex128 was given, 16 bytes"),
    (lambda x, y: (x, y, "a", 1), r"`float a`: str was given"),
    (lambda x, y: (x, OnHost(), np.float32(2), 1), r"`float\* y`: OnHost was given.*x = cp\.asarray\(x\)"),
    (lambda x, y: (x, y, np.float32(2)), r"saxpy\(float\* x, float\* y, float a, int n\) takes 4 arguments, and 3"),
    (lambda x, y: x, r"the arguments are a tuple, and ndarray was given.*\(x,\)"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_arguments_name_the_place_and_the_remedy(saxpy, xy, arguments, message):
    with pytest.raises(TypeError, match=message):
        saxpy((4,), (32,), arguments(*xy))
    assert (xy[1] == 1).all()  # nothing ran


@pytest.mark.parametrize(("grid", "block"), [(4, (32,)), ((4,), 32)])
def test_grid_and_block_are_tuples_as_in_cupy(saxpy, xy, grid, block):
    with pytest.raises(TypeError, match=r"is a tuple, such as \((4|32),\)"):
        saxpy(grid, block, (*xy, np.float32(1), 100))


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("__global__ void f(int n) {}", "f", r"the compiled code has _Z1fi.*extern \"C\""),
        ('extern "C" __global__ void scale(int n) {}', "scael", r"Was 'scale' meant\?"),
        ("template <typename T> __global__ void f(T* x) {}", "f<float>", r"name_expressions=\['f<float>'\]"),
        ('extern "C" __device__ int f(int n) { return n; }', "f", "no kernel at all"),
    ],
)
def test_a_name_that_is_not_there(code, name, message):
    with pytest.raises(AttributeError, match=message):
        cp.RawKernel(code, name).compile()


def test_compile_errors_name_the_line():
    broken = SAXPY.replace("if (i < n)", "if (i < m)")
    with pytest.raises(CompileError, match='"m" is undefined') as caught:
        cp.RawKernel(broken, "saxpy").compile()
    assert caught.value.line == 4


def test_prepare_tells_what_a_launch_needs(saxpy, xy):
    prepared = saxpy.prepare((*xy, np.float32(2), 100), (4,), (32,), shared_bytes=64)
    assert prepared.kernel.name == "saxpy" and prepared.shared_bytes == 64
    assert [len(data) for data in prepared.params] == [p.nbytes for p in prepared.kernel.parameters]
    assert prepared.params[2] == np.float32(2).tobytes()
    x = prepared.arrays[0]
    assert (x.name, x.address, x.nbytes, x.dtype, x.shape, x.strides) == (
        "x",
        xy[0].data.ptr,
        400,
        "float32",
        (100,),
        (4,),
    )
    assert (xy[1] == 1).all()


def test_the_biggest_block_leaves_each_quarter_of_an_sm_the_same_warps(monkeypatch):
    kernel = cp.RawKernel('extern "C" __global__ void k(float* x) { x[0] = 1; }', "k")
    monkeypatch.setattr(type(kernel), "num_regs", property(lambda self: 96))
    assert kernel.max_threads_per_block == 640  # 21 warps have registers, and 20 of them can be shared out


def test_attributes(saxpy):
    attributes = saxpy.attributes
    assert attributes["num_regs"] > 0 and attributes["shared_size_bytes"] == 0
    assert attributes["max_threads_per_block"] == 1024
    assert attributes["max_dynamic_shared_size_bytes"] == 48 * 1024
    assert attributes["ptx_version"] == int(cp.cuda.Device(0).compute_capability)


def test_attributes_know_of_a_limit_on_registers():
    held = r"""extern "C" __global__ void held(const float* x, float* out) {
        float v[48], sum = 0;
        for (int k = 0; k < 48; ++k) sum += v[k] = x[32 * k + threadIdx.x];
        for (int k = 0; k < 48; ++k) out[32 * k + threadIdx.x] = v[k] / sum;
    }"""
    free, capped = cp.RawKernel(held, "held"), cp.RawKernel(held, "held", options=("-maxrregcount=32",))
    assert free.num_regs > 48 and free.local_size_bytes == 0
    assert capped.num_regs == 32 and capped.local_size_bytes > 0


REVERSE = r"""
extern "C" __global__ void reverse(int* x, int n) {
  extern __shared__ int held[];
  held[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = held[n - 1 - threadIdx.x];
}
"""


def test_dynamic_shared_memory_and_its_limit():
    reverse, x = cp.RawKernel(REVERSE, "reverse"), cp.arange(64, dtype=cp.int32)
    reverse((1,), (64,), (x, 64), shared_mem=256)
    np.testing.assert_array_equal(x.get(), np.arange(64)[::-1])
    with pytest.raises(
        LaunchError, match=r"60000 bytes .* a launch may have 49152.*max_dynamic_shared_size_bytes = 60000"
    ):
        reverse((1,), (64,), (x, 64), shared_mem=60_000)
    reverse.max_dynamic_shared_size_bytes = 60_000
    reverse((1,), (64,), (x, 64), shared_mem=60_000)
    np.testing.assert_array_equal(x.get(), np.arange(64))
    with pytest.raises(LaunchError, match="allows"):
        reverse.max_dynamic_shared_size_bytes = 1 << 20


def test_two_dimensions():
    code = r"""
    extern "C" __global__ void transpose(const double* a, double* b, int rows, int columns) {
      int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
      if (r < rows && c < columns) b[c * rows + r] = a[r * columns + c];
    }"""
    a = cp.random.rand(13, 21)
    b = cp.empty((21, 13))
    cp.RawKernel(code, "transpose")((3, 2), (8, 8), (a, b, 13, 21))
    cp.testing.assert_array_equal(b, a.T)


def test_scalars_of_every_width():
    code = r"""
    extern "C" __global__ void gather(double* out, bool b, signed char c, unsigned short s, unsigned u,
                                      long long l, unsigned long long ul, float f, double d, const int* p) {
      double v[] = {(double)b, (double)c, (double)s, (double)u, (double)l, (double)ul, f, d, double(p == 0)};
      for (int i = 0; i < 9; i++) out[i] = v[i];
    }"""
    out = cp.empty(9)
    arguments = (out, True, -3, 65535, 2**32 - 1, -(2**40), 2**40, np.float32(0.5), 0.1, None)
    cp.RawKernel(code, "gather")((1,), (1,), arguments)
    assert out.tolist() == [1, -3, 65535, 2**32 - 1, -(2.0**40), 2.0**40, 0.5, 0.1, 1]


def test_half_precision_and_structs_by_value():
    code = r"""
    #include <cuda_fp16.h>
    struct Point { float x; double y; };
    extern "C" __global__ void f(double* out, __half h, Point p) {
      out[0] = __half2float(h); out[1] = p.x; out[2] = p.y;
    }
    """
    out, kernel = cp.empty(3), cp.RawKernel(code, "f")
    point = np.array((1.5, 2.5), dtype=np.dtype([("x", "f4"), ("y", "f8")], align=True))
    for form in (point, point[()], point.tobytes()):
        kernel((1,), (1,), (out, np.float16(0.25), form))
        assert out.tolist() == [0.25, 1.5, 2.5]
        out.fill(0)
    with pytest.raises(TypeError, match=r"a struct of 12 bytes was given and the kernel takes 16.*align=True"):
        kernel((1,), (1,), (out, np.float16(0.25), np.zeros((), dtype=[("x", "f4"), ("y", "f8")])))


def test_vector_types_read_arrays_of_their_element():
    code = r"""
    extern "C" __global__ void sum4(const float4* x, float* out, int n) {
      int i = threadIdx.x;
      if (i < n) out[i] = x[i].x + x[i].y + x[i].z + x[i].w;
    }"""
    x, out = cp.arange(32, dtype=cp.float32), cp.empty(8, cp.float32)
    kernel = cp.RawKernel(code, "sum4")
    kernel((1,), (32,), (x, out, 8))
    cp.testing.assert_array_equal(out, x.reshape(8, 4).sum(axis=1))
    with pytest.raises(TypeError, match="an array of float64"):
        kernel((1,), (32,), (x.astype("f8"), out, 8))
    kernel((1,), (32,), (x.view(cp.uint8), out.view(cp.uint8), 8))  # bytes and words are read as anything
    kernel((1,), (32,), (x.view(cp.int64), out, 8))
    with pytest.raises(Misaligned, match="16 bytes"):
        kernel((1,), (32,), (x[1:], out, 7))


def test_bits_read_as_another_type_go_through_with_a_word_of_warning():
    code = 'extern "C" __global__ void sign(int* x) { x[threadIdx.x] ^= 0x80000000; }'
    kernel, x = cp.RawKernel(code, "sign"), cp.array([1.5, -2], dtype=cp.float32)
    with pytest.warns(UserWarning, match=r"`int\* x`: an array of float32.*x\.view\(np\.int32\) says so") as told:
        kernel((1,), (2,), (x,))
    assert x.tolist() == [-1.5, 2] and told[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        kernel((1,), (2,), (x.view(cp.uint32),))
    assert x.tolist() == [1.5, -2]


def test_options_of_nvcc_for_its_host_and_its_optimiser_are_left_out():
    code = 'extern "C" __global__ void f(int* x) { *x = N; }'
    options, x = ("-O3", "-DN=3", "-Xcompiler", "-Wall", "--compiler-options=-fPIC"), cp.zeros(1, cp.int32)
    cp.RawKernel(code, "f", options, backend="nvcc")((1,), (1,), (x,))
    assert x.item() == 3
    with pytest.raises(CompileError, match="-O3"):
        cp.RawKernel(code, "f", options).compile()


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_headers_that_cupy_brings(dtype):
    number = {"complex64": "float", "complex128": "double"}[np.dtype(dtype).name]
    code = f"""
    #include <cupy/complex.cuh>
    #include <cupy/carray.cuh>
    #include <cupy/atomics.cuh>
    extern "C" __global__ void turn(const complex<{number}>* x, complex<{number}>* y, complex<{number}> a) {{
      y[threadIdx.x] = a * conj(x[threadIdx.x]) + complex<{number}>(0, norm(x[threadIdx.x]));
    }}"""
    x = np.array([1 + 2j, -3j, 2], dtype)
    y = cp.zeros(3, dtype)
    cp.RawKernel(code, "turn")((1,), (3,), (cp.asarray(x), y, dtype(2 - 1j)))
    np.testing.assert_array_equal(y.get(), (2 - 1j) * x.conj() + 1j * (x * x.conj()))


def test_pointers_and_views(saxpy, xy):
    x, y = xy
    saxpy((1,), (32,), (x[50:], y[90:], np.float32(1), 10))
    np.testing.assert_array_equal(y.get()[90:], np.arange(51, 61))
    saxpy((1,), (32,), (x.data + 200, y.data.ptr, np.float32(1), 1))
    assert y[0].item() == 51


MODULE = r"""
__constant__ float weights[4];
__device__ int counter = 5;
template <typename T> __global__ void scale(T* x, T a) { x[threadIdx.x] *= a * T(weights[0]); }
extern "C" __global__ void count(int n) { if (threadIdx.x == 0) counter += n; }
"""


def test_module_templates_and_globals():
    names = ["scale<float>", "scale<double>"]
    module = cp.RawModule(code=MODULE, options=("-std=c++17",), name_expressions=names)
    pointer = module.get_global("weights")
    weights = cp.ndarray((4,), cp.float32, pointer)
    weights[...] = cp.array([2, 0, 0, 0], dtype=cp.float32)
    for name, dtype in zip(names, (np.float32, np.float64), strict=True):
        x = cp.ones(8, dtype)
        module.get_function(name)((1,), (8,), (x, dtype(3)))
        assert x.tolist() == [6] * 8
    counter = cp.ndarray((), cp.int32, module.get_global("counter"))
    assert counter.item() == 5
    module.get_function("count")((1,), (32,), (2,))
    assert counter.item() == 7
    with pytest.raises(AttributeError, match="no variable named 'wieghts'"):
        module.get_global("wieghts")
    with pytest.raises(AttributeError, match="no kernel named 'scale<int>'"):
        module.get_function("scale<int>")
    with pytest.raises(TypeError, match=r"argument 2 of scale<float>.*Pass np\.float32"):
        module.get_function("scale<float>")((1,), (8,), (cp.ones(8, cp.float32), 1.0))


def test_module_from_a_ptx_file(tmp_path, xy):
    from vgpu.compile import cuda_c_to_ptx

    path = tmp_path / "saxpy.ptx"
    path.write_text(cuda_c_to_ptx(SAXPY).ptx)
    kernel = cp.RawModule(path=str(path)).get_function("saxpy")
    kernel((4,), (32,), (*xy, np.float32(2), 100))
    assert xy[1][99].item() == 199
    with pytest.raises(TypeError, match=r"argument 3 of saxpy, a parameter of 4 bytes \(f32\)"):
        kernel((4,), (32,), (*xy, 2.0, 100))
    with pytest.raises(Unsupported, match="its PTX"):
        cp.RawModule(path="kernel.cubin")
    with pytest.raises(TypeError, match="one of them"):
        cp.RawModule()
    with pytest.raises(ValueError, match="Invalid backend"):
        cp.RawKernel(SAXPY, "saxpy", backend="gcc")


def test_pinned_memory_is_seen_by_kernels(saxpy):
    place = cp.cuda.alloc_pinned_memory(40)
    host = np.frombuffer(place, np.float32, 10)
    host[...] = 3
    x = cp.ones(10, cp.float32)
    saxpy((1,), (32,), (x, place, np.float32(2), 10))
    assert host.tolist() == [5] * 10
    assert memory.owner(host) is not None


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("__global__ void f(const float *x, int n)", "f", ["float* x", "int n"]),
        (
            "__global__ void __launch_bounds__(256, 2) f(unsigned long long* const __restrict__ p)",
            "f",
            ["unsigned long long* p"],
        ),
        (
            "template<typename T, int N> __global__ void f(T x, Pair<int, 3> q, float a[])",
            "f<int, 3>",
            ["T x", "Pair<int, 3> q", "float* a"],
        ),
        ("// __global__ void f(int wrong)\n__global__ void f(/* an int */ double d)", "f", ["double d"]),
        ("__global__ void f()", "f", []),
        ("__global__ void f(int) {}", "f", None),
        ("__global__ void g(int n)", "f", None),
    ],
)
def test_signatures_are_read_or_left_alone(source, name, expected):
    found = parameters(source, name)
    assert (None if found is None else [str(parameter) for parameter in found]) == expected


def test_raw_kernels_have_no_brackets(saxpy):
    # As with CuPy's own: what launches kernels of both languages tells them apart by it.
    assert not hasattr(saxpy, "__getitem__")
