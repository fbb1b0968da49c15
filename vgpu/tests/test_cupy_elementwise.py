"""ElementwiseKernel, ReductionKernel and fuse: generated kernels against NumPy."""

import numpy as np
import pytest

from vgpu.base.errors import CompileError, Unsupported
from vgpu.launch import launch
from vgpu.standins import cupy as cp


@pytest.fixture
def squared_diff():
    return cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")


SHAPES = [
    ((10,), (10,)),
    ((3, 4), (4,)),
    ((3, 1), (1, 4)),
    ((2, 3, 4), (3, 1)),
    ((), (5,)),
    ((0, 3), (3,)),
    ((300,), (1,)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.float16])
@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_broadcasting_and_dtypes(squared_diff, first, second, dtype):
    x = np.arange(np.prod(first, dtype=int), dtype=dtype).reshape(first) % 9
    y = np.arange(np.prod(second, dtype=int), dtype=dtype).reshape(second) % 5
    z = squared_diff(cp.asarray(x), cp.asarray(y))
    assert z.dtype == dtype
    np.testing.assert_array_equal(z.get(), (x - y) * (x - y))


@pytest.mark.parametrize("key", [np.s_[::-1], np.s_[:, ::2], np.s_[1:, 1:], np.s_[::2, ::-2]])
def test_strided_inputs_and_outputs(squared_diff, key):
    x, y = cp.arange(30, dtype=cp.float32).reshape(5, 6), cp.full((5, 6), 4, dtype=cp.float32)
    z = cp.zeros((5, 6), cp.float32)
    assert squared_diff(x[key], y[key], z[key]).shape == z[key].shape
    expected = np.zeros((5, 6), np.float32)
    expected[key] = (x.get()[key] - 4) ** 2
    np.testing.assert_array_equal(z.get(), expected)
    np.testing.assert_array_equal(squared_diff(x.T, y.T).get(), (x.get().T - 4) ** 2)


def test_scalars(squared_diff):
    x = cp.arange(5, dtype=cp.float32)
    np.testing.assert_array_equal(squared_diff(x, 2).get(), (np.arange(5) - 2) ** 2)
    np.testing.assert_array_equal(squared_diff(np.float32(1), x).get(), (1 - np.arange(5)) ** 2)
    wide = squared_diff(np.float32(1.5), cp.arange(3.0))  # a scalar's dtype decides nothing
    assert wide.dtype == np.float64 and wide.tolist() == [2.25, 0.25, 0.25]


def test_inputs_broadcast_to_a_given_output(squared_diff):
    z = cp.zeros((2, 3))
    assert squared_diff(cp.arange(3.0), 1, z) is z
    assert z.tolist() == [[1, 0, 1], [1, 0, 1]]
    fill = cp.ElementwiseKernel("T value", "T y", "y = value", "fill")
    assert fill(7, z[0]).tolist() == [7, 7, 7] and z.tolist() == [[7, 7, 7], [1, 0, 1]]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(dtype):
    x = np.array([1 + 2j, -1j, 3], dtype)
    kernel = cp.ElementwiseKernel("T x, T a", "T y", "y = a * conj(x) + T(0, 1)", "turn")
    np.testing.assert_array_equal(kernel(cp.asarray(x), 2 - 1j).get(), (2 - 1j) * x.conj() + 1j)
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    assert total(cp.asarray(x)).item() == x.sum()


def test_a_texture_is_an_argument_as_well():
    texture = cp.cuda.texture
    values = cp.arange(4, dtype=cp.float32)
    bits = texture.ChannelFormatDescriptor(32, 0, 0, 0, cp.cuda.runtime.cudaChannelFormatKindFloat)
    place = texture.ResourceDescriptor(cp.cuda.runtime.cudaResourceTypeLinear, arr=values, chDesc=bits, sizeInBytes=16)
    lookup = texture.TextureObject(place, texture.TextureDescriptor())
    kernel = cp.ElementwiseKernel("int32 x, U tex", "float32 y", "y = 10 * tex1Dfetch<float>(tex, x)", "lookup")
    assert kernel(cp.array([3, 0, 2], dtype=cp.int32), lookup).tolist() == [30, 0, 20]
    with pytest.raises(TypeError, match="tex is float64, not cudaTextureObject_t"):
        cp.ElementwiseKernel("T x, cudaTextureObject_t tex", "T y", "y = x", "none")(values, cp.ones(4))


def test_raw_arrays_indices_and_size():
    x = cp.arange(12, dtype=cp.float32).reshape(3, 4)
    gather = cp.ElementwiseKernel("raw T x, raw int32 at", "T y", "y = x[at[i]] + 100 * _ind.size()", "gather")
    at = cp.array([11, 0, 5], dtype=cp.int32)
    np.testing.assert_array_equal(gather(x, at, size=3).get(), [311, 300, 305])
    np.testing.assert_array_equal(gather(x.T, at, size=3).get(), x.get().T.ravel()[[11, 0, 5]] + 300)
    shape = cp.ElementwiseKernel("raw T x", "int64 y", "y = x.shape()[i] * 100 + x.strides()[i] + x.size()", "shape")
    assert shape(x, size=2).tolist() == [300 + 16 + 12, 400 + 4 + 12]
    diagonal = cp.ElementwiseKernel("raw T x", "T y", "int at[] = {(int)i, (int)i}; y = x[at];", "diagonal")
    assert diagonal(x.T, size=3).tolist() == [0, 5, 10]
    with pytest.raises(ValueError, match="size="):
        gather(x, at)
    with pytest.raises(ValueError, match=r"Specified 'size'.*are raw"):
        cp.ElementwiseKernel("T x", "T y", "y = x")(x, size=3)


def test_raw_output_that_the_threads_share():
    histogram = cp.ElementwiseKernel("int32 x", "raw int32 bins", "atomicAdd(&bins[x], 1)", "histogram", no_return=True)
    bins = cp.zeros(5, cp.int32)
    assert histogram(cp.arange(1000, dtype=cp.int32) % 5, bins) is None
    assert bins.tolist() == [200] * 5


def test_pieces_around_the_loop():
    kernel = cp.ElementwiseKernel(
        "float32 x",
        "float32 y, float32 z",
        "y = twice(x) + offset; z = i",
        "pieces",
        preamble="__device__ float twice(float v) { return 2 * v; }",
        loop_prep="float offset = 1",
        after_loop="offset = 0",
        return_tuple=True,
    )
    y, z = kernel(cp.arange(4, dtype=cp.float32))
    assert (y.tolist(), z.tolist()) == ([1, 3, 5, 7], [0, 1, 2, 3])
    assert "twice(x)" in kernel.cached_code and list(kernel.cached_codes) == [(np.dtype("f4"),) * 3]
    kernel(cp.zeros(9, cp.float32))
    assert len(kernel.cached_codes) == 1  # another length is no other kernel


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda k: k(cp.ones(2), cp.ones(2, "f4")),
            TypeError,
            r"Type is mismatched.*y is float32, not float64 \(T is float64 in x\)",
        ),
        (lambda k: k(np.ones(2), cp.ones(2)), TypeError, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda k: k([1], cp.ones(2)), TypeError, "Unsupported type <class 'list'>"),
        (lambda k: k(cp.ones(2)), TypeError, "takes 2 arguments, or 3 with the outputs; 1 were given"),
        (lambda k: k(cp.ones(2), cp.ones(3)), ValueError, "broadcast"),
        (
            lambda k: k(cp.ones(2), cp.ones((2, 2)), cp.ones(2)),
            ValueError,
            r"Out shape is mismatched: z is \(2,\) and has to be \(2, 2\)",
        ),
        (lambda k: k(1.5, 1), ValueError, "Loop size is undecided.*size="),
        (
            lambda k: cp.ElementwiseKernel("float64 x", "raw float64 y", "y[i] = x", "no_output")(cp.ones(2)),
            ValueError,
            "Output array size is undecided",
        ),
        (lambda k: k(*2 * [cp.empty(2, [("x", "f4")])]), Unsupported, "RawKernel"),
    ],
)
def test_wrong_calls(squared_diff, call, error, message):
    with pytest.raises(error, match=message):
        call(squared_diff)


def test_wrong_names_and_blocks():
    with pytest.raises(ValueError, match="Invalid kernel name: 'a kernel'"):
        cp.ElementwiseKernel("T x", "T y", "y = x", "a kernel")
    with pytest.raises(ValueError, match="block_size must be greater than zero"):
        cp.ElementwiseKernel("T x", "T y", "y = x")(cp.ones(2), block_size=0)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("float32", "type and a name"),
        ("flaot x", "Invalid type 'flaot'"),
        ("float32 i", "used by the generated"),
        ("T z", "same name"),
    ],
)
def test_wrong_parameter_lists(inputs, message):
    with pytest.raises(ValueError, match=message):
        cp.ElementwiseKernel(inputs, "float32 z", "z = 0")


def test_a_mistake_in_the_operation_is_a_compile_error():
    with pytest.raises(CompileError, match='"w" is undefined'):
        cp.ElementwiseKernel("float32 x", "float32 y", "y = x + w")(cp.ones(3, cp.float32))


def test_an_elementwise_kernel_can_be_prepared(squared_diff):
    prepared = squared_diff.prepare((cp.ones(8), cp.ones(8)), (1,), (32,))
    assert prepared.kernel.name == "squared_diff" and [a.name for a in prepared.arrays] == ["x", "y", "z"]
    launch.launch(prepared.kernel, 1, 32, prepared.params, prepared.arrays)  # the arrays are still there
    prepared.finish()


# --- reductions ---


@pytest.fixture
def l2norm():
    return cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")


@pytest.mark.parametrize("shape", [(1,), (7,), (1000,), (5, 33), (3, 4, 5), (600, 2), (0,)])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduction_over_axes(l2norm, shape, axis, keepdims):
    x = cp.asarray(np.random.default_rng(1).random(shape))
    result = l2norm(x, axis=axis, keepdims=keepdims)
    expected = np.sqrt((x.get() ** 2).sum(axis=axis, keepdims=keepdims))
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.get(), expected, rtol=1e-12)


def test_reduction_over_two_axes_and_strided(l2norm):
    x = cp.random.rand(4, 5, 6)
    np.testing.assert_allclose(l2norm(x, axis=(0, 2)).get(), np.sqrt((x.get() ** 2).sum(axis=(0, 2))), rtol=1e-12)
    np.testing.assert_allclose(l2norm(x.T[::2], axis=1).get(), np.sqrt((x.get().T[::2] ** 2).sum(axis=1)), rtol=1e-12)
    out = cp.empty(4)
    assert l2norm(x, axis=(1, 2), out=out) is out
    np.testing.assert_allclose(out.get(), np.sqrt((x.get() ** 2).sum(axis=(1, 2))), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 31, 33, 100, 255, 256, 257, 1000])
def test_reduction_without_identity(n):
    largest = cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
    x = -1 - cp.random.permutation(n).astype(cp.int32)
    assert largest(x).item() == -1
    with pytest.raises(ValueError, match=r"zero-size array.*no identity"):
        largest(cp.zeros(0, cp.int32))


def test_reduction_of_two_inputs_with_sizes_and_another_type():
    mean = cp.ReductionKernel(
        "T x, T w", "float64 y", "x * w", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "mean"
    )
    x = cp.arange(20, dtype=cp.int32).reshape(4, 5)
    result = mean(x, cp.array([1, 2, 3, 4, 5], dtype=cp.int32), axis=1)
    np.testing.assert_allclose(result.get(), (x.get() * np.arange(1, 6)).mean(axis=1))
    assert result.dtype == np.float64
    with pytest.raises(np.exceptions.AxisError):
        mean(x, 1, axis=2)


@pytest.mark.parametrize("decorate", [cp.fuse, cp.fuse(), cp.fuse(kernel_name="f")])
def test_fuse_gives_the_same_results(decorate):
    def f(x, y):
        return cp.sqrt(x) * np.maximum(x, y)

    x, y = cp.arange(4.0), cp.full(4, 2.0)
    np.testing.assert_array_equal(decorate(f)(x, y).get(), f(x, y).get())
