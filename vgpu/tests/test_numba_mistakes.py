"""Mistakes that people make in Numba kernels, and what they are told."""

import numpy as np
import pytest

from vgpu.base.errors import CompileError, VirtualGPUError
from vgpu.standins import numba_cuda as cuda

pytestmark = pytest.mark.filterwarnings("ignore:.*Host array used in CUDA kernel", "ignore:.*Grid size")


def test_messages_stay_the_same_when_numba_compiled_for_the_cpu():
    import numba

    @numba.njit
    def for_the_cpu(n):
        return np.zeros(n).sum()

    @cuda.jit
    def kernel(x):
        x[0] = np.zeros(3)[0]

    assert for_the_cpu(3) == 0
    with pytest.raises(VirtualGPUError, match=r"`numpy.zeros` makes an array"):
        kernel[1, 1](np.zeros(3))


class Plain:
    blue = 3


def if_on_an_array(x):
    if x > 0:
        x[0] = 1


def random_numbers(x):
    x[0] = np.random.rand()


def moved_slices(x):
    x[2:4] = x[4:6]


def dictionary(x):
    d = {}
    d[1] = x[0]


@pytest.mark.parametrize(
    ("function", "says"),
    [(if_on_an_array, "`if` or `while` is given a whole array"), (random_numbers, "cuda.random"),
     (moved_slices, "loop over the elements"), (dictionary, "dictionaries")],
)  # fmt: skip
def test_mistakes_in_kernels(function, says):
    with pytest.raises(VirtualGPUError) as raised:
        cuda.jit(function)[1, 32](np.zeros(8))
    assert says in str(raised.value) and raised.value.line > function.__code__.co_firstlineno


def test_mistakes_at_launches():
    @cuda.jit
    def kernel(x):
        x[0] = 1

    frozen = np.zeros(4)
    frozen.setflags(write=False)
    for says, launch in (
        ("without names", lambda: kernel[1, 1](x=np.zeros(4))),
        ("may only be read", lambda: kernel[1, 1](frozen)),
        ("Python objects", lambda: kernel[1, 1](np.array([1, None]))),
    ):
        with pytest.raises(VirtualGPUError, match=says):
            launch()


def test_a_class_that_is_no_enumeration():
    @cuda.jit
    def wrong(out):
        out[0] = Plain.blue

    with pytest.raises(VirtualGPUError, match=r"(?s)`Plain` is a class.*IntEnum"):
        wrong[1, 1](np.zeros(10))


def test_a_barrier_that_counts_takes_integers():
    @cuda.jit
    def wrong(x, out):
        out[0, 0] = cuda.syncthreads_count(x[0] > 0)

    with pytest.raises(VirtualGPUError, match=r"syncthreads_count\(int\(") as caught:
        wrong[1, 32](np.zeros(75), np.zeros((75, 3), np.int32))
    assert "takes integers only" in str(caught.value)


@cuda.jit(device=True)
def square(v):
    return v * v


@cuda.jit(device=True)
def triple(v):
    return 3 * v


def test_functions_chosen_at_run_time():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        f = square if i % 2 else triple
        out[i] = f(i)

    with pytest.raises(CompileError, match="chosen while the kernel runs") as caught:
        kernel[1, 32](np.zeros(32, np.int32))
    assert "if" in str(caught.value)
