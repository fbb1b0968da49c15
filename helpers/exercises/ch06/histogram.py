"""How often each value occurs: counted in the block's own memory, and added up once."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, plural

BLOCK, BLOCKS = 128, 4
SET, BARRIER = "if (t < bins) mine[t] = 0;", "    __syncthreads();\n"
ADD = "if (t < bins) atomicAdd(&counts[t], mine[t]);"
LOOP = "for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)"
COUNT = "atomicAdd(&mine[values[i]], 1);"


def _case(n: int, bins: int, hot: int | None = None) -> Case:
    values = np.random.default_rng(n).integers(0, bins, n, np.int32)
    if hot is not None:
        values[:] = hot
    wanted = np.bincount(values, minlength=bins).astype(np.int32)
    name = f"{plural(n, 'value')} in {plural(bins, 'bin')}" + ("" if hot is None else ", all in one")
    arguments = (values, Out(wanted, initial=np.zeros(bins, np.int32)), np.int32(n), np.int32(bins))
    return Case(name, arguments, (BLOCKS,), (BLOCK,))


EXERCISE = Exercise(
    key="ch06.histogram",
    title="a histogram within a budget of atomics, in CUDA C",
    language="cuda",
    name="histogram",
    cases=lambda: [
        _case(1, 1), _case(31, 7), _case(1000, 64, hot=5), _case(1021, 61),
        _case(916, 64), _case(4096, 64),  # of 916, a few threads of the last block have a second value
    ],
    measured=lambda: _case(8192, 64),
    budgets=(
        Budget(
            "global atomic requests for 8,192 values",
            lambda profile: profile["global_update_requests"],
            2 * BLOCKS,
            "64 bins are two requests of a warp. Count in shared memory, and add each block's bins to the global ones "
            "once.",
            "global_atomic_requests",
        ),
    ),
    sanitize=True,
    also_wrong=("barrier_ended",),
    hints=(
        "Give each block bins of its own in shared memory; the global ones get one sum a block.",
        "Three parts with a barrier between each: set to zero, count with a loop over the values, add up.",
        "if (t < bins) mine[t] = 0; __syncthreads(); for (…) atomicAdd(&mine[values[i]], 1); __syncthreads(); "
        "if (t < bins) atomicAdd(&counts[t], mine[t]);",
    ),
    solution="""
extern "C" __global__
void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    if (t < bins) mine[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[values[i]], 1);
    __syncthreads();
    if (t < bins) atomicAdd(&counts[t], mine[t]);
}
""",
    why="Counting happens in the block's own memory, where only 128 threads compete. Each block then adds its 64 "
    "bins with two requests, whatever the number of values. The barriers stand outside every `if`: a thread "
    "without a bin still has to arrive.",
    stretch="give each warp bins of its own (4 × 64). What happens to the shared wavefronts when all values agree?",
    equivalent=((("mine[64]", "mine[65]"), "a bin more than is used"),),
    mistakes=(
        Mistake(
            "a barrier is missing",
            "Two barriers: one between setting bins to zero and counting, one between counting and adding up.",
            (
                (SET + "\n" + BARRIER, SET + "\n"), (COUNT + "\n" + BARRIER, COUNT + "\n"), (BARRIER, ""),
                (SET + "\n" + BARRIER, "if (t == 0) for (int b = 0; b < bins; ++b) mine[b] = 0;\n"),
            ),
        ),
        Mistake(
            "counts are set to zero by every block",
            "One block sets `counts` to 0, or stores to it, while another may have added already, and nothing orders "
            "blocks. `counts` come as zeros: only add to them.",
            (("mine[t] = 0;", "{ mine[t] = 0; counts[t] = 0; }"),),
        ),
        Mistake(
            "the private bins do not start at zero",
            "Shared memory holds whatever lay there. Let the threads set the bins to zero, then a barrier.",
            ((SET, ""),),
        ),
        Mistake(
            "counted without an atomic",
            "Adding is a read, a sum and a write. Of two threads that add to one bin at once, one count is lost.",
            ((COUNT, "mine[values[i]]++;"), f"int t = threadIdx.x; {LOOP} counts[values[i]]++;"),
        ),
        Mistake(
            "the last block wins",
            "Every block has bins of its own. Storing them overwrites what others stored: add them, atomically.",
            ((ADD, "if (t < bins) counts[t] = mine[t];"),),
        ),
        Mistake(
            "more threads than bins",
            "A block has 128 threads and at most 64 bins: declare 64, set a bin to zero, and add it up, only if "
            "t < bins.",
            ((SET, "mine[t] = 0;"),),
        ),
        Mistake(
            "counted many times over",
            "Every bin holds the right number several times. Each value has one thread of the whole grid, and each bin "
            "of a block is added up by one thread of it.",
            (
                (LOOP, "for (int i = 0; i < n; ++i)"), (ADD, "for (int b = 0; b < bins; ++b) atomicAdd(&counts[b], "
                 "mine[b]);"), (LOOP, "for (int i = t; i < n; i += blockDim.x)"),
            ),
        ),
        Mistake(
            "the counts of one block alone",
            "The bins hold what one block has counted. Each block adds its own bins, with atomicAdd: anything else "
            "overwrites what the others have brought.",
            (("if (t < bins) atomicAdd(&c", "if (blockIdx.x == 0 && t < bins) atomicAdd(&c"),),
        ),
        Mistake(
            "the values are added up",
            "A value says which bin; what is added to the bin is 1.",
            (("]], 1", "]], values[i]"),),
        ),
        Mistake(
            "one value a thread",
            "512 threads looked at 512 values and stopped. Step on by gridDim.x * blockDim.x until n.",
            ((LOOP, "int i = blockIdx.x * blockDim.x + t; if (i < n)"),),
        ),
        Mistake(
            "atomics on global memory",
            "Right, with too many requests: one for each warp's values, or one for each bin where threads add up "
            "alone. Count in shared memory, then let 64 threads add a bin each.",
            (f"int t = threadIdx.x; {LOOP} atomicAdd(&counts[values[i]], 1);",
             (ADD, "if (t == 0) for (int b = 0; b < bins; ++b) atomicAdd(&counts[b], mine[b]);")),
        ),
    ),
)  # fmt: skip
