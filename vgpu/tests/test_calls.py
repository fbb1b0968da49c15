"""Functions that stay functions: what goes wrong in them, and what their pointers are worth in another kernel."""

import numpy as np
import pytest

from vgpu.base.errors import (
    Deadlock,
    InvalidCall,
    KernelTimeout,
    OutOfBounds,
    StackOverflow,
    Unsupported,
    VirtualGPUError,
)
from vgpu.storage.layout import STACK_BYTES
from vgpu.tests.corpus.row import HEAD, integers


def test_a_pointer_taken_by_one_kernel_and_used_by_another(engine):
    source = """typedef int (*Callback)(int);
__device__ __noinline__ int negate(int v) { return -v; }
__device__ __noinline__ int halve(int v) { return v / 2; }
extern "C" __global__ void give(Callback* where) { where[0] = negate; where[1] = halve; }
extern "C" __global__ void take(const Callback* where, int* out) {
    int i = threadIdx.x;
    out[i] = where[i & 1](i);
}"""
    handles, out = np.zeros(2, np.uint64), np.zeros(40, np.int32)
    engine.c(source, "give")(1, 1, handles)
    engine.c(source, "take")(1, 40, handles, out)
    assert out.tolist() == [i // 2 if i & 1 else -i for i in range(40)]


# ---------------------------------------------------------------- what goes wrong


def failure(engine, source, threads=32, data=None, **options):
    data = integers(64) if data is None else data
    with pytest.raises(VirtualGPUError) as caught:
        engine.c(source, "k")(1, threads, data, np.zeros(64, np.int32), **options)
    return caught.value


def test_endless_recursion_ends_in_an_error_that_names_line_thread_and_depth(engine):
    source = f"""__device__ int forever(int n) {{
    if (n == -1) return 0;
    return forever(n + 1) * 3 + 1;
}}
{HEAD}
    if (i == 5) out[i] = forever(i);
}}"""
    error = failure(engine, source)
    assert isinstance(error, StackOverflow) and isinstance(error, (RecursionError, OutOfBounds))
    assert error.line == 3 and error.thread == (5, 0, 0)
    assert str(STACK_BYTES // 16) in str(error)
    if engine.name == "compiled":
        assert "`forever`" in str(error) and "Usual fix" in str(error)


def test_a_full_stack_leaves_other_memory_alone(compiled):
    source = f"""__device__ int eat(int n, int* out) {{
    volatile int room[64];
    for (int j = 0; j < 64; ++j) room[j] = n;
    if (n == 0) return room[3];
    return eat(n - 1, out) + room[n % 64];
}}
{HEAD}
    out[i] = eat(i == 40 ? 1000 : i % 50, out);
}}"""
    error = failure(compiled, source, 64)
    assert isinstance(error, StackOverflow) and error.thread == (40, 0, 0) and error.line == 5


def test_deep_enough_is_not_too_deep(engine):
    source = f"""__device__ int down(int n) {{
    if (n == 0) return 0;
    return down(n - 1) + n;
}}
{HEAD}
    out[i] = down(1000);
}}"""
    out = np.zeros(32, np.int32)
    engine.c(source, "k")(1, 4, integers(4), out)
    assert out[:4].tolist() == [500500] * 4


def test_pointers_that_lead_nowhere(engine):
    source = f"""typedef int (*F)(int);
__device__ int one(int v) {{ return v + 1; }}
__device__ F table[3] = {{one, one, nullptr}};
{HEAD}
    out[i] = table[i == 7 ? 2 : 0](i);
}}"""
    error = failure(engine, source)
    assert isinstance(error, InvalidCall) and error.line == 7 and error.thread == (7, 0, 0)
    if engine.name == "compiled":
        assert "null pointer" in str(error)


def test_pointers_of_another_type(engine):
    source = f"""typedef int (*F)(int);
__device__ int one(int v) {{ return v + 1; }}
__device__ int two(int v, double w) {{ return v + w; }}
__device__ F first = one;
__device__ int (*second)(int, double) = two;
{HEAD}
    F f = i == 9 ? (F)second : first;
    out[i] = f(i);
}}"""
    error = failure(engine, source)
    assert isinstance(error, InvalidCall) and error.thread == (9, 0, 0) and "two" in str(error)


def test_errors_inside_recursion_name_the_users_line(engine):
    source = f"""__device__ int walk(const int* p, int n) {{
    if (n == 0)
        return p[1 << 29];
    return walk(p, n - 1) + 1;
}}
{HEAD}
    out[i] = walk(in, i % 4 + 1);
}}"""
    error = failure(engine, source)
    assert isinstance(error, OutOfBounds) and error.line == 3
    assert not isinstance(error, StackOverflow)


def test_a_local_array_left_in_recursion_cannot_change_the_way_back(compiled):
    source = f"""__device__ int careless(int n, int by) {{
    int mine[4];
    for (int j = 0; j < 64; ++j) mine[j * by] = 0x7fffffff;
    if (n == 0) return mine[by];
    return careless(n - 1, by) / 2;
}}
{HEAD}
    out[i] = careless(3, in[i]);
}}"""
    out = np.zeros(32, np.int32)
    compiled.c(source, "k")(1, 32, np.ones(32, np.int32), out)
    assert out.tolist() == [0x7FFFFFFF >> 3] * 32
    error = failure(compiled, source, data=np.full(64, 1000, np.int32))
    assert isinstance(error, OutOfBounds) and error.line == 3


def test_deadlocks_and_endless_loops_inside_functions(compiled):
    source = f"""__device__ __noinline__ void wait(int n) {{
    if (n == 0)
        __syncthreads();
    else
        wait(n - 1);
}}
{HEAD}
    if (i < 16) wait(2);
    else
        __syncthreads();
}}"""
    error = failure(compiled, source)
    assert isinstance(error, Deadlock) and "line 3" in str(error) and "line 12" in str(error)
    source = f"""__device__ __noinline__ void spin(volatile int* p, int n) {{
    if (n > 0) {{ spin(p, n - 1); return; }}
    while (p[0] == 0)
        p[1] += 1;
}}
{HEAD}
    spin(out, 3);
}}"""
    error = failure(compiled, source, timeout=0.3)
    assert isinstance(error, KernelTimeout) and error.line in (3, 4)


def test_functions_from_elsewhere_are_refused(compiled):
    source = f"""extern __device__ int elsewhere(int v);
{HEAD}
    out[i] = elsewhere(i);
}}"""
    error = failure(compiled, source)
    assert isinstance(error, Unsupported) and "elsewhere" in str(error)
