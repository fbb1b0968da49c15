"""Functions that stay functions: recursion, function pointers, virtual methods, deep nesting.

Every kernel runs on both engines, is checked against Python, and counts as many instructions and branches a line as the
reference takes steps.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from helpers.vgpu import reference
from helpers.vgpu.base.errors import (
    CompileError,
    Deadlock,
    InvalidCall,
    KernelTimeout,
    OutOfBounds,
    StackOverflow,
    Unsupported,
    VirtualGPUError,
)
from helpers.vgpu.launch import launch
from helpers.vgpu.standins import numba_cuda as cuda
from helpers.vgpu.storage import memory
from helpers.vgpu.storage.layout import STACK_BYTES

HEAD = 'extern "C" __global__ void k(const int* in, int* out) {\n    int i = threadIdx.x;\n'


def ints(n, low=0, high=100, seed=1):
    return np.random.default_rng(seed).integers(low, high, n).astype(np.int32)


def check(compiled, interpreted, source, expected, threads=64, data=None, grid=1, exact=True, options=()):
    """Both engines give `expected`, and (`exact`) count the same instructions and branches for every line."""
    data = ints(threads) if data is None else data
    expected = np.asarray(expected, np.int64)
    out = np.zeros(len(expected), np.int32)
    counters = compiled.c(source, "k", options=options)(grid, threads, data.copy(), out, observe=True)
    assert out.tolist() == expected.tolist(), "compiled"
    plain = np.zeros(len(expected), np.int32)
    compiled.c(source, "k", options=options)(grid, threads, data.copy(), plain)
    assert plain.tolist() == expected.tolist(), "compiled, without counters"
    steps, branches = Counter(), Counter()

    def step(s):
        steps[s.line] += 1
        branches[s.line] += s.instruction.opcode == "bra"

    out[:] = 0
    with pytest.MonkeyPatch.context() as patch:  # no turns for lanes ahead: they would change the order of the steps
        patch.setattr(reference, "PATIENCE", 1 << 40)
        interpreted.c(source, "k", options=options)(grid, threads, data.copy(), out, on_step=step)
    assert out.tolist() == expected.tolist(), "reference"
    if exact:
        assert {n: c["instructions"] for n, c in counters.lines.items() if c.get("instructions")} == dict(steps)
        assert {n: c["branches"] for n, c in counters.lines.items() if c.get("branches")} == {
            n: c for n, c in branches.items() if c
        }
    return counters


# ---------------------------------------------------------------- recursion


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_fibonacci(compiled, interpreted):
    source = f"""__device__ int fib(int n) {{
    if (n < 2) return n;
    return fib(n - 1) + fib(n - 2);
}}
{HEAD}
    out[i] = fib(in[i] % 10);
}}"""
    data = ints(70)
    counters = check(compiled, interpreted, source, [fib(v % 10) for v in data], 70, data)
    assert counters.lines[2]["divergent_branches"] > 0


def test_mutual_recursion(compiled, interpreted):
    source = f"""__device__ int odd(int n);
__device__ __noinline__ int even(int n) {{ return n == 0 ? 1 : odd(n - 1); }}
__device__ __noinline__ int odd(int n) {{ return n == 0 ? 0 : even(n - 1); }}
{HEAD}
    out[i] = even(in[i] % 12) * 10 + odd(i % 5);
}}"""
    data = ints(64)
    check(compiled, interpreted, source, [(v % 12 + 1) % 2 * 10 + i % 5 % 2 for i, v in enumerate(data)], 64, data)


def test_ackermann(compiled, interpreted):
    source = f"""__device__ int ack(int m, int n) {{
    if (m == 0) return n + 1;
    if (n == 0) return ack(m - 1, 1);
    return ack(m - 1, ack(m, n - 1));
}}
{HEAD}
    out[i] = ack(i % 3, in[i] % 4);
}}"""

    def ack(m, n):
        return n + 1 if m == 0 else ack(m - 1, 1) if n == 0 else ack(m - 1, ack(m, n - 1))

    data = ints(32)
    check(compiled, interpreted, source, [ack(i % 3, v % 4) for i, v in enumerate(data.tolist())], 32, data)


def test_a_hundred_calls_deep(compiled, interpreted):
    source = f"""__device__ __noinline__ int total(const int* p, int n) {{
    if (n == 0) return 0;
    int here = p[n - 1];
    return here + total(p, n - 1) * 2 % 1000;
}}
{HEAD}
    out[i] = total(in, 100 - i % 2);
}}"""
    data = ints(100)

    def total(n):
        return 0 if n == 0 else int(data[n - 1]) + total(n - 1) * 2 % 1000

    check(compiled, interpreted, source, [total(100 - i % 2) for i in range(100)], 100, data)


def test_quicksort_of_each_threads_slice(compiled, interpreted):
    source = """__device__ void sort(int* a, int low, int high) {
    if (low >= high) return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) ++i;
        while (a[j] > pivot) --j;
        if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; }
    }
    sort(a, low, j);
    sort(a, i, high);
}
extern "C" __global__ void k(const int* in, int* out) {
    int* mine = out + threadIdx.x * 16;
    for (int j = 0; j < 16; ++j) mine[j] = in[threadIdx.x * 16 + j];
    sort(mine, 0, 15);
}"""
    data = ints(32 * 16, -50, 50)
    check(compiled, interpreted, source, np.sort(data.reshape(32, 16)).ravel(), 32, data)


def test_a_tree_walked_along_pointers(compiled, interpreted):
    source = f"""struct Node {{ int value; const Node* left; const Node* right; }};
__device__ Node nodes[31];
__device__ int depth(const Node* n) {{ return n ? 1 + max(depth(n->left), depth(n->right)) : 0; }}
__device__ int count(const Node* n, int above) {{
    if (!n) return 0;
    return (n->value > above) + count(n->left, above) + count(n->right, above);
}}
{HEAD}
    if (i < 31) {{
        nodes[i].value = in[i];
        nodes[i].left = 2 * i + 1 < 31 && in[i] % 7 ? &nodes[2 * i + 1] : nullptr;
        nodes[i].right = 2 * i + 2 < 31 ? &nodes[2 * i + 2] : nullptr;
    }}
    __syncthreads();
    out[i] = count(&nodes[i % 31], 30) * 100 + depth(&nodes[i % 31]);
}}"""
    data = ints(64)

    def children(n):
        return [c for c in (2 * n + 1 if data[n] % 7 else 99, 2 * n + 2) if c < 31]

    def depth(n):
        return 1 + max(map(depth, children(n)), default=0)

    def count(n):
        return int(data[n] > 30) + sum(map(count, children(n)))

    expected = [count(i % 31) * 100 + depth(i % 31) for i in range(64)]
    check(compiled, interpreted, source, expected, 64, data)


def test_queens(compiled, interpreted):
    source = f"""__device__ int place(int n, int row, unsigned columns, unsigned left, unsigned right) {{
    if (row == n) return 1;
    int found = 0;
    for (int c = 0; c < n; ++c) {{
        unsigned bit = 1u << c;
        if ((columns | left | right) & bit) continue;
        found += place(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }}
    return found;
}}
{HEAD}
    int n = i % 4 + 2;
    out[i] = place(n, 0, 0, 0, 0);
}}"""
    check(compiled, interpreted, source, [[0, 0, 2, 10][i % 4] for i in range(40)], 40)


def test_towers_of_hanoi_with_arrays_passed_down(compiled, interpreted):
    source = f"""__device__ void move(int* heights, int n, int from, int to, int* moves) {{
    if (n == 0) return;
    move(heights, n - 1, from, 3 - from - to, moves);
    --heights[from]; ++heights[to]; ++*moves;
    move(heights, n - 1, 3 - from - to, to, moves);
}}
{HEAD}
    int n = i % 5, heights[3] = {{n, 0, 0}}, moves = 0;
    move(heights, n, 0, 2, &moves);
    out[i] = moves * 1000 + heights[2] * 100 + heights[0] * 10 + heights[1];
}}"""
    check(compiled, interpreted, source, [(2 ** (i % 5) - 1) * 1000 + i % 5 * 100 for i in range(48)], 48)


def test_local_arrays_of_every_depth_are_apart(compiled, interpreted):
    source = f"""__device__ int deep(int n, int salt) {{
    int mine[4];
    for (int j = 0; j < 4; ++j) mine[(j + salt) & 3] = n * 10 + j;
    int below = n > 0 ? deep(n - 1, salt + n) : 0;
    return below * 3 + mine[salt & 3] + mine[(salt + 3) & 3];
}}
{HEAD}
    out[i] = deep(in[i] % 6, i);
}}"""

    def deep(n):
        return (deep(n - 1) * 3 if n else 0) + n * 10 + n * 10 + 3

    data = ints(64)
    check(compiled, interpreted, source, [deep(v % 6) for v in data.tolist()], 64, data)


def test_structures_by_value_of_every_size(compiled, interpreted):
    source = f"""struct Tiny {{ char a; short b; char c; }};
struct Mixed {{ double d; char tag; float f[3]; long long w; }};
struct Big {{ int v[20]; }};
__device__ __noinline__ Tiny tiny(Tiny t, int n) {{
    if (n == 0) return t;
    return tiny(Tiny{{(char)(t.a + 1), (short)(t.b * 2), (char)(t.c - n)}}, n - 1);
}}
__device__ __noinline__ Mixed mixed(Mixed m, int n) {{
    if (n == 0) return m;
    m.d += 0.5; m.tag ^= n; m.f[n % 3] += n; m.w = m.w * 3 + n;
    return mixed(m, n - 1);
}}
__device__ __noinline__ Big rotate(Big b, int n) {{
    if (n == 0) return b;
    Big c;
    for (int j = 0; j < 20; ++j) c.v[j] = b.v[(j + 1) % 20];
    return rotate(c, n - 1);
}}
{HEAD}
    int n = in[i] % 5;
    Tiny t = tiny(Tiny{{(char)i, (short)(i - 7), (char)(3 * i)}}, n);
    Mixed m = mixed(Mixed{{i * 1.5, (char)i, {{1, 2, 3}}, i - 40ll}}, n);
    Big b;
    for (int j = 0; j < 20; ++j) b.v[j] = i + j * j;
    b = rotate(b, n);
    out[4 * i] = t.a * 100000 + t.b * 100 + t.c;
    out[4 * i + 1] = (int)(m.d * 2) * 100 + m.tag;
    out[4 * i + 2] = (int)m.w + (int)(m.f[0] + 10 * m.f[1] + 100 * m.f[2]);
    out[4 * i + 3] = b.v[3] + 100 * b.v[19];
}}"""
    data, expected = ints(40), []
    for i, value in enumerate(data.tolist()):
        n = value % 5
        a, b, c, d, tag, f, w = i, i - 7, 3 * i, i * 1.5, i, [1, 2, 3], i - 40
        for step in range(n, 0, -1):
            a, b, c = a + 1, b * 2, c - step
            d, tag, w = d + 0.5, tag ^ step, w * 3 + step
            f[step % 3] += step
        big = np.roll([i + j * j for j in range(20)], -n)
        c = (c + 128) % 256 - 128
        expected += [a * 100000 + b * 100 + c, int(d * 2) * 100 + tag, w + f[0] + 10 * f[1] + 100 * f[2]]
        expected.append(int(big[3] + 100 * big[19]))
    check(compiled, interpreted, source, expected, 40, data)


def test_calls_in_loops_and_in_both_arms_of_a_branch(compiled, interpreted):
    source = f"""__device__ __noinline__ int gcd(int a, int b) {{ return b == 0 ? a : gcd(b, a % b); }}
{HEAD}
    int sum = 0;
    for (int j = 0; j < i % 7; ++j) {{
        if (in[i] & 1) sum += gcd(in[i] + j, 12);
        else sum -= gcd(60, in[i] + j) * 2;
        if (sum > 20) break;
    }}
    out[i] = sum;
}}"""
    data, expected = ints(64, 1, 200), []
    for i, v in enumerate(data.tolist()):
        total = 0
        for j in range(i % 7):
            total += int(np.gcd(v + j, 12)) if v & 1 else -2 * int(np.gcd(60, v + j))
            if total > 20:
                break
        expected.append(total)
    check(compiled, interpreted, source, expected, 64, data)


def test_recursion_of_64_bit_and_floating_values(compiled, interpreted):
    source = f"""__device__ double power(double base, int n) {{
    if (n == 0) return 1;
    double half = power(base, n / 2);
    bool odd = n & 1;
    return odd ? half * half * base : half * half;
}}
__device__ long long multiply(long long a, unsigned short n, bool negative) {{
    if (n == 0) return negative ? -1 : 1;
    return a + multiply(a, n - 1, !negative);
}}
{HEAD}
    out[2 * i] = (int)power(1.5, in[i] % 20);
    out[2 * i + 1] = (int)(multiply(5000000000ll + i, in[i] % 9, in[i] & 1) % 1000003);
}}"""
    data, expected = ints(32), []
    for i, v in enumerate(data.tolist()):
        n = v % 9
        total = (5000000000 + i) * n + (-1 if (v + n) & 1 else 1)
        expected += [int(1.5 ** (v % 20)), int(np.fmod(total, 1000003))]
    check(compiled, interpreted, source, expected, 32, data)


def test_early_returns_meet_again_after_the_call(compiled, interpreted):
    source = f"""__device__ __noinline__ int collatz(int n, int steps) {{
    if (n <= 1) return steps;
    if (steps > 30) return -1;
    if (n % 2) return collatz(3 * n + 1, steps + 1);
    return collatz(n / 2, steps + 1);
}}
{HEAD}
    int v = collatz(in[i], 0);
    out[i] = v + __popc(__activemask());
}}"""

    def collatz(n, steps):
        return steps if n <= 1 else -1 if steps > 30 else collatz(3 * n + 1 if n % 2 else n // 2, steps + 1)

    data = ints(64)
    check(compiled, interpreted, source, [collatz(v, 0) + 32 for v in data.tolist()], 64, data)


# ---------------------------------------------------------------- pointers


def test_an_evaluator_with_a_table_of_functions(compiled, interpreted):
    source = f"""typedef int (*Operation)(int, int);
__device__ int add(int a, int b) {{ return a + b; }}
__device__ int subtract(int a, int b) {{ return a - b; }}
__device__ int multiply(int a, int b) {{ return a * b % 1009; }}
__device__ int larger(int a, int b) {{ if (a > b) return a; return b; }}
__constant__ Operation table[4] = {{add, subtract, multiply, larger}};
__device__ int evaluate(const int* code, int at, int depth) {{
    if (depth == 0) return code[at % 64] % 50;
    int a = evaluate(code, 2 * at + 1, depth - 1), b = evaluate(code, 2 * at + 2, depth - 1);
    return table[code[at % 64] & 3](a, b);
}}
{HEAD}
    out[i] = evaluate(in, i, 3);
}}"""
    data = ints(64)
    operations = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: int(np.fmod(a * b, 1009)), max]

    def evaluate(at, depth):
        v = int(data[at % 64])
        if depth == 0:
            return v % 50
        return operations[v & 3](evaluate(2 * at + 1, depth - 1), evaluate(2 * at + 2, depth - 1))

    check(compiled, interpreted, source, [evaluate(i, 3) for i in range(64)], 64, data)


SHAPES = """struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
    __device__ int corners() const override { return 4; }
};
struct Circle : Shape {
    float radius;
    __device__ Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3 * radius * radius; }
};
struct Twice : Shape {
    const Shape* inner;
    __device__ Twice(const Shape* s) : inner(s) {}
    __device__ float area() const override { return 2 * inner->area(); }
    __device__ int corners() const override { return 2 * inner->corners(); }
};
"""


def test_virtual_methods_of_different_types_in_one_warp(compiled, interpreted):
    source = f"""{SHAPES}
{HEAD}
    Square square(in[i]);
    Circle circle(in[i]);
    const Shape* one = i % 3 ? (const Shape*)&square : &circle;
    Twice twice(one);
    Twice four(&twice);
    const Shape* shape = i % 4 == 0 ? one : i % 4 == 1 ? (const Shape*)&twice : (const Shape*)&four;
    out[i] = (int)shape->area() * 100 + shape->corners();
}}"""
    data, expected = ints(64), []
    for i, v in enumerate(data.tolist()):
        factor = (1, 2, 4, 4)[i % 4]
        expected.append((v * v if i % 3 else 3 * v * v) * factor * 100 + (4 if i % 3 else 0) * factor)
    check(compiled, interpreted, source, expected, 64, data)


def test_callbacks_as_arguments_template_parameters_and_globals(compiled, interpreted):
    source = f"""typedef int (*Callback)(int);
__device__ int triple(int v) {{ return 3 * v; }}
__device__ int square(int v) {{ return v * v; }}
__device__ Callback chosen = square;
template <Callback f> __device__ int fixed(int v) {{ return f(v) + 1; }}
__device__ __noinline__ int apply(Callback f, int v, int times) {{
    for (int j = 0; j < times; ++j) v = f(v) % 1000;
    return v;
}}
{HEAD}
    Callback f = in[i] & 1 ? triple : square;
    out[i] = apply(f, in[i], i % 3) + fixed<triple>(i) + chosen(i);
    if (in[i] % 3 == 0) out[i] += apply(chosen, 2, 2);
}}"""
    data, expected = ints(64), []
    for i, v in enumerate(data.tolist()):
        r = v
        for _ in range(i % 3):
            r = (3 * r if v & 1 else r * r) % 1000
        expected.append(r + 3 * i + 1 + i * i + (16 if v % 3 == 0 else 0))
    check(compiled, interpreted, source, expected, 64, data)


def test_a_pointer_taken_by_one_kernel_and_used_by_another(compiled, interpreted):
    source = """typedef int (*Callback)(int);
__device__ __noinline__ int negate(int v) { return -v; }
__device__ __noinline__ int halve(int v) { return v / 2; }
extern "C" __global__ void give(Callback* where) { where[0] = negate; where[1] = halve; }
extern "C" __global__ void take(const Callback* where, int* out) {
    int i = threadIdx.x;
    out[i] = where[i & 1](i);
}"""
    for engine in (compiled, interpreted):
        handles, out = np.zeros(2, np.uint64), np.zeros(40, np.int32)
        engine.c(source, "give")(1, 1, handles)
        engine.c(source, "take")(1, 40, handles, out)
        assert out.tolist() == [i // 2 if i & 1 else -i for i in range(40)]


def test_members_of_structures_that_are_functions(compiled, interpreted):
    source = f"""struct Step {{ float (*f)(float, char); char by; }};
__device__ float up(float v, char by) {{ return v + by; }}
__device__ float scale(float v, char by) {{ return v * by; }}
{HEAD}
    Step steps[3] = {{{{up, (char)i}}, {{scale, 3}}, {{up, -5}}}};
    float v = in[i];
    for (int j = i % 3; j < 3 + i % 3; ++j) v = steps[j % 3].f(v, steps[j % 3].by);
    out[i] = (int)v;
}}"""
    data, expected = ints(64), []
    for i, v in enumerate(data.tolist()):
        for j in range(i % 3, 3 + i % 3):
            v = (v + i, v * 3, v - 5)[j % 3]
        expected.append(v)
    check(compiled, interpreted, source, expected, 64, data)


# ---------------------------------------------------------------- nesting and meeting


def test_forty_functions_deep(compiled, interpreted):
    functions = ["__device__ __noinline__ int f0(int v) { return v + 1; }"]
    for n in range(1, 40):
        body = f"if (v % {n + 2} == 0) return v; return f{n - 1}(v + {n}) + 1;"
        functions.append(f"__device__ __noinline__ int f{n}(int v) {{ {body} }}")
    source = "\n".join(functions) + f"\n{HEAD}\n    out[i] = f39(in[i]);\n}}"

    def deep(n, v):
        return v + 1 if n == 0 else v if v % (n + 2) == 0 else deep(n - 1, v + n) + 1

    data = ints(64)
    check(compiled, interpreted, source, [deep(39, v) for v in data.tolist()], 64, data)


def test_many_calls_of_one_function_do_not_multiply_the_code(compiled, interpreted):
    functions = ["__device__ __noinline__ int f0(int v) { return v * 3 % 11; }"]
    for n in range(1, 12):
        functions.append(f"__device__ __noinline__ int f{n}(int v) {{ return f{n - 1}(v) + f{n - 1}(v + 1); }}")
    source = "\n".join(functions) + f"\n{HEAD}\n    if (i == 0) out[i] = f11(in[i]); else out[i] = f3(i);\n}}"

    def many(n, v):
        return v * 3 % 11 if n == 0 else many(n - 1, v) + many(n - 1, v + 1)

    data = ints(4)
    expected = [many(11, int(data[0])), *(many(3, i) for i in range(1, 4))]
    out = np.zeros(4, np.int32)
    compiled.c(source, "k")(1, 4, data, out)
    assert out.tolist() == expected


def test_barriers_in_recursion_on_the_uniform_path(compiled, interpreted):
    source = """__device__ void reduce(int* s, int width) {
    if (width == 0) return;
    if (threadIdx.x < width) s[threadIdx.x] += s[threadIdx.x + width];
    __syncthreads();
    reduce(s, width / 2);
}
extern "C" __global__ void k(const int* in, int* out) {
    __shared__ int s[128];
    s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    reduce(s, 64);
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}"""
    data = ints(3 * 128)
    counters = check(compiled, interpreted, source, data.reshape(3, 128).sum(axis=1), 128, data, grid=3)
    assert counters["barriers"] == 3 * 4 * (1 + 7)


def test_shuffles_in_recursion(compiled, interpreted):
    source = f"""__device__ int sum(int v, int width) {{
    if (width == 0) return v;
    return sum(v + __shfl_xor_sync(0xffffffff, v, width), width / 2);
}}
__device__ __noinline__ int scan(int v, int by) {{
    int below = __shfl_up_sync(0xffffffff, v, by);
    if ((threadIdx.x & 31) >= by) v += below;
    return by == 16 ? v : scan(v, by * 2);
}}
{HEAD}
    out[i] = sum(in[i], 16) * 10000 + scan(in[i], 1);
}}"""
    data = ints(64, 0, 20)
    warps = data.reshape(2, 32)
    expected = warps.sum(axis=1, keepdims=True) * 10000 + np.cumsum(warps, axis=1)
    check(compiled, interpreted, source, expected.ravel(), 64, data)


def test_shuffles_after_lanes_took_different_ways(compiled, interpreted):
    source = f"""__device__ __noinline__ int descend(int n, int lane) {{
    int below = n > 0 ? descend(n - 1, lane) : lane;
    return below + n;
}}
__device__ __noinline__ int after(int n, int v) {{
    int mine = descend(n, v);
    return __shfl_xor_sync(0xffffffff, mine, 1) + __ballot_sync(0xffffffff, mine & 1) % 1000;
}}
typedef int (*F)(int, int);
__device__ F table[2] = {{after, descend}};
{HEAD}
    out[i] = table[in[i] > 1000](i % 5, i);
}}"""
    mine = [sum(range(i % 5 + 1)) + i for i in range(32)]
    ballot = sum((v & 1) << i for i, v in enumerate(mine))
    # `% 1000` is of an int: NumPy's fmod has C's sign.
    expected = [mine[i ^ 1] + int(np.fmod(np.uint32(ballot).astype(np.int32), 1000)) for i in range(32)]
    check(compiled, interpreted, source, expected, 32, ints(32))


def test_tail_calls_and_calls_without_results(compiled, interpreted):
    source = f"""__device__ __noinline__ void spread(int* out, int from, int to, int v) {{
    if (from == to) {{ atomicAdd(&out[from], v); return; }}
    int middle = (from + to) / 2;
    spread(out, from, middle, v + 1);
    spread(out, middle + 1, to, v + 2);
}}
{HEAD}
    if (i % 8 == 0) spread(out, i, i + 7, in[i]);
}}"""
    data = ints(64)
    expected = [int(data[i - i % 8]) + sum(1 + (i >> b & 1) for b in range(3)) for i in range(64)]
    check(compiled, interpreted, source, expected, 64, data)


def test_printf_and_asserts_in_recursion(compiled, capsys):
    source = f"""__device__ void count(int n) {{
    if (n == 0) return;
    printf("%d ", n);
    count(n - 1);
}}
{HEAD}
    if (i == 1) count(4);
}}"""
    compiled.c(source, "k")(1, 32, ints(1), ints(1))
    assert capsys.readouterr().out == "4 3 2 1 "


# ---------------------------------------------------------------- what goes wrong


def failure(engine, source, threads=32, data=None, **options):
    data = ints(64) if data is None else data
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
        assert "`forever`" in str(error) and "Usual cure" in str(error)


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
    engine.c(source, "k")(1, 4, ints(4), out)
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


def test_errors_inside_recursion_name_the_learners_line(engine):
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


# ---------------------------------------------------------------- Python


@cuda.jit(device=True, inline="never")
def distance(a, b):
    if a > b:
        return a - b
    return b - a


@cuda.jit(device=True)
def apply(f, v):
    return f(v) + 1


@cuda.jit(device=True)
def square(v):
    return v * v


@cuda.jit(device=True)
def triple(v):
    return 3 * v


def test_python_functions_that_are_not_inlined_or_are_arguments(engine):
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = distance(i, 20) * 10000 + apply(square, i) + apply(triple, i)

    out = np.zeros(50, np.int32)
    engine.py(kernel)(2, 32, out)
    assert out.tolist() == [abs(i - 20) * 10000 + i * i + 3 * i + 2 for i in range(50)]


def test_python_functions_chosen_at_run_time_are_refused_in_words(compiled):
    def kernel(out):
        i = cuda.grid(1)
        f = square if i % 2 else triple
        out[i] = f(i)

    with pytest.raises(CompileError, match="chosen while the kernel runs") as caught:
        compiled.py(kernel)(1, 32, np.zeros(32, np.int32))
    assert "if" in str(caught.value)


GUARDED = """.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) down(.param .b32 n) {
    .reg .pred %p;
    .reg .b32 %r<4>;
    ld.param.u32 %r0, [n];
    st.param.b32 [result], %r0;
    setp.lt.s32 %p, %r0, 3;
    @%p ret;
    sub.s32 %r1, %r0, 2;
    { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), down, (a);
    ld.param.b32 %r2, [b]; }
    add.s32 %r2, %r2, %r0;
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) half(.param .b32 n) {
    .reg .b32 %r<2>;
    ld.param.u32 %r0, [n];
    shr.u32 %r0, %r0, 1;
    st.param.b32 [result], %r0;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    setp.gt.u32 %p, %r0, 9;
    mov.u32 %r3, 0;
    { .param .b32 a; .param .b32 b; .param .b32 c;
    st.param.b32 [a], %r0;
    st.param.b32 [b], %r3;
    st.param.b32 [c], %r3;
    @%p call (b), down, (a);
    @!%p call (c), half, (a);
    ld.param.b32 %r1, [b];
    ld.param.b32 %r2, [c]; }
    mad.lo.s32 %r1, %r2, 1000, %r1;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd1, %rd0, %rd1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


def test_guarded_calls_and_returns():
    kernel = launch.load(GUARDED, language="cuda")["k"]
    expected = [sum(range(t, 0, -2)) if t > 9 else t // 2 * 1000 for t in range(32)]
    steps, out = [], memory.array(32, np.int32)
    params = [memory.owner(out).address.to_bytes(8, "little")]
    reference.run(kernel, None, 1, 32, params, on_step=steps.append)
    assert out.tolist() == expected
    out[:] = 0
    counters = launch.launch(kernel, 1, 32, params, observe=True)
    assert out.tolist() == expected
    assert counters["instructions"] == len(steps) and counters["branches"] == 0
