"""Functions that stay functions: recursion, function pointers, virtual methods, deep nesting."""

# The kernels keep the long lines that they have where people publish them.
# ruff: noqa: E501

import numpy as np

from vgpu.tests.corpus.row import c, each_thread, integers

i4 = np.int32
ACROSS = integers(64)


# ---------------------------------------------------------------- recursion


@each_thread(
    """__device__ int fib(int n) {
        if (n < 2) return n;
        return fib(n - 1) + fib(n - 2);
    }
    HEAD out[i] = fib(in[i] % 10); }""",
    70, check=True,
)  # fmt: skip
def fibonacci(i, v):
    a, b = 0, 1
    for _ in range(v % 10):
        a, b = b, a + b
    return a


@each_thread("""__device__ int odd(int n);
    __device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
    __device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
    HEAD out[i] = even(in[i] % 12) * 10 + odd(i % 5); }""")
def mutual_recursion(i, v):
    return (v % 12 + 1) % 2 * 10 + i % 5 % 2


def ack(m, n):
    return n + 1 if m == 0 else ack(m - 1, 1) if n == 0 else ack(m - 1, ack(m, n - 1))


@each_thread(
    """__device__ int ack(int m, int n) {
        if (m == 0) return n + 1;
        if (n == 0) return ack(m - 1, 1);
        return ack(m - 1, ack(m, n - 1));
    }
    HEAD out[i] = ack(i % 3, in[i] % 4); }""",
    32,
)  # fmt: skip
def ackermann(i, v):
    return ack(i % 3, v % 4)


@each_thread(
    """__device__ __noinline__ int total(const int* p, int n) {
        if (n == 0) return 0;
        int here = p[n - 1];
        return here + total(p, n - 1) * 2 % 1000;
    }
    HEAD out[i] = total(in, 100 - i % 2); }""",
    100, integers(100),
)  # fmt: skip
def a_hundred_calls_deep(i, v, data):
    total = 0
    for here in data[: 100 - i % 2]:
        total = here + total * 2 % 1000
    return total


@c(
    """__device__ void sort(int* a, int low, int high) {
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
    }""",
    1, 32,
)  # fmt: skip
def quicksort_of_each_threads_slice(random):
    data = integers(512, -50, 50)
    return (data, data * 0), {1: np.sort(data.reshape(32, 16)).ravel()}


@each_thread("""struct Node { int value; const Node* left; const Node* right; };
    __device__ Node nodes[31];
    __device__ int depth(const Node* n) { return n ? 1 + max(depth(n->left), depth(n->right)) : 0; }
    __device__ int count(const Node* n, int above) {
        if (!n) return 0;
        return (n->value > above) + count(n->left, above) + count(n->right, above);
    }
    HEAD
        if (i < 31) {
            nodes[i].value = in[i];
            nodes[i].left = 2 * i + 1 < 31 && in[i] % 7 ? &nodes[2 * i + 1] : nullptr;
            nodes[i].right = 2 * i + 2 < 31 ? &nodes[2 * i + 2] : nullptr;
        }
        __syncthreads();
        out[i] = count(&nodes[i % 31], 30) * 100 + depth(&nodes[i % 31]);
    }""")
def a_tree_walked_along_pointers(i, v, data):
    def children(n):
        return [c for c in (2 * n + 1 if data[n] % 7 else 99, 2 * n + 2) if c < 31]

    def depth(n):
        return 1 + max(map(depth, children(n)), default=0)

    def count(n):
        return int(data[n] > 30) + sum(map(count, children(n)))

    return count(i % 31) * 100 + depth(i % 31)


@each_thread(
    """__device__ void move(int* heights, int n, int from, int to, int* moves) {
        if (n == 0) return;
        move(heights, n - 1, from, 3 - from - to, moves);
        --heights[from]; ++heights[to]; ++*moves;
        move(heights, n - 1, 3 - from - to, to, moves);
    }
    HEAD
        int n = i % 5, heights[3] = {n, 0, 0}, moves = 0;
        move(heights, n, 0, 2, &moves);
        out[i] = moves * 1000 + heights[2] * 100 + heights[0] * 10 + heights[1];
    }""",
    48,
)  # fmt: skip
def towers_of_hanoi_with_arrays_passed_down(i, v):
    return (2 ** (i % 5) - 1) * 1000 + i % 5 * 100


def deep(n):
    return (deep(n - 1) * 3 if n else 0) + n * 10 + n * 10 + 3


@each_thread("""__device__ int deep(int n, int salt) {
        int mine[4];
        for (int j = 0; j < 4; ++j) mine[(j + salt) & 3] = n * 10 + j;
        int below = n > 0 ? deep(n - 1, salt + n) : 0;
        return below * 3 + mine[salt & 3] + mine[(salt + 3) & 3];
    }
    HEAD out[i] = deep(in[i] % 6, i); }""")
def local_arrays_of_every_depth_are_apart(i, v):
    return deep(v % 6)


@each_thread(
    """struct Tiny { char a; short b; char c; };
    struct Mixed { double d; char tag; float f[3]; long long w; };
    struct Big { int v[20]; };
    __device__ __noinline__ Tiny tiny(Tiny t, int n) {
        if (n == 0) return t;
        return tiny(Tiny{(char)(t.a + 1), (short)(t.b * 2), (char)(t.c - n)}, n - 1);
    }
    __device__ __noinline__ Mixed mixed(Mixed m, int n) {
        if (n == 0) return m;
        m.d += 0.5; m.tag ^= n; m.f[n % 3] += n; m.w = m.w * 3 + n;
        return mixed(m, n - 1);
    }
    __device__ __noinline__ Big rotate(Big b, int n) {
        if (n == 0) return b;
        Big c;
        for (int j = 0; j < 20; ++j) c.v[j] = b.v[(j + 1) % 20];
        return rotate(c, n - 1);
    }
    HEAD
        int n = in[i] % 5;
        Tiny t = tiny(Tiny{(char)i, (short)(i - 7), (char)(3 * i)}, n);
        Mixed m = mixed(Mixed{i * 1.5, (char)i, {1, 2, 3}, i - 40ll}, n);
        Big b;
        for (int j = 0; j < 20; ++j) b.v[j] = i + j * j;
        b = rotate(b, n);
        out[4 * i] = t.a * 100000 + t.b * 100 + t.c;
        out[4 * i + 1] = (int)(m.d * 2) * 100 + m.tag;
        out[4 * i + 2] = (int)m.w + (int)(m.f[0] + 10 * m.f[1] + 100 * m.f[2]);
        out[4 * i + 3] = b.v[3] + 100 * b.v[19];
    }""",
    40,
)  # fmt: skip
def structures_by_value_of_every_size(i, v):
    n = v % 5
    a, b, c, d, tag, f, w = i, i - 7, 3 * i, i * 1.5, i, [1, 2, 3], i - 40
    for step in range(n, 0, -1):
        a, b, c = a + 1, b * 2, c - step
        d, tag, w = d + 0.5, tag ^ step, w * 3 + step
        f[step % 3] += step
    big = np.roll([i + j * j for j in range(20)], -n)
    c = (c + 128) % 256 - 128
    return [a * 100000 + b * 100 + c, int(d * 2) * 100 + tag, w + f[0] + 10 * f[1] + 100 * f[2], big[3] + 100 * big[19]]


@each_thread(
    """__device__ __noinline__ int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
    HEAD
        int sum = 0;
        for (int j = 0; j < i % 7; ++j) {
            if (in[i] & 1) sum += gcd(in[i] + j, 12);
            else sum -= gcd(60, in[i] + j) * 2;
            if (sum > 20) break;
        }
        out[i] = sum;
    }""",
    64, integers(64, 1, 200),
)  # fmt: skip
def calls_in_loops_and_in_both_arms_of_a_branch(i, v):
    total = 0
    for j in range(i % 7):
        total += int(np.gcd(v + j, 12)) if v & 1 else -2 * int(np.gcd(60, v + j))
        if total > 20:
            break
    return total


@each_thread(
    """__device__ double power(double base, int n) {
        if (n == 0) return 1;
        double half = power(base, n / 2);
        bool odd = n & 1;
        return odd ? half * half * base : half * half;
    }
    __device__ long long multiply(long long a, unsigned short n, bool negative) {
        if (n == 0) return negative ? -1 : 1;
        return a + multiply(a, n - 1, !negative);
    }
    HEAD
        out[2 * i] = (int)power(1.5, in[i] % 20);
        out[2 * i + 1] = (int)(multiply(5000000000ll + i, in[i] % 9, in[i] & 1) % 1000003);
    }""",
    32,
)  # fmt: skip
def recursion_of_64_bit_and_floating_values(i, v):
    n = v % 9
    return [int(1.5 ** (v % 20)), int(np.fmod((5000000000 + i) * n + (-1 if (v + n) & 1 else 1), 1000003))]


@each_thread(
    """__device__ __noinline__ int collatz(int n, int steps) {
        if (n <= 1) return steps;
        if (steps > 30) return -1;
        if (n % 2) return collatz(3 * n + 1, steps + 1);
        return collatz(n / 2, steps + 1);
    }
    HEAD
        int v = collatz(in[i], 0);
        out[i] = v + __popc(__activemask());
    }""",
    in_order=True,
)
def early_returns_meet_again_after_the_call(i, v):
    steps = 0
    while v > 1 and steps <= 30:
        v, steps = 3 * v + 1 if v % 2 else v // 2, steps + 1
    return (steps if v <= 1 else -1) + 32


# ---------------------------------------------------------------- pointers


OPERATIONS = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: int(np.fmod(a * b, 1009)), max]


def evaluate(data, at, depth):
    v = data[at % 64]
    if depth == 0:
        return v % 50
    return OPERATIONS[v & 3](evaluate(data, 2 * at + 1, depth - 1), evaluate(data, 2 * at + 2, depth - 1))


@each_thread(
    """typedef int (*Operation)(int, int);
    __device__ int add(int a, int b) { return a + b; }
    __device__ int subtract(int a, int b) { return a - b; }
    __device__ int multiply(int a, int b) { return a * b % 1009; }
    __device__ int larger(int a, int b) { if (a > b) return a; return b; }
    __constant__ Operation table[4] = {add, subtract, multiply, larger};
    __device__ int evaluate(const int* code, int at, int depth) {
        if (depth == 0) return code[at % 64] % 50;
        int a = evaluate(code, 2 * at + 1, depth - 1), b = evaluate(code, 2 * at + 2, depth - 1);
        return table[code[at % 64] & 3](a, b);
    }
    HEAD out[i] = evaluate(in, i, 3); }""",
    check=True,
)  # fmt: skip
def an_evaluator_with_a_table_of_functions(i, v, data):
    return evaluate(data, i, 3)


@each_thread(
    """typedef int (*Point)(int, int);
    __device__ int sum(int a, int b) { return a + b; }
    __device__ int less(int a, int b) { return a > b ? 255 : a - b; }
    __device__ Point table[3] = {sum, less, sum};
    HEAD int total = 0; for (int which = 0; which < in[0] % 3 + 2; which++) total = table[which % 3](total, in[i]); out[i] = total; }""",
    48,
)  # fmt: skip
def a_pointer_that_the_whole_warp_calls(i, v, data):
    total = 0
    for which in range(data[0] % 3 + 2):
        total = (255 if total > v else total - v) if which % 3 == 1 else total + v
    return total


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


@each_thread(
    SHAPES
    + """HEAD
        Square square(in[i]);
        Circle circle(in[i]);
        const Shape* one = i % 3 ? (const Shape*)&square : &circle;
        Twice twice(one);
        Twice four(&twice);
        const Shape* shape = i % 4 == 0 ? one : i % 4 == 1 ? (const Shape*)&twice : (const Shape*)&four;
        out[i] = (int)shape->area() * 100 + shape->corners();
    }"""
)
def virtual_methods_of_different_types_in_one_warp(i, v):
    factor = (1, 2, 4, 4)[i % 4]
    return (v * v if i % 3 else 3 * v * v) * factor * 100 + (4 if i % 3 else 0) * factor


@each_thread("""typedef int (*Callback)(int);
    __device__ int triple(int v) { return 3 * v; }
    __device__ int square(int v) { return v * v; }
    __device__ Callback chosen = square;
    template <Callback f> __device__ int fixed(int v) { return f(v) + 1; }
    __device__ __noinline__ int apply(Callback f, int v, int times) {
        for (int j = 0; j < times; ++j) v = f(v) % 1000;
        return v;
    }
    HEAD
        Callback f = in[i] & 1 ? triple : square;
        out[i] = apply(f, in[i], i % 3) + fixed<triple>(i) + chosen(i);
        if (in[i] % 3 == 0) out[i] += apply(chosen, 2, 2);
    }""")
def callbacks_as_arguments_template_parameters_and_globals(i, v):
    r = v
    for _ in range(i % 3):
        r = (3 * r if v & 1 else r * r) % 1000
    return r + 3 * i + 1 + i * i + (16 if v % 3 == 0 else 0)


@each_thread("""struct Step { float (*f)(float, char); char by; };
    __device__ float up(float v, char by) { return v + by; }
    __device__ float scale(float v, char by) { return v * by; }
    HEAD
        Step steps[3] = {{up, (char)i}, {scale, 3}, {up, -5}};
        float v = in[i];
        for (int j = i % 3; j < 3 + i % 3; ++j) v = steps[j % 3].f(v, steps[j % 3].by);
        out[i] = (int)v;
    }""")
def members_of_structures_that_are_functions(i, v):
    for j in range(i % 3, 3 + i % 3):
        v = (v + i, v * 3, v - 5)[j % 3]
    return v


# ---------------------------------------------------------------- nesting and meeting


FORTY = ["__device__ __noinline__ int f0(int v) { return v + 1; }"]
FORTY += [f"__device__ __noinline__ int f{n}(int v) {{ if (v % {n + 2} == 0) return v; return f{n - 1}(v + {n}) + 1; }}"
          for n in range(1, 40)]  # fmt: skip


@each_thread("\n".join([*FORTY, "HEAD out[i] = f39(in[i]); }"]))
def forty_functions_deep(i, v):
    below = 0
    for n in range(39, 0, -1):
        if v % (n + 2) == 0:
            return v + below
        v, below = v + n, below + 1
    return v + 1 + below


DOUBLING = ["__device__ __noinline__ int f0(int v) { return v * 3 % 11; }"]
DOUBLING += [
    f"__device__ __noinline__ int f{n}(int v) {{ return f{n - 1}(v) + f{n - 1}(v + 1); }}" for n in range(1, 12)
]


def many(n, v):
    return v * 3 % 11 if n == 0 else many(n - 1, v) + many(n - 1, v + 1)


@each_thread("\n".join([*DOUBLING, "HEAD if (i == 0) out[i] = f11(in[i]); else out[i] = f3(i); }"]), 4, long=True)
def many_calls_of_one_function_do_not_multiply_the_code(i, v):
    return many(3, i) if i else many(11, v)


@c(
    """__device__ void reduce(int* s, int width) {
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
    }""",
    3, 128,
)  # fmt: skip
def barriers_in_recursion_on_the_uniform_path(random):
    data = integers(3 * 128)
    return (data, np.zeros(3, i4)), {1: data.reshape(3, 128).sum(axis=1)}


@each_thread(
    """__device__ int sum(int v, int width) {
        if (width == 0) return v;
        return sum(v + __shfl_xor_sync(0xffffffff, v, width), width / 2);
    }
    __device__ __noinline__ int scan(int v, int by) {
        int below = __shfl_up_sync(0xffffffff, v, by);
        if ((threadIdx.x & 31) >= by) v += below;
        return by == 16 ? v : scan(v, by * 2);
    }
    HEAD out[i] = sum(in[i], 16) * 10000 + scan(in[i], 1); }""",
    64, integers(64, 0, 20),
)  # fmt: skip
def shuffles_in_recursion(i, v, data):
    first = i // 32 * 32
    return sum(data[first : first + 32]) * 10000 + sum(data[first : i + 1])


@each_thread(
    """__device__ __noinline__ int descend(int n, int lane) {
        int below = n > 0 ? descend(n - 1, lane) : lane;
        return below + n;
    }
    __device__ __noinline__ int after(int n, int v) {
        int mine = descend(n, v);
        return __shfl_xor_sync(0xffffffff, mine, 1) + __ballot_sync(0xffffffff, mine & 1) % 1000;
    }
    typedef int (*F)(int, int);
    __device__ F table[2] = {after, descend};
    HEAD out[i] = table[in[i] > 1000](i % 5, i); }""",
    32,
)  # fmt: skip
def shuffles_after_lanes_took_different_ways(i, v):
    mine = [sum(range(lane % 5 + 1)) + lane for lane in range(32)]
    ballot = sum((m & 1) << lane for lane, m in enumerate(mine))
    return mine[i ^ 1] + ballot % 1000


@each_thread("""__device__ __noinline__ void spread(int* out, int from, int to, int v) {
        if (from == to) { atomicAdd(&out[from], v); return; }
        int middle = (from + to) / 2;
        spread(out, from, middle, v + 1);
        spread(out, middle + 1, to, v + 2);
    }
    HEAD if (i % 8 == 0) spread(out, i, i + 7, in[i]); }""")
def tail_calls_and_calls_without_results(i, v, data):
    return data[i - i % 8] + sum(1 + (i >> b & 1) for b in range(3))


@c(
    """.version 8.0
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
    """,
    1, 32,
)  # fmt: skip
def guarded_calls_and_returns(random):
    return (np.zeros(32, i4),), {0: [sum(range(t, 0, -2)) if t > 9 else t // 2 * 1000 for t in range(32)]}
