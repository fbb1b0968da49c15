"""Numba's refusals: each names the user's line and says what usually fixes it, in a few lines of text."""

import math

import numba
import numpy as np
import pytest

import vgpu.standins.numba_cuda as cuda
from vgpu.base.errors import CompileError

numbers = [1, 2, 3]
N = 16
results = []


def ordinary(x):
    return x + 1


@cuda.jit(device=True)
def add(a, b):
    return a + b


@cuda.jit(device=True)
def odd_attribute(x):
    return x.foo  # HERE


@cuda.jit(device=True)
def even(n):
    return n == 0 or odd(n - 1)


@cuda.jit(device=True)
def odd(n):
    return n != 0 and even(n - 1)


@cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")
def whole(x, out):
    out[0] = x[0]


@numba.njit("float32(float32)")
def for_the_cpu(x):
    return x


@cuda.jit(device=True)
def forever(n):
    return n * forever(n - 1)


# Each kernel holds one mistake, on the line marked HERE; `expect` says what the message must hold.
CASES = []


def case(*words):
    """Register a kernel and the words that its compile error has to contain."""
    return lambda function: CASES.append((function, words)) or function


@case("`sort` cannot be used", "loop over elements")
def numpy_function_of_an_array(x):
    x[0] = np.sort(x)[0]  # HERE


@case("`norm` cannot be used")
def numpy_linear_algebra(x):
    x[0] = np.linalg.norm(x)  # HERE


@case("`numpy.zeros` makes an array", "cuda.local.array")
def allocation(x):
    y = np.zeros(3)  # HERE
    x[0] = y[0]


@case("`ordinary` is an ordinary Python function", "@cuda.jit(device=True)")
def call_of_a_host_function(x):
    x[0] = ordinary(x[0])  # HERE


@case("`nowhere` is not defined")
def unknown_name(x):
    x[0] = nowhere  # noqa: F821  HERE


@case("`.foo` of array(float32, 1d, C) cannot be assigned")
def attribute_assignment(x):
    x.foo = 3  # HERE


@case("has no `mean_of`", "write loops")
def unknown_attribute(x):
    x[0] = x.mean_of()  # HERE


@case("text is stored into an array of float32")
def text_into_numbers(x):
    x[0] = "abc"  # HERE


@case("a kernel cannot return a value", "output array")
def returns_something(x):
    if x[0] > 1:
        return
    return x[0]  # HERE


@case("array(float32, 1d, C) has no `foo`")
def mistake_in_a_device_function(x):
    x[0] = odd_attribute(x)


@case("missing a required argument: 'b'", "(a, b)")
def device_function_short_of_an_argument(x):
    x[0] = add(1.0)  # HERE


@case("call one another in a circle", "loop")
def circle(x):
    x[0] = even(3)


@case("the `max` of an array", "`.argmax()`")
def maximum_of_an_array(x):
    x[0] = x.max()  # HERE


@case("kernels cannot allocate", "`x.reshape(n)[i]`")
def flattened(x):
    x[0] = x.ravel()[3]  # HERE


@case("known only while the kernel runs", "Give it constants")
def exception_with_a_value(x):
    if x[0] > 3:
        raise ValueError(x[0])  # HERE


@case("`whole` works on whole arrays", "on the host")
def ufunc(x):
    whole(x)  # HERE


@case("`for_the_cpu` is compiled for the CPU only", "Leave the signature out")
def cpu_function(x):
    x[0] = for_the_cpu(x[0])  # HERE


@case("calls itself and never returns anything else", "if n < 2: return n")
def recursion(x):
    x[0] = forever(3)


@case("an array of 1 dimension(s) is indexed with 2 indices")
def too_many_indices(x):
    x[0, 1] = 3  # HERE


@case("an index is a float64", "`//`")
def float_index(x):
    x[x.size / 2] = 3  # HERE


@case("`cuda.shared.array` must be a constant", "kernel[grid, block, stream, nbytes]")
def shared_array_of_a_size_known_late(x):
    s = cuda.shared.array(x.size, cuda.float32)  # HERE
    x[0] = s[0]


@case("there is no dtype 'float33'")
def unknown_dtype(x):
    s = cuda.shared.array(32, "float33")  # HERE
    x[0] = s[0]


@case("`cuda.shared.array` lacks its dtype")
def shared_array_without_dtype(x):
    s = cuda.shared.array(32)  # HERE
    x[0] = s[0]


@case("lists cannot be used")
def list_comprehension(x):
    y = [i for i in range(3)]  # noqa: C416  HERE
    x[0] = y[0]


@case("there is no `cuda.gird`")
def misspelt_name(x):
    i = cuda.gird(1)  # HERE
    x[i] = 1


@case("there is no `.w`", "`.x`, `.y` and `.z`")
def fourth_dimension(x):
    x[0] = cuda.threadIdx.w  # HERE


@case("`math` has no `square`")
def unknown_math(x):
    x[0] = math.square(x[0])  # HERE


@case("`sqrt` is given a whole array", "`sqrt(x[i])`")
def function_of_a_whole_array(x):
    x[0] = math.sqrt(x)  # HERE


@case("a whole array (array(float32, 1d, C)) is stored into one element")
def array_into_an_element(x):
    x[0] = x  # HERE


@case("`v` is int 1 on one path and Tuple(int 1, int 2) on another")
def two_types(x):
    if x[0] > 0:
        v = 1
        x[1] = v
    else:
        v = (1, 2)
    x[0] = v  # HERE


@case("`v` is read before it has a value")
def read_before_assignment(x):
    x[0] = v  # HERE # noqa: F821
    v = 3  # noqa: F841


@case("`cuda.grid(n)` and `cuda.gridsize(n)` take 1, 2 or 3")
def grid_of_five(x):
    x[cuda.grid(5)] = 1  # HERE


@case("wrong number of arguments", "cuda.atomic.add(array, index, value)")
def atomic_without_value(x):
    cuda.atomic.add(x, 0)  # HERE


@case("the global `numbers`", "cuda.const.array_like")
def global_list(x):
    x[0] = numbers[0]  # HERE


@case("`try`/`except` cannot be used")
def exceptions(x):
    try:  # HERE
        x[0] = 1
    except Exception:
        x[0] = 2


@case("`with` cannot be used")
def context_manager(x):
    with open("f") as f:  # HERE
        x[0] = f


@case("`import` cannot be used")
def import_inside(x):
    import math as m  # HERE

    x[0] = m.pi


@case("`yield` cannot be used")
def generator(x):
    yield x[0]  # HERE


@case("sets cannot be used", "arrays")
def a_set(x):
    x[0] = len({1, 2})  # HERE


@case("dictionaries cannot be used")
def a_dictionary_of_text(x):
    table = {"a": 1.0}
    x[0] = table["a"]  # HERE


@case("text cannot be put together", "`print` takes several values")
def formatted_text(x):
    print(f"thread {cuda.threadIdx.x}")  # HERE


@case("text cannot be put together")
def text_of_a_number(x):
    print("x is " + str(int(x[0])))  # HERE


@case("makes a new array", "y[i] = 2 * x[i]")
def arithmetic_of_whole_arrays(x):
    x[:] = x * 2  # HERE


@case("kernels cannot allocate", "use a tuple")
def a_list_of_constants(x):
    table = [1.0, 2.0, 3.0]  # HERE
    x[0] = table[cuda.threadIdx.x]


@case("an index of three parts", "`cuda.threadIdx.x`")
def an_index_without_its_part(x):
    i = cuda.threadIdx
    x[i] = 1  # HERE


@case("an index of three parts")
def arithmetic_with_three_parts(x):
    i = cuda.blockIdx * cuda.blockDim.x + cuda.threadIdx.x  # HERE
    x[i] = 1


@case("an index of three parts", "without brackets")
def a_size_that_is_called(x):
    i = cuda.blockIdx.x * cuda.blockDim() + cuda.threadIdx.x  # HERE
    x[i] = 1


@case("one of the operands is None", "float32(0)")
def a_sum_that_starts_with_none(x):
    total = None
    for i in range(4):
        total += x[i]  # HERE
    x[0] = total


@case("indexed with 2 indices", "i, j = cuda.grid(2)")
def two_indices_in_one_name(x):
    i = cuda.grid(2)
    x[i] = 1  # HERE


@case("`try`/`except` cannot be used")
def exceptions_of_one_kind(x):
    try:  # HERE
        x[0] = 1
    except IndexError:
        x[0] = 2


@case("`print` is given a whole array", "print(i, x[i])")
def printing_an_array(x):
    print(x)  # HERE


@case("the global `results` is a list")
def growing_a_global_list(x):
    results.append(x[0])  # HERE


@case("cannot assign to a global", "cuda.atomic.add")
def counting_in_a_global(x):
    global N  # HERE
    N = N + 1


@pytest.mark.parametrize("function, words", CASES, ids=[function.__name__ for function, _ in CASES])
def test_message(function, words):
    with pytest.raises(CompileError) as raised:
        cuda.jit("void(float32[::1])")(function)
    message, line = str(raised.value), raised.value.line
    for word in words:
        assert word in message
    # Pages of candidates are what this replaces.
    assert len(message) < 700 and "During:" not in message and "No match" not in message
    if function not in (recursion, circle):
        with open(__file__) as file:
            text = file.read().splitlines()[line - 1]
        assert "HERE" in text
        assert f"{line} | {text.strip()}" in message


def test_the_original_is_kept_out_of_the_traceback():
    with pytest.raises(CompileError) as raised:
        cuda.jit("void(float32[::1])")(allocation)
    error = raised.value
    assert error.__cause__ is None and error.__suppress_context__
    assert "No implementation of function" in str(error.original)


def test_the_argument_types_are_named():
    with pytest.raises(CompileError, match=r"Argument types: \(array\(float64, 2d, F\)\)"):
        cuda.jit("void(float64[::1, :])")(text_into_numbers)


def test_an_unknown_complaint_still_has_its_line():
    from vgpu.compile.python_errors import explain

    error = explain(RuntimeError("something new\nmore of it"), ordinary)
    assert str(error).startswith("`ordinary`: Numba cannot compile it: RuntimeError: something new")


# In a file of its own: pytest rewrites each `assert` of a test module.
CAREFUL = """
@cuda.jit(debug=True, opt=False)
def careful(x, n):
    i = cuda.grid(1)
    if n == 1 and i == 37:
        raise ValueError("a bad", "day")  # ValueError
    assert n != 2 or i < 64, "too far"  # AssertionError
    x[i] = 6 // n  # ZeroDivisionError
"""


@pytest.fixture(scope="module")
def careful(tmp_path_factory):
    path = tmp_path_factory.mktemp("careful") / "careful.py"
    path.write_text(CAREFUL)
    names = {"cuda": cuda}
    exec(compile(CAREFUL, str(path), "exec"), names)
    return names["careful"]


@pytest.mark.parametrize(
    "n, kind, said, thread, block",
    [
        (1, ValueError, "tid=[0, 0, 5] ctaid=[0, 0, 1]: a bad", (5, 0, 0), (1, 0, 0)),
        (2, AssertionError, "tid=[0, 0, 0] ctaid=[0, 0, 2]: too far", (0, 0, 0), (2, 0, 0)),
        (0, ZeroDivisionError, "tid=[0, 0, 0] ctaid=[0, 0, 0]: integer division by zero", (0, 0, 0), (0, 0, 0)),
    ],
)
def test_exceptions_of_a_debug_kernel_reach_the_host(careful, n, kind, said, thread, block):
    there, here = cuda.to_device(np.zeros(96, np.int64)), np.zeros(96, np.int64)
    with pytest.raises(kind) as raised:
        careful[3 if n else 1, 32](there, n)
    error = raised.value
    text = CAREFUL.splitlines()[error.line - 1].strip()
    assert text.endswith(f"# {kind.__name__}") and text in str(error.args[0])
    assert said in error.args[0] and f"thread ({thread[0]}) of block ({block[0]})" in error.args[0]
    assert type(error) is kind and (error.thread, error.block) == (thread, block)
    assert error.args[1:] == (("day",) if n == 1 else ())
    with pytest.raises(kind):
        careful[3, 32](cuda.InOut(here), n)
    assert not here.any()  # as on a GPU, nothing comes back
    careful[3, 32](there, 3)
    assert set(there.copy_to_host()) == {2}  # and the next launch knows nothing of it


def test_without_debug_a_thread_that_raises_ends_quietly(careful):
    x = cuda.to_device(np.zeros(96, np.int64))
    cuda.jit(careful.py_func)[3, 32](x, 1)
    assert np.flatnonzero(x.copy_to_host() != 6).tolist() == [37]


@cuda.jit(device=True)
def picky(i):
    if i == 3:
        raise KeyError
    return i


def test_an_exception_of_a_device_function_is_not_taken_for_one_of_the_kernel():
    @cuda.jit(debug=True, opt=False)
    def calls(x):
        x[cuda.grid(1)] = picky(cuda.grid(1))

    @cuda.jit(debug=True, opt=False)
    def raises_too(x):
        if x.size == 0:
            raise ValueError("no elements")
        x[cuda.grid(1)] = picky(cuda.grid(1))

    x = cuda.to_device(np.zeros(32))
    with pytest.raises(SystemError, match=r"thread \(3\) of block \(0\) raised an exception in a device function"):
        calls[1, 32](x)
    with pytest.raises(ValueError, match="or another, in a device function"):
        raises_too[1, 32](x)


def test_a_division_by_zero_names_every_line_that_may_be_meant():
    @cuda.jit(debug=True, opt=False)
    def two(x):
        x[0] = x[1] / x[2]
        x[1] %= x[2]

    with pytest.raises(ZeroDivisionError, match=r"at one of the lines \d+, \d+"):
        two[1, 1](cuda.to_device(np.zeros(3)))


def test_options_that_do_not_go_together_are_warned_of(careful):
    from numba.cuda.core.errors import NumbaInvalidConfigWarning

    with pytest.warns(NumbaInvalidConfigWarning, match="opt=False"):
        cuda.jit(careful.py_func, debug=True)
    with pytest.warns(NumbaInvalidConfigWarning, match="lineinfo"):
        cuda.jit(careful.py_func, debug=True, opt=False, lineinfo=True)
    with pytest.raises(ValueError, match="Carveout"):
        cuda.jit(careful.py_func, shared_memory_carveout=101)
    with pytest.raises(NotImplementedError, match="always checks"):
        cuda.jit(careful.py_func, boundscheck=True)
