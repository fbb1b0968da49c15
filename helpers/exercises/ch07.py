"""Exercises on reductions and scans: few barriers, few atomics, and every size right."""

from __future__ import annotations

from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Exercise
from helpers.exercises import ch07_cases as given
from helpers.exercises import ch07_mistakes as found

EXERCISES = (
    Exercise(
        key="ch07.row_max",
        title="the greatest of each row, in CUDA C",
        language="cuda",
        name="row_max",
        cases=given.rows_cases,
        measured=lambda: given.rows_case(4, 4096),
        budgets=(given.BARRIERS, given.SHARED, given.LOADS, given.SECTORS, SHARED_OUT),
        sanitize=True,
        mistakes=found.ROW_MAX,
        hints=(
            "Three parts: each thread's own greatest, that of its warp by shuffles, that of the four warps.",
            "for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d)); leaves it in "
            "lane 0.",
            "Lane 0 of each warp stores to s[t / 32]; __syncthreads(); if (t < 32) the first warp takes s[t % 4] and "
            "shuffles again, by 2 and by 1.",
        ),
        solution="""
extern "C" __global__
void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * n;
    float best = row[0];
    for (int i = t; i < n; i += blockDim.x) best = fmaxf(best, row[i]);
    for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
    if (t % 32 == 0) s[t / 32] = best;
    __syncthreads();
    if (t < 32) {
        best = s[t % 4];
        for (int d = 2; d > 0; d /= 2) best = fmaxf(best, __shfl_down_sync(0xffffffff, best, d));
        if (t == 0) out[blockIdx.x] = best;
    }
}
""",
        why=(
            "Most of the work, a row's elements, is done by each thread alone, without any barrier. Shuffles bring 32 "
            "threads down to one in five steps; one barrier and four floats of shared memory join the warps. "
            "The row's first element is a good start for everybody: a maximum may meet an element twice, so threads "
            "without an element of their own may come along with it."
        ),
        stretch="softmax of a row takes its maximum, then a sum of exponentials. Reuse both parts in one kernel.",
    ),
    Exercise(
        key="ch07.dot",
        title="a dot product, in Numba",
        language="numba",
        name="dot",
        cases=lambda: [given.dot_case(n) for n in (1, 31, 97, 512, 1021, 4096)],
        measured=lambda: given.dot_case(8192),
        budgets=(given.ATOMICS, given.DOT_LOADS, given.DOT_SECTORS, given.SHARED_OUT),
        sanitize=True,
        mistakes=found.DOT,
        hints=(
            "A product and a loop for each thread; the rest is the sum of a block.",
            "total += x[i] * y[i] for i from cuda.grid(1) in steps of cuda.gridsize(1); then shuffles within the warp.",
            "Lane 0 of each warp stores to s[t // 32]; cuda.syncthreads(); thread 0 adds s[0] to s[3] and calls "
            "cuda.atomic.add(out, 0, …) once.",
        ),
        solution="""
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(4, "float32")
    t, total = cuda.threadIdx.x, 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * y[i]
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
    if t % 32 == 0:
        s[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, s[0] + s[1] + s[2] + s[3])
""",
        why=(
            "A dot product is a sum with a product at the leaves: all of the ladder applies. Each thread adds many "
            "products by itself, five shuffles make one sum a warp, shared memory one a block, and four blocks make "
            "four atomics, whatever the length. `0.0` makes the running sum a double here: more exact, and slower on "
            "GPUs with few units for doubles."
        ),
        stretch="keep the running sum in single precision (np.float32) and compare counters and result.",
    ),
    Exercise(
        key="ch07.exclusive",
        title="an exclusive scan of a block of any size, in CUDA C",
        language="cuda",
        name="exclusive",
        cases=lambda: [given.scan_case(n) for n in (1, 2, 31, 33, 97, 256, 1021)],
        measured=lambda: given.scan_case(1024),
        budgets=(given.SCAN_LOADS, given.STEPS, given.LONGEST),
        sanitize=True,
        mistakes=found.EXCLUSIVE,
        hints=(
            "Make the inclusive scan by steps that double the distance, then hand each sum one place on.",
            "In a step: read s[t - d] into a register; barrier; add it to s[t]; barrier. All threads meet both.",
            "for (int d = 1; d < n; d *= 2) { int left = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += left; "
            "__syncthreads(); } then out[t] = t > 0 ? s[t - 1] : 0;",
        ),
        solution="""
extern "C" __global__
void exclusive(const int* x, int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[t] = t > 0 ? s[t - 1] : 0;
}
""",
        why=(
            "Hillis and Steele's scan needs no power of two: a thread whose left neighbour would lie outside adds 0. "
            "Two barriers keep reads and writes of a step apart, and both stand outside every `if`, so that a block of "
            "any size gets through. The shift at the end makes it exclusive."
        ),
        stretch="compact a block: keep the positive elements of x, in order, without holes, with one scan of flags.",
    ),
)
