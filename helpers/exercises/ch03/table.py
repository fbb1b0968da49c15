"""Looking up in a table of 256 floats that each block first fetches into shared memory."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d

BLOCK = 128
ENTRIES = 256


def _case(n: int) -> Case:
    generator = np.random.default_rng(n)
    which, table = generator.integers(0, ENTRIES, n).astype(np.int32), numbers(ENTRIES, seed=n + 7)
    return Case(plural(n, "look-up"), (which, table, Out(table[which])), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch03.table",
    title="a table of 256 floats in shared memory, in Numba",
    language="numba",
    name="look_up",
    cases=lambda: [_case(n) for n in (1, 3, 127, 128, 129, 500, 1021)],
    measured=lambda: _case(8192),
    thread_of=thread_1d,
    sanitize=True,
    budgets=(
        Budget(
            "local requests",
            lambda profile: profile["local_requests"],
            0,
            "A table of its own for each thread is a local array.",
            "local_store_requests",
        ),
        Budget(
            "shared store requests",
            lambda profile: profile["shared_write_requests"],
            600,
            "64 blocks store 256 floats each, 32 at a time: 512 requests.",
            "shared_store_requests",
        ),
        Budget(
            "sectors loaded for 8,192 look-ups",
            lambda profile: profile["global_read_sectors"],
            5400,
            "A block loads the table once, in 32 sectors, and 16 sectors of `which`: 64 · 48 = 3,072; with two "
            "neighbouring entries a thread 5,120.",
        ),
    ),
    hints=(
        "One array for the block: cuda.shared.array(256, 'float32'). Who fills entry 200?",
        "Thread t fills the entries t and t + 128; then all meet; then each looks up its own.",
        "for k in range(t, 256, 128): mine[k] = table[k] — then cuda.syncthreads() — then, if i < out.size: "
        "out[i] = mine[which[i]].",
    ),
    solution="""
@cuda.jit
def look_up(which, table, out):
    near = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(t, 256, 128):
        near[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = near[which[i]]
""",
    why="A block loads the table once, side by side, 32 sectors; after that a look-up costs no sector at all. Constant "
    "memory would not do: it hands out one address at a time, and here a warp asks for up to 32.",
    stretch="let each thread look up eight values: the table is loaded by an eighth of the blocks.",
    equivalent=(
        (("cuda.shared.array(256", "cuda.shared.array(257"), "one entry is spare"),
        (("range(t, 256, 128)", "range(t, 256, 127)"), "two entries are filled twice, with the same value"),
    ),
    mistakes=(
        Mistake(
            "threads left before they had helped to fill the table",
            "A thread without an element leaves out its part, and its entries of the table stay empty. Let it fill its "
            "part first.",
            (("cuda.threadIdx.x\n", "cuda.threadIdx.x\n    if i >= out.size:\n        return\n"),),
        ),
        Mistake(
            "a part of the table is never filled",
            "There are 256 entries and 128 threads: each has to fill two, and so in every block, whether it has an "
            "element or not. Count with threadIdx.x, as the index of the grid goes on from block to block.",
            (("range(t, 256, 128)", "range(t, 128)"), ("range(t,", "range(i,"),
             ("for k in range(t, 256, 128):\n        near[k] = table[k]", "near[t] = table[t]")),
        ),
        Mistake(
            "several threads fill one entry",
            "Two threads write one entry of the table, and nothing orders them. Thread t fills the entries t and "
            "t + 128, and no other.",
            (("256, 128)", "256)"), ("256, 128)", "256, 64)")),
        ),
        Mistake(
            "a barrier is missing",
            "A thread looks up an entry that another may not have filled yet. Between the two all must meet: "
            "cuda.syncthreads().",
            (("    cuda.syncthreads()\n", ""),),
        ),
        Mistake(
            "past the end of the shared table",
            "The table in shared memory needs all 256 entries, and only threadIdx.x and which[i] lead into it: the "
            "index of the grid goes on to out.size.",
            (("array(256", "array(128"), ("near[which[i]]", "near[i]")),
        ),
        Mistake(
            "every thread fills the whole table",
            "Right, but each of the 4 warps of a block stores every entry, one at a time. The block needs one table: "
            "thread t fills the entries t and t + 128.",
            (("range(t, 256, 128)", "range(256)"),),
        ),
        Mistake(
            "the table stays in global memory",
            "Right, but 32 lanes look up 32 entries far apart, and each wants a sector of its own.",
            ("    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = table[which[i]]",),
        ),
        Mistake(
            "`which` is not used",
            "Each thread stores the entry of its own number. Which one is asked for stands in which[i].",
            (("near[which[i]]", "near[t]"),),
        ),
    ),
)  # fmt: skip
