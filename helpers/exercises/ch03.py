"""Exercises on the memory hierarchy: an array into registers, a table into shared memory, bytes on and off the chip."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Exercise, Mistake, thread_1d
from helpers.checking.one_a_thread import reached_out_from_inside
from helpers.exercises import ch03_cases as cases
from helpers.exercises.ch03_cases import BLOCK, ENDED, ENTRIES, RACE, SIZES, UNWRITTEN

EXERCISES = (
    Exercise(
        key="ch03.ranks",
        title="the k-th smallest of four, in registers",
        language="cuda",
        name="ranks",
        cases=lambda: [cases.rank_case(n) for n in SIZES],
        measured=lambda: cases.rank_case(4096),
        thread_of=thread_1d,
        budgets=(
            Budget(
                "local requests",
                lambda profile: profile["local_requests"],
                0,
                "An array with an index that only the running thread knows lives in local memory.",
                "local_store_requests",
            ),
            Budget(
                "bytes of shared memory a block",
                lambda profile: profile.resources.shared_bytes,
                0,
                "Shared memory is for what threads hand to one another; these four values are one thread's.",
            ),
            Budget(
                "global load requests for 4,096 fours",
                lambda profile: profile["global_read_requests"],
                640,
                "128 warps load four values and one k each: 640 requests.",
            ),
        ),
        mistakes=(
            Mistake(
                "the four are not sorted",
                known.gives(cases.unsorted),
                "This stores the k-th as they come. Sort them first, or count for each how many are smaller.",
            ),
            Mistake(
                "counted from the largest",
                known.gives(cases.from_above),
                "k = 0 asks for the smallest: the order is turned round.",
            ),
            Mistake(
                "always the smallest",
                known.gives(cases.smallest),
                "Every thread stores the smallest of its four. Which one is asked for stands in k[i].",
            ),
            Mistake(
                "sorted, and the wrong one is chosen",
                cases.another_rank,
                "For each k it is always the same place of the sorted four, but not the k-th: k = 0 asks for the "
                "smallest, k = 3 for the largest. Mind a missing `break`, and = in place of ==.",
            ),
            Mistake(
                "not wholly sorted",
                cases.another_of_the_four,
                "Each result is one of the right four, but not always the k-th. Four values take five exchanges: try "
                "yours by hand on 4, 3, 2, 1. And the k of thread i is k[i].",
            ),
            Mistake(
                "equal values are left out",
                cases.ties_left_out,
                "Where two of the four are equal, no value has just k smaller ones, and nothing is written. Among "
                "equals let the first count as the smaller: < to one side, <= to the other.",
            ),
            Mistake(
                "shared memory that the launch does not give",
                known.past_shared,
                "The launch asks for no dynamic shared memory, and none is needed: the four are one thread's own.",
            ),
            Mistake(
                "the index leads out of an array",
                reached_out_from_inside,
                "It is not the guard: a thread that has a four has left an array. Thread i reads x[4 * i] to "
                "x[4 * i + 3] and k[i], and writes out[i].",
            ),
            Mistake("no guard", known.out_of_bounds, "The last block has threads without a four: if (i < n)."),
            Mistake(
                "the wrong four",
                cases.strangers,
                "Some results are none of the thread's own values. Thread i has x[4 * i] to x[4 * i + 3].",
            ),
            Mistake(
                "moved to shared memory",
                known.over("bytes of shared memory a block"),
                "Right, and no longer local. But shared memory is a block's, and here nothing is shared; it also "
                "limits how many blocks an SM can hold. Four plain variables are enough.",
            ),
            Mistake(
                "an index that the compiler does not know",
                known.over("local requests"),
                "The result is right, but some index is a variable when the kernel runs, so the array needs addresses, "
                "and registers have none.",
            ),
            Mistake(
                "loaded again",
                known.over("global load requests for 4,096 fours"),
                "The result is right, but a value that was in a register is fetched from global memory once more, or a "
                "warp loads for some of its lanes only.",
            ),
        ),
        hints=(
            "Call them a, b, c and d: four variables need no index at all.",
            "Five exchanges sort four values: (a, b), (c, d), (a, c), (b, d), (b, c). Each puts the smaller one first, "
            "with fminf and fmaxf.",
            "At the end choose without an index: k[i] == 0 ? a : k[i] == 1 ? b : k[i] == 2 ? c : d.",
        ),
        solution="""
#define EXCHANGE(p, q) { float smaller = fminf(p, q); q = fmaxf(p, q); p = smaller; }
extern "C" __global__ void ranks(const float* x, const int* k, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
    EXCHANGE(a, b) EXCHANGE(c, d) EXCHANGE(a, c) EXCHANGE(b, d) EXCHANGE(b, c)
    int which = k[i];
    out[i] = which == 0 ? a : which == 1 ? b : which == 2 ? c : d;
}
""",
        why=(
            "Nothing here has an index that a thread computes, so every value can be a register: the compiler reports "
            "no stack frame. The five exchanges are the same for all lanes, so no lane waits for another; chapter 08 "
            "is about that."
        ),
        stretch="load the four with one float4 and watch the global load requests fall to 256.",
    ),
    Exercise(
        key="ch03.table",
        title="a table of 256 floats in shared memory, in Numba",
        language="numba",
        name="look_up",
        cases=lambda: [cases.table_case(n) for n in SIZES],
        measured=lambda: cases.table_case(8192),
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
        mistakes=(
            Mistake(
                "a barrier that not every thread reaches",
                known.never_come,
                "Every thread of the block must come to the barrier, also those without an element: guard the look-up, "
                "not the barrier.",
            ),
            Mistake(
                "threads left before they had helped to fill the table",
                known.both(UNWRITTEN, ENDED),
                "A thread without an element returns at once, and its entries of the table stay empty. Let it fill its "
                "part first.",
            ),
            Mistake(
                "a part of the table is never filled",
                UNWRITTEN,
                "There are 256 entries and 128 threads: each has to fill two, and so in every block, whether it has an "
                "element or not. Count with threadIdx.x, as the index of the grid goes on from block to block.",
            ),
            Mistake(
                "several threads fill one entry",
                known.both(
                    known.found("race_write_write", "race_lanes"), lambda e: not known.found("race_read_write")(e)
                ),
                "Two threads write one entry of the table, and nothing orders them. Thread t fills the entries t and "
                "t + 128, and no other.",
            ),
            Mistake(
                "a barrier is missing",
                RACE,
                "A thread looks up an entry that another may not have filled yet. Between the two all must meet: "
                "cuda.syncthreads().",
            ),
            Mistake(
                "past the end of the shared table",
                known.past_shared,
                "The table in shared memory needs all 256 entries, and only threadIdx.x and which[i] lead into it: "
                "the index of the grid goes on to out.size.",
            ),
            Mistake("no guard", known.out_of_bounds, "The last block has threads without an element: i < out.size."),
            Mistake(
                "a copy for each thread",
                known.over("local requests"),
                "Right, but every thread fills a table of its own, and with an index that only it knows that is local "
                "memory. One table for the block is enough.",
            ),
            Mistake(
                "every thread fills the whole table",
                lambda e: known.spent(e, "shared store requests") >= 4 * 64 * ENTRIES,
                "Right, but each of the 4 warps of a block stores every entry, one at a time. The block needs one "
                "table: thread t fills the entries t and t + 128.",
            ),
            Mistake(
                "one lane fills the table for all",
                known.over("shared store requests"),
                "Right, but a store fills one entry, or a few, while most lanes wait. Let neighbours fill "
                "neighbouring entries.",
            ),
            Mistake(
                "the table stays in global memory",
                known.both(
                    known.over("sectors loaded for 8,192 look-ups"),
                    lambda e: known.spent(e, "shared store requests") == 0,
                ),
                "Right, but 32 lanes look up 32 entries far apart, and each wants a sector of its own.",
            ),
            Mistake(
                "more is loaded than the table",
                known.over("sectors loaded for 8,192 look-ups"),
                "Right, and shared memory is filled, yet global memory is asked for more than the table, once a block, "
                "and `which`. Does a look-up still read `table`? Do neighbouring threads load far apart?",
            ),
            Mistake(
                "`which` is not used",
                known.gives(lambda case: case.arguments[1][np.arange(case.out.expected.size) % BLOCK]),
                "Each thread stores the entry of its own number. Which one is asked for stands in which[i].",
            ),
            Mistake(
                "the fractions are lost",
                known.gives(lambda case: np.trunc(case.out.expected)),
                "The shared array holds whole numbers. The table is float32: declare the array so.",
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
        why=(
            "A block loads the table once, side by side, 32 sectors; after that a look-up costs no sector at all. "
            "Constant memory would not do: it hands out one address at a time, and here a warp asks for up to 32."
        ),
        stretch="let each thread look up eight values: the table is loaded by an eighth of the blocks.",
    ),
    Exercise(
        key="ch03.bytes",
        title="bytes of a block, on the chip and off it",
        language="python",
        name="bytes_of_block",
        cases=cases.bytes_cases,
        mistakes=(
            Mistake(
                "local memory counted as on chip",
                known.gives(lambda case: (sum(cases.near(*case.arguments)), 0)),
                "Local memory is a thread's own, and yet it lies in DRAM.",
            ),
            Mistake(
                "not a pair of numbers",
                lambda e: any(not isinstance(o.got, tuple) or len(o.got) != 2 for o in e.outcomes if not o.error),
                "Asked is a tuple of two, as `return a, b` gives it: bytes on the chip, then bytes off it.",
            ),
            Mistake(
                "on and off the chip swapped",
                known.gives(lambda case: cases.near(*case.arguments)[::-1]),
                "The first number is what lies on the chip, the second what lies off it.",
            ),
            Mistake(
                "bits counted as bytes",
                known.gives(
                    lambda case: (
                        cases.near(*case.arguments)[0] + 28 * case.arguments[0] * case.arguments[1],
                        cases.near(*case.arguments)[1],
                    )
                ),
                "A register has 32 bits, which are 4 bytes.",
            ),
            Mistake(
                "a register counted as one byte",
                known.gives(
                    lambda case: (
                        cases.near(*case.arguments)[0] - 3 * case.arguments[0] * case.arguments[1],
                        cases.near(*case.arguments)[1],
                    )
                ),
                "A register has 32 bits, which are 4 bytes.",
            ),
            Mistake(
                "shared memory counted for each thread",
                known.gives(
                    lambda case: (
                        case.arguments[0] * (4 * case.arguments[1] + case.arguments[2]),
                        cases.near(*case.arguments)[1],
                    )
                ),
                "There is one piece of shared memory for the whole block.",
            ),
            Mistake(
                "local memory counted once a block",
                known.gives(lambda case: (cases.near(*case.arguments)[0], case.arguments[3])),
                "Each thread has local memory of its own.",
            ),
            Mistake(
                "registers counted once a block",
                known.gives(lambda case: (4 * case.arguments[1] + case.arguments[2], cases.near(*case.arguments)[1])),
                "Each thread has registers of its own.",
            ),
            Mistake(
                "shared memory counted as off chip",
                known.gives(lambda case: cases.moved(case, -case.arguments[2], case.arguments[2])),
                "Shared memory lies in the SM, beside the registers.",
            ),
            Mistake(
                "registers counted as off chip",
                known.gives(
                    lambda case: cases.moved(case, -cases.counted_registers(case), cases.counted_registers(case))
                ),
                "Registers lie in the SM. A thread's own memory is off the chip only where it is local.",
            ),
            Mistake(
                "a register counted as eight bytes",
                known.gives(lambda case: cases.moved(case, cases.counted_registers(case), 0)),
                "A register has 32 bits, which are 4 bytes.",
            ),
            Mistake(
                "bytes counted as words",
                lambda e: any(
                    known.gives(
                        lambda case, s=shared, n=local: cases.moved(
                            case, 3 * s * case.arguments[2], 3 * n * case.arguments[0] * case.arguments[3]
                        )
                    )(e)
                    for shared, local in ((1, 0), (0, 1), (1, 1))
                ),
                "Registers are counted in words of 4 bytes; shared and local memory are given in bytes.",
            ),
            Mistake(
                "local memory counted twice",
                known.gives(lambda case: cases.moved(case, case.arguments[0] * case.arguments[3], 0)),
                "Local memory lies off the chip, and there alone.",
            ),
            Mistake(
                "that is one thread's",
                known.gives(lambda case: (4 * case.arguments[1] + case.arguments[2], case.arguments[3])),
                "A block has `threads` threads, each with registers and local memory of its own.",
            ),
            Mistake(
                "one of the three is left out",
                lambda e: any(
                    known.gives(w)(e)
                    for w in (
                        lambda case: cases.moved(case, -case.arguments[2], 0),
                        lambda case: cases.moved(case, -cases.counted_registers(case), 0),
                        lambda case: (cases.near(*case.arguments)[0], 0),
                    )
                ),
                "On the chip are registers and shared memory, off it is local memory.",
            ),
        ),
        hints=(
            "Which of the three are a thread's own, and which one is the block's?",
            "Registers and shared memory lie in the SM, local memory does not.",
            "On the chip: threads * registers * 4 + shared. Off it: threads * local.",
        ),
        solution="""
def bytes_of_block(threads, registers, shared, local):
    return threads * registers * 4 + shared, threads * local
""",
        why=(
            "Registers and local memory belong to a thread, so they count once for each; shared memory belongs to the "
            "block. Only local memory is off the chip, and its cached part takes room in L1."
        ),
        stretch="an SM has 65,536 registers: how many such blocks could it hold, going by registers alone?",
    ),
)
