"""cp.fuse: NumPy's results, from as few kernels as it promises."""

import numpy as np
import pytest

from vgpu import cp, streams
from vgpu.base.errors import ArgumentError

DICE = np.random.default_rng(0)
X = DICE.standard_normal((5, 33)).astype(np.float32)
ROW = DICE.standard_normal(33).astype(np.float32)


def kernels(function, *args) -> list:
    return [operation for operation in streams.dry_run(function, *args).operations if operation.kind == "kernel"]


def launches(function, *args) -> list[str]:
    return [operation.kernel.name for operation in kernels(function, *args)]


@cp.fuse
def gelu(x, bias):
    z = x + bias
    return 0.5 * z * (1 + cp.tanh(0.79788456 * (z + 0.044715 * z * z * z)))


@cp.fuse(kernel_name="softmax")
def softmax(x):
    e = cp.exp(x - x.max(axis=1, keepdims=True))
    return e / cp.sum(e, axis=1, keepdims=True)


@cp.fuse
def norm(x):
    return cp.sqrt(cp.sum(x * x, axis=1))


def test_elementwise_work_is_one_kernel_that_broadcasts():
    x, bias = cp.asarray(X), cp.asarray(ROW)
    found = gelu(x, bias)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.get(), gelu.func(x, bias).get(), rtol=1e-5, atol=1e-6)
    (kernel,) = kernels(gelu, cp.zeros((8, 32), "float32"), cp.zeros(32, "float32"))
    moved = kernel.counters.footprint
    assert (moved.read_bytes, moved.written_bytes) == (9 * 128, 8 * 128)


def test_a_reduction_takes_in_what_is_before_and_behind_it():
    np.testing.assert_allclose(norm(cp.asarray(X)).get(), np.sqrt((X * X).sum(axis=1)), rtol=1e-5)
    assert launches(norm, cp.asarray(X)) == ["fused_norm"]


def test_work_behind_a_reduction_that_needs_the_rows_again_is_a_kernel_more():
    np.testing.assert_allclose(softmax(cp.asarray(X)).get().sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(softmax(cp.asarray(X)).get(), softmax.func(cp.asarray(X)).get(), rtol=1e-5)
    assert launches(softmax, cp.asarray(X)) == ["softmax", "softmax_2", "softmax_3"]


def test_integers_are_those_of_numpy():
    def all_of(x):
        return x // 4, x % -4, x**2, ~x, x / 2, cp.maximum(x, 0), x > 2, abs(x), cp.clip(x, -2, 2), -x << 1

    numbers = np.arange(-9, 9)
    wanted = (
        numbers // 4, numbers % -4, numbers**2, ~numbers, numbers / 2, np.maximum(numbers, 0), numbers > 2,
        np.abs(numbers), np.clip(numbers, -2, 2), -numbers << 1,
    )  # fmt: skip
    for got, expected in zip(cp.fuse(all_of)(cp.asarray(numbers)), wanted, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.get(), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_floats_keep_their_type_beside_python_numbers(dtype):
    x = np.linspace(-2, 2, 9).astype(dtype)
    found = cp.fuse(lambda x: cp.exp(x) * x + 1.5, kernel_name="f")(cp.asarray(x))
    assert found.dtype == dtype
    np.testing.assert_allclose(found.get(), np.exp(x) * x + 1.5, rtol=2e-3 if dtype == "float16" else 1e-5)


def test_not_a_number_and_infinity():
    x = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    found = cp.fuse(lambda x: (np.maximum(x, 0), cp.where(cp.isnan(x), -np.inf, x)), kernel_name="f")(cp.asarray(x))
    np.testing.assert_array_equal(found[0].get(), [np.nan, np.inf, 0, 1])
    np.testing.assert_array_equal(found[1].get(), [-np.inf, np.inf, -np.inf, 1])


def test_what_is_written_in_place_is_the_argument():
    @cp.fuse
    def step(x, y, rate):
        x += rate * y
        y[...] = cp.where(x > 0, x, -x)
        return x.sum()

    x, y = cp.asarray(np.arange(4.0) - 2), cp.ones(4)
    total = step(x, y, 0.5)
    np.testing.assert_array_equal(x.get(), [-1.5, -0.5, 0.5, 1.5])
    np.testing.assert_array_equal(y.get(), [1.5, 0.5, 0.5, 1.5])
    assert total.get() == 0 and total.shape == ()


def test_a_fused_function_in_another_is_part_of_it():
    twice = cp.fuse(lambda x: 2 * x, kernel_name="twice")
    found = cp.fuse(lambda x: twice(x) + 1, kernel_name="f")
    assert launches(found, cp.asarray(X)) == ["f"]
    assert twice(3) == 6


MISTAKES = {
    "a branch": (lambda x: x if x > 0 else -x, TypeError, "cp.where"),
    "a shape": (lambda x: x / x.shape[0], NotImplementedError, "shape"),
    "another function": (lambda x: cp.sort(x), ArgumentError, "cupy.sort cannot be fused"),
    "a part": (lambda x: x[0], ArgumentError, "index them before"),
    "nothing of it": (lambda x: 3, TypeError, "returns what it computes"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_what_cannot_be_fused_is_said(what):
    function, kind, words = MISTAKES[what]
    with pytest.raises(kind, match=words):
        cp.fuse(function, kernel_name="f")(cp.asarray(ROW))


def test_host_arrays_and_unknown_options_are_refused():
    with pytest.raises(TypeError):
        gelu(cp.asarray(X), ROW)
    with pytest.raises(TypeError, match="unexpected keyword"):
        cp.fuse(name="f")
