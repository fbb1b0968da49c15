"""The eight greatest of each column, kept in registers by exchanges."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.checking.measures import outside_registers
from helpers.exercises.lab07.budgets import FEW_REGISTERS, LOADED_ONCE, NO_SPILLS

KEPT, THREADS = 8, 128
EACH = "for j in range(8):  # always all eight: unrolled, so every index is known"
EXCHANGE = f"""{EACH}
                held = best[j]
                best[j] = max(held, v)
                v = min(held, v)  # what gave way goes on to the next place"""
SEARCH = """if v > best[7]:
                j = 7
                while j > 0 and best[j - 1] < v:
                    best[j] = best[j - 1]
                    j -= 1
                best[j] = v"""
ROWS, COLUMNS = "range(x.shape[0])", "i < x.shape[1]"


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows + columns)
    held = np.full((KEPT, columns), -np.inf, np.float32)
    what = f"{plural(rows, 'row')} of {plural(columns, 'column')}"
    greatest = -np.sort(-np.vstack([x, held]), axis=0)[:KEPT]
    return Case(what, (x, Out(greatest)), (cover(columns, THREADS),), (THREADS,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (int(dice.integers(2, 8)), int(dice.integers(2, 31))),
        (int(dice.integers(9, 40)), int(dice.integers(129, 256))),
        (int(dice.integers(90, 130)), 8 * int(dice.integers(28, 33))),
    ]
    return [_case(*size, int(dice.integers(1, 10**6))) for size in sizes]


EXERCISE = Exercise(
    key="lab07.top",
    title="the eight greatest of each column, in registers, in Numba",
    language="numba",
    name="top",
    cases=lambda: [_case(*size) for size in ((1, 1), (5, 31), (8, 97), (13, 128), (40, 131))],
    measured=lambda: _case(100, 256),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(
        Budget(
            "requests to local and shared memory",
            outside_registers("local_requests", "shared_requests"),
            0,
            "An array stands in registers only where the compiler knows every index.",
            "local_load_requests",
        ),
        FEW_REGISTERS,
        NO_SPILLS,
        LOADED_ONCE,
    ),
    hints=(
        "A new value meets the greatest first. One of the two stays; what becomes of the other?",
        "It meets the next place, and so on, eight times, whatever the values are. So no index depends on data.",
        "for j in range(8): held, best[j] = best[j], max(best[j], v); v = min(held, v). The array is "
        "cuda.local.array(8, np.float32).",
    ),
    why="Registers have no addresses, so an array can stand in them only if every index is known when the kernel "
    "is compiled. Sorting a new value in by a search stops early and looks cheaper, but its index is data: the "
    "array goes to local memory, and each step to L1 at best. Eight exchanges always, without a branch, are 16 "
    "instructions and nothing else. And with at most 32 registers every place for a warp can be taken.",
    stretch="also keep from which row each came. How many registers does that take, and which GPUs mind?",
    equivalent=(
        (("best[j] = -np.inf", "best[j] += -np.inf"), "any number less infinity is -inf"),
        (("array(8", "array(9"), "a ninth place, which nobody uses"),
        *(((f"range(8):{place}", f"range(9):{place}"), "the compiler leaves out what is done past the eight registers")
          for place in ("  #", "\n            best", "\n            out")),
    ),
    mistakes=(
        Mistake("rows and columns are mixed up",
            "This thread has a column, and yet leaves an array. x[row, column] has x.shape[0] rows and x.shape[1] "
            "columns; out has 8 rows, x may have fewer.",
            (("x[k, i]", "x[i, k]"), ("out[j, i]", "x[j, i]"),
             ((ROWS, "range(x.shape[1])"), (COLUMNS, "i < x.shape[0]")))),
        Mistake("the greatest of each row",
            "A thread went along a row. It has a column: x[k, i] for all k below x.shape[0], where i is below "
            "x.shape[1].",
            (((ROWS, "range(x.shape[1])"), (COLUMNS, "i < x.shape[0]"), ("x[k, i]", "x[i, k]")),)),
        Mistake("the least instead of the greatest",
            "Those are the eight least. Asked for are the greatest ones.",
            ((("max(", "?("), ("min(", "max("), ("?(", "min("), ("-np.inf", "np.inf")),)),
        Mistake("a row is left out",
            "Every row counts, from x[0] to the last one of x.",
            ((ROWS, "range(1, x.shape[0])"), (ROWS, "range(x.shape[0] - 1)"), (ROWS, "range(min(8, x.shape[0]))"))),
        Mistake("the eighth place stays empty",
            "Seven places were filled. There are eight, best[0] to best[7]: range(8).",
            (("range(8):  #", "range(7):  #"),)),
        Mistake("the right eight in another order",
            "Each column has its eight, and out of order: the greatest belongs into out[0], the next into out[1].",
            ((EXCHANGE, """least = 0
            for j in range(8):
                if best[j] < best[least]:
                    least = j
            best[least] = max(best[least], v)"""),)),
        Mistake("whole numbers",
            "The fractions are lost: keep float32, as x does.",
            ((("np.float32", "np.int32"), ("-np.inf", "-1000")),)),
        Mistake("begins with something else than -inf",
            "A column with fewer than eight rows has to end in -inf. Begin with -np.inf in all eight places.",
            (("-np.inf", "0"), ("-np.inf", "-100"), ("-np.inf", "x[0, i]"))),
        Mistake("equal values are kept once",
            "If 3 comes twice in a column, it stands twice among the greatest.",
            (("v = min(held, v)", "v = min(held, v) if held != v else np.float32(-np.inf)"),)),
        Mistake("what gives way is lost",
            "A greater value takes the place of another, which is then the next candidate for the place below.",
            (("v = min(held, v)", "v = v if v <= held else np.float32(-np.inf)"),)),
        Mistake("both stay the same",
            "Of two values the greater stays and the lesser goes on: v = min(held, v). Here the one that stood "
            "there goes on even where it stays, and so is kept twice.",
            (("v = min(held, v)", "v = held"),)),
        Mistake("the greatest, eight times",
            "Every place took the greatest value. What a place has taken must not go on to the next: pass on the "
            "lesser of the two.",
            (("v = min(held, v)", "pass"),)),
        Mistake("the eight stand in shared memory",
            "Right, and every exchange asks shared memory, of which the block takes 4 KiB. In registers it costs "
            "neither: cuda.local.array, and only indices that the compiler knows.",
            ((("local.array(8,", "shared.array((8, 128),"), ("best[j]", "best[j, cuda.threadIdx.x]")),)),
        Mistake("an array indexed at run time",
            "Right, and the array is in local memory: an index that depends on data or on a loop of unknown length "
            "cannot name a register. Go through all eight places each time, with a loop of range(8), and exchange.",
            ((EXCHANGE, SEARCH), ("range(8):  #", "range(out.shape[0]):  #"))),
        Mistake("more is kept than eight values and a loop need",
            "Right, and the compiler takes more registers than eight values and a loop need. A float64 or a 64-bit "
            "index takes two; a second array takes more, and so does a loop over columns around it all, or another "
            "order of the exchanges. From best[0] on, one v is all that is kept beside the eight.",
            ((("np.float32", "np.float64"), ("v = x[k, i]", "v = np.float64(x[k, i])")),
             (f"if {COLUMNS}:", "for i in range(i, x.shape[1], cuda.gridsize(1)):"))),
    ),
)  # fmt: skip
