"""Exercises on threads, warps, blocks and grids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Budget, Exercise, Mistake, cover, thread_1d
from helpers.checking.one_a_thread import LAST_LEFT_OUT, NO_GUARD, NOTHING_RETURNED, reached_out_from_inside
from helpers.exercises import ch02_cases as cases
from helpers.exercises.ch02_cases import BLOCK, GRID, SHAPES, TILE

EXERCISES = (
    Exercise(
        key="ch02.blocks",
        title="how many blocks",
        language="python",
        name="blocks",
        cases=cases.blocks_cases,
        mistakes=(
            Mistake(
                "rounded down",
                known.gives(lambda case: case.arguments[0] // case.arguments[1]),
                "n // threads drops the last, unfilled block, and its elements are never computed.",
            ),
            Mistake(
                "one block too many when it fits exactly",
                known.gives(lambda case: case.arguments[0] // case.arguments[1] + 1),
                "n // threads + 1 launches a block of idle threads whenever threads divides n.",
            ),
            Mistake(
                "rounded to the nearest",
                lambda e: any(
                    known.gives(lambda case, r=r: r(case.arguments[0] / case.arguments[1]))(e)
                    for r in (round, lambda n: int(n + 0.5))
                ),
                "To the nearest is down as often as up; a partly filled block still has to run.",
            ),
            Mistake(
                "a fraction of a block",
                lambda e: any(
                    known.gives(
                        lambda case, more=more: (case.arguments[0] + more * (case.arguments[1] - 1)) / case.arguments[1]
                    )(e)
                    for more in (0, 1)
                ),
                "A launch has whole blocks: round the quotient up. / keeps the fraction, // drops it.",
            ),
            Mistake(
                "the last block is lost",
                known.gives(lambda case: (case.arguments[0] - 1) // case.arguments[1]),
                "(n - 1) // threads is the index of the last block. Blocks are counted from 0, so there is one more.",
            ),
            Mistake(
                "threads divided by elements",
                known.gives(lambda case: cover(*case.arguments[::-1])),
                "That is how often the elements fit into a block. Asked is how many blocks the elements take.",
            ),
            Mistake(
                "brackets are missing",
                lambda e: any(
                    known.gives(lambda case, f=f: f(*case.arguments))(e)
                    for f in (lambda n, t: n + t - 1 // t, lambda n, t: n + (t - 1) // t)
                ),
                "// comes before +: only what stands right before it is divided. Put the whole sum in brackets.",
            ),
            Mistake(
                "a block size of your own",
                lambda e: any(
                    known.gives(lambda case, t=t: cover(case.arguments[0], t))(e) for t in (64, 128, 256, 512, 1024)
                ),
                "You divide by the same number in every case. How many threads a block has comes as an argument.",
            ),
            Mistake(
                "at least one block, and else rounded down",
                known.gives(lambda case: max(1, case.arguments[0] // case.arguments[1])),
                "Not only the first block may be partly filled: the last one may be, too.",
            ),
            NOTHING_RETURNED,
            Mistake(
                "threads counted, not blocks",
                known.gives(lambda case: cover(*case.arguments) * case.arguments[1]),
                "That is how many threads the launch has. Asked is the number of blocks, each of `threads` threads.",
            ),
            Mistake(
                "warps counted, not blocks",
                known.gives(lambda case: cover(case.arguments[0], 32)),
                "A warp has 32 threads, a block has `threads` of them.",
            ),
        ),
        hints=(
            "129 elements with 128 threads a block need 2 blocks; 128 need 1.",
            "You want the quotient rounded up, in whole numbers: // rounds down.",
            "Add threads - 1 before dividing: (n + threads - 1) // threads.",
        ),
        solution="""
def blocks(n, threads):
    return (n + threads - 1) // threads
""",
        why=(
            "Adding threads - 1 lifts any remainder over the next multiple and leaves exact multiples "
            "alone. Whole numbers "
            "stay exact where math.ceil(n / threads) rounds for very large n."
        ),
        stretch="Python has a two-sign trick for the same: -(-n // threads). Why does it work?",
    ),
    Exercise(
        key="ch02.bias",
        title="add a bias to every row, in CUDA C",
        language="cuda",
        name="add_bias",
        cases=lambda: [cases.bias_case(*shape) for shape in SHAPES],
        thread_of=thread_1d,
        mistakes=(
            Mistake(
                "the bias of the row",
                cases.bias_by_row,
                "A linear layer has one bias for each output, which is a column: bias[x], not bias[y].",
            ),
            Mistake(
                "the bias is left out",
                known.gives(lambda case: case.arguments[0]),
                "The matrix arrives as it was. Add bias[x] to the element of column x.",
            ),
            Mistake(
                "a row is taken to be as long as there are rows",
                cases.tall_only,
                "To go one row down you step over a whole row, and a row has `columns` elements: y * columns + x.",
            ),
            Mistake(
                "x is taken for the row",
                cases.not_square,
                "x runs along a row, so it counts columns; y counts rows. The launch gave x the columns to "
                "cover. "
                "Squares cannot tell the two apart, which is why 32 × 32 passes.",
            ),
            Mistake(
                "stored as the transposed matrix",
                known.gives(cases.transposed),
                "The element is loaded from y * columns + x and stored to x * rows + y. Here it keeps its place.",
            ),
            Mistake(
                "the matrix is left out",
                known.gives(lambda case: np.broadcast_to(case.arguments[1], case.out.expected.shape)),
                "Every row holds the bias alone. Add it to in[y * columns + x].",
            ),
            Mistake(
                "multiplied by the bias",
                known.gives(lambda case: case.arguments[0] * case.arguments[1]),
                "A bias is added.",
            ),
            Mistake(
                "the bias of another column",
                lambda e: any(
                    known.gives(lambda case, c=c: case.arguments[0] + case.arguments[1][c(case)])(e)
                    for c in (lambda case: 0, lambda case: np.arange(case.arguments[1].size) % TILE[0])
                ),
                "Column x of the matrix has bias[x], with x counted in the matrix, and not in a block.",
            ),
            Mistake(
                "the elements are counted down the columns",
                known.gives(cases.column_by_column),
                "x * rows + y walks down a column. In a C array a row lies in one piece: y * columns + x.",
            ),
            Mistake(
                "the index leads out of an array",
                reached_out_from_inside,
                "It is not the guard: a thread whose element exists has left an array. The element of column x and row "
                "y is y * columns + x in `in` and `out`, and its bias is bias[x]; in, bias, out is their order.",
            ),
            Mistake(
                "no guard in one direction",
                known.out_of_bounds,
                "Blocks are 16 × 8. Past the right edge and past the bottom edge there are threads without "
                "an element: "
                "the guard needs both x < columns and y < rows, joined by &&.",
            ),
            NO_GUARD,
            Mistake(
                "a part of the matrix is never written",
                lambda e: known.untouched_somewhere(e) and not known.nothing_written(e),
                "The launch covers columns by x and rows by y, with several blocks in either direction: both indices "
                "are blockIdx * blockDim + threadIdx, each by its own letter, and the guard lets all through with "
                "x < columns and y < rows.",
            ),
        ),
        hints=(
            "Two indices: x from the .x members, y from the .y members.",
            "x < columns and y < rows guard; the element is y * columns + x.",
            "out[y * columns + x] = in[y * columns + x] + bias[x];",
        ),
        solution="""
extern "C" __global__
void add_bias(const float* in, const float* bias, float* out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows)
        out[y * columns + x] = in[y * columns + x] + bias[x];
}
""",
        why=(
            "x is the fast direction, along a row, in CUDA and in the layout of a C array alike. Keep the "
            "two together and "
            "the index is y * columns + x; the guard has one condition for each direction."
        ),
        stretch="add a third direction: a batch of matrices, with blockIdx.z choosing the matrix.",
    ),
    Exercise(
        key="ch02.stride",
        title="a grid-stride loop in Numba",
        language="numba",
        name="square",
        cases=lambda: [cases.square_case(n) for n in (1, 63, 64, 127, 128, 129, 257, 1000)],
        measured=lambda: cases.square_case(4096),
        budgets=(
            Budget(
                "stores per element",
                cases.written_once,
                1.0,
                "Each element is written more than once: the threads repeat each other's work. Step by the "
                "number "
                "of threads in the whole grid, cuda.gridsize(1).",
                "global_store_requests",
            ),
            Budget(
                "sectors per load request",
                lambda profile: profile["global_read_sectors"] / profile["global_read_requests"],
                4.2,
                "The lanes of a warp read far apart in the same step. Let neighbouring threads take "
                "neighbouring elements.",
            ),
            Budget(
                "load requests for 4,096 floats",
                lambda profile: profile["global_read_requests"],
                132,
                "32 lanes load together: 4,096 floats need 128 requests of full warps.",
                "global_load_requests",
            ),
            replace(SHARED_OUT, at_most=1.5),
        ),
        mistakes=(
            Mistake(
                "one element a thread",
                cases.untouched(lambda i: i >= GRID * BLOCK),
                "128 threads wrote 128 elements, and stopped. A loop lets each thread go on: `for i in "
                "range(start, "
                "x.size, step)`.",
            ),
            Mistake(
                "every block begins at the front",
                cases.untouched(lambda i: i % (GRID * BLOCK) >= BLOCK),
                "threadIdx counts within one block, so block 1 begins where block 0 does. Start at cuda.grid(1).",
            ),
            LAST_LEFT_OUT,
            Mistake(
                "a fixed number of turns",
                cases.a_fixed_number,
                "However many elements there are, a thread stops after as many. Go on while i < x.size.",
            ),
            Mistake(
                "the step is too long",
                lambda e: known.untouched_somewhere(e) and not known.nothing_written(e),
                "Between two turns of the loop elements are left out: step by the number of threads there are, "
                "cuda.gridsize(1).",
            ),
            NO_GUARD,
            Mistake(
                "every thread does everything",
                lambda e: cases.written(e) == GRID * BLOCK,
                "The loop begins at 0 and steps by 1 in every thread, so each element is written 128 times. Start at "
                "cuda.grid(1) and step by cuda.gridsize(1).",
            ),
            Mistake(
                "many threads come to one element",
                lambda e: cases.written(e) > GRID,
                "Right, but an element is written by many threads, one after another. Start at cuda.grid(1), which no "
                "two threads share, and step by cuda.gridsize(1).",
            ),
            Mistake(
                "the step is too short",
                known.over("stores per element"),
                "With a step of one block, block 1 does again what block 0 did. Right, but twice the work: "
                "the step is "
                "the whole grid, cuda.gridsize(1).",
            ),
            Mistake(
                "each thread has a run of its own",
                known.over("sectors per load request"),
                "One run a thread suits a CPU core. Here the 32 lanes of a warp load together, so in each "
                "step they "
                "should read neighbours. Chapter 04 counts what it costs.",
            ),
            Mistake(
                "few threads do all the work",
                lambda e: known.over("load requests for 4,096 floats")(e) or known.over(SHARED_OUT.label)(e),
                "Every element comes out right, once, and many lanes or warps only watch. All threads of the grid "
                "should take their share: start at cuda.grid(1).",
            ),
            Mistake(
                "doubled, not squared",
                known.gives(lambda case: 2 * case.arguments[0]),
                "x[i] * 2 is not x[i] * x[i].",
            ),
        ),
        hints=(
            "There are fewer threads than elements: each has to come round again.",
            "Start at cuda.grid(1); the next free element is as many further on as there are threads in the grid.",
            "for i in range(cuda.grid(1), x.size, cuda.gridsize(1)): …",
        ),
        solution="""
@cuda.jit
def square(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] * x[i]
""",
        why=(
            "The loop's condition is the guard: range stops before x.size. All threads step by the whole "
            "grid, so each "
            "element has exactly one owner and a warp's lanes stay neighbours."
        ),
        stretch="launch it with one block of one thread. Why is that a good way to hunt a bug?",
    ),
)
