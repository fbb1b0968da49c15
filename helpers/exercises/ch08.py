"""Exercises on divergence: the same result, from fewer instructions and with no lane idle."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.exercises import mistakes as known
from helpers.exercises.ch00 import NO_GUARD

BLOCK = 128
SIZES = (1, 2, 31, 64, 97, 128, 1021)
SCALE = np.array([2.0, 3.0, 0.5, 1.5, 4.0, 0.25, 5.0, 6.0], np.float32)
SHIFT = np.array([1.0, -2.0, 4.0, -1.0, 3.0, 0.0, -3.0, 2.0], np.float32)


def _sides(x: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Sixty-four rounds of one of two formulas, the first one where `first` says so."""
    v = x.astype(np.float64)
    for _ in range(64):
        v = np.where(first, 0.99 * v + 1.0, 1.01 * v - 1.0)
    return v.astype(np.float32)


def _sides_case(n: int) -> Case:
    x = numbers(n, seed=n)
    wanted = _sides(x, np.arange(n) % 2 == 0)
    return Case(plural(n, "element"), (x, Out(wanted)), (cover(n, BLOCK),), (BLOCK,))


def _by_threads(evidence) -> bool:
    """The elements have the formula of their place: of the half of the block, of the warp, of the block."""
    return any(
        known.gives(lambda case, run=run: _sides(case.arguments[0], np.arange(case.arguments[0].size) // run % 2 == 0))(
            evidence
        )
        for run in (BLOCK // 2, 32, BLOCK)
    )


def _rows_case(rows: int) -> Case:
    # Some rows are empty, most are short, a few are long: what a sparse matrix looks like.
    lengths = np.minimum(np.random.default_rng(rows).geometric(0.08, rows) - 1, 120)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    x = numbers(max(1, int(first[-1])), seed=rows)
    sums = np.array([x[first[row] : first[row + 1]].sum(dtype=np.float64) for row in range(rows)], np.float32)
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    arguments = (first, x, order, Out(sums), np.int32(rows))
    return Case(plural(rows, "row"), arguments, (cover(rows, BLOCK),), (BLOCK,))


def _still_sorted(case: Case) -> np.ndarray:
    return case.out.expected[case.arguments[2]]


def _back_to_front(case: Case) -> np.ndarray:
    """The sums of rows 0, 1, 2 …, each put where `order` says."""
    wrong = np.empty_like(case.out.expected)
    wrong[case.arguments[2]] = case.out.expected
    return wrong


def _table_case(n: int) -> Case:
    kind = np.random.default_rng(n).integers(0, 8, n).astype(np.int32)
    x = numbers(n, seed=n)
    wanted = SCALE[kind] * x + SHIFT[kind]
    return Case(plural(n, "element"), (kind, x, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


def _shift_forgotten(case: Case) -> np.ndarray:
    kind, x = case.arguments[:2]
    return SCALE[kind] * x


def _instructions(what: str, at_most: float, teach: str) -> Budget:
    return Budget(
        f"warp instructions for {what}", lambda profile: profile["instructions"], at_most, teach, "instructions"
    )


IDLE = Budget(
    "idle lanes per instruction",
    lambda profile: 32 - profile["lanes_per_instruction"],
    0.5,
    "An instruction is issued for 32 lanes, however many of them stand at it.",
    "instructions",
)
LOCAL = Budget(
    "loads from local memory",
    lambda profile: profile["local_load_requests"],
    0,
    "An array that is indexed by a variable cannot live in registers.",
    "local_load_requests",
)

EXERCISES = (
    Exercise(
        key="ch08.sides",
        title="two formulas, whole warps, in Numba",
        language="numba",
        name="sides",
        cases=lambda: [_sides_case(n) for n in SIZES],
        measured=lambda: _sides_case(2048),
        budgets=(IDLE, _instructions("2,048 elements", 9_500, "The work of one side, once, is enough.")),
        mistakes=(
            NO_GUARD,
            Mistake(
                "the side follows the thread, not the element",
                _by_threads,
                "Whole warps now take one side each, and that is the idea. But which formula an element gets is "
                "decided by the element: give the first half of the block the even elements, the second the odd ones.",
            ),
            Mistake(
                "only one side is written",
                known.untouched_somewhere,
                "Some elements have no thread any more. A block of 128 threads still looks after 128 elements.",
            ),
            Mistake(
                "both sides meet in one warp",
                known.over("idle lanes per instruction"),
                "The result is right, but in every warp some lanes wait while others work. The warp is threads 0 to "
                "31, 32 to 63, and so on: all 32 of them should take the same side.",
            ),
            Mistake(
                "every lane computes both sides",
                known.over("warp instructions for 2,048 elements"),
                "No lane is idle, and half of what they compute is thrown away. Selecting pays for short sides only.",
            ),
        ),
        hints=(
            "You may choose which thread looks after which element. The kernel's i need not be cuda.grid(1).",
            "Threads 0 to 63 of a block are two whole warps. Which 64 of the block's 128 elements should they have?",
            "even = t < half, with half = cuda.blockDim.x // 2. The element is the block's first one, plus 2 * t if "
            "even, else plus 2 * (t - half) + 1.",
        ),
        solution="""
@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    even = t < half
    i = cuda.blockIdx.x * cuda.blockDim.x + (2 * t if even else 2 * (t - half) + 1)
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = 0.99 * v + 1.0
        else:
            for k in range(64):
                v = 1.01 * v - 1.0
        out[i] = v
""",
        why=(
            "The branch is still there, but each warp agrees on it: warps 0 and 1 of a block have the even elements, "
            "warps 2 and 3 the odd ones. The price is the stride of 2: a load moves 8 sectors where it moved 4. With "
            "two neighbouring warps on the same sectors, a cache makes up for much of that."
        ),
        stretch="keep the loads coalesced too: load into shared memory first, then let each warp pick its side there.",
    ),
    Exercise(
        key="ch08.rows",
        title="rows of different lengths, in CUDA C",
        language="cuda",
        name="row_sums",
        cases=lambda: [_rows_case(rows) for rows in (1, 2, 31, 33, 127, 400)],
        measured=lambda: _rows_case(1024),
        budgets=(
            _instructions("1,024 rows", 4_000, "A warp is done when its longest row is: give it rows of one length."),
        ),
        thread_of=thread_1d,
        mistakes=(
            NO_GUARD,
            Mistake(
                "the sums stay in sorted order",
                known.gives(_still_sorted),
                "The thread works on row order[t], and its sum belongs to that row: out[order[t]].",
            ),
            Mistake(
                "the row is not the one that order names",
                known.gives(_back_to_front),
                "The sum of row t is written to another row. Read order[t] once, call it row, and use it for both.",
            ),
            Mistake(
                "rows as they come",
                known.over("warp instructions for 1,024 rows"),
                "The result is right; every warp runs as long as the longest of its 32 rows. `order` lists the rows "
                "from the shortest to the longest: neighbours in it have nearly the same length.",
            ),
        ),
        hints=(
            "Which rows share a warp decides how long it runs. Nothing says that thread t must have row t.",
            "order[0] is the shortest row, order[rows - 1] the longest. Let thread t look after row order[t].",
            "int row = order[t]; for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k]; out[row] = sum;",
        ),
        solution="""
extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    float sum = 0.0f;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k];
    out[row] = sum;
}
""",
        why=(
            "With the rows sorted by length, the 32 loops of a warp end within a few rounds of one another, so its "
            "instructions are those of an average row and not of the longest of 32. The order is worth computing "
            "when it is used more than once, as for a matrix that many vectors are multiplied with."
        ),
        stretch=(
            "give each row to a whole warp, with lanes 32 apart and a sum by shuffles. When is that better? Count the "
            "sectors too."
        ),
    ),
    Exercise(
        key="ch08.table",
        title="a table for a switch, in CUDA C",
        language="cuda",
        name="table",
        cases=lambda: [_table_case(n) for n in SIZES],
        measured=lambda: _table_case(4096),
        budgets=(
            LOCAL,
            IDLE,
            _instructions("4,096 elements", 4_400, "Two loads from a table and one multiply-add are enough."),
        ),
        thread_of=thread_1d,
        mistakes=(
            NO_GUARD,
            Mistake(
                "the shift is forgotten",
                known.gives(_shift_forgotten),
                "Every kind has two numbers: out = scale[kind] * x + shift[kind].",
            ),
            Mistake(
                "the table lies in local memory",
                known.over("loads from local memory"),
                "Each thread builds a table of its own and then reads it from local memory. Declared outside of the "
                "kernel, `__device__ const float scale[8] = {…};`, there is one for all.",
            ),
            Mistake(
                "still a jump for every kind",
                known.over("idle lanes per instruction"),
                "Up to eight kinds meet in a warp, and their cases run one after another.",
            ),
            Mistake(
                "eight selections instead of one look",
                known.over("warp instructions for 4,096 elements"),
                "No lane is idle, but every lane goes through all kinds. A load finds the right one at once.",
            ),
        ),
        hints=(
            "All cases have the same shape: a number times v, plus a number. Only the numbers differ.",
            "Two tables of eight floats, indexed by the kind. Where do they have to be declared?",
            "Above the kernel: __device__ const float scale[8] = {2.0f, …}; in it: scale[k] * x[i] + shift[k].",
        ),
        solution="""
__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};

extern "C" __global__
void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale[kind[i]] * x[i] + shift[kind[i]];
}
""",
        why=(
            "What differs between the cases is data, so it belongs in memory and not in the program. Eight floats "
            "fill one sector: each look of a warp costs one request and one sector, whatever the kinds. Constant "
            "memory would be the wrong home: it serves one address at a time, and here the lanes ask for eight."
        ),
        stretch="make the cases polynomials of degree 3. How large may the table grow before the switch is better?",
    ),
)
