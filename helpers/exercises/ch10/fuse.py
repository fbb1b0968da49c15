"""Two maps in one kernel: what lies between them needs no memory."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
GAIN, SHIFT = np.float32(0.25), np.float32(0.5)
FIRST = "y = gain * x[i] + shift"
SECOND = "np.float32(3) - np.float32(2) * y"


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    y = (GAIN * x + SHIFT).astype(np.float32)
    wanted = (y * y * (3 - 2 * y)).astype(np.float32)
    arguments = (x, np.zeros(n, np.float32), Out(wanted), GAIN, SHIFT)
    return Case(plural(n, "element"), arguments, (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch10.fuse",
    title="two maps in one, in Numba",
    language="numba",
    name="fuse",
    cases=lambda: [_case(n) for n in (1, 31, 128, 131, 1000, 1021)],
    measured=lambda: _case(COUNTED),
    budgets=(
        Budget(
            "bytes stored for each element",
            lambda profile: profile["global_write_bytes"] / COUNTED,
            4,
            "One float32 is the result. Whatever else is stored could have stayed in a register.",
            "global_store_sectors",
        ),
        Budget(
            "bytes of all sectors for each element",
            lambda profile: 32 * (profile["global_read_sectors"] + profile["global_write_sectors"]) / COUNTED,
            8.2,
            "4 bytes come and 4 go, if neighbouring lanes take neighbouring elements.",
            "global_load_sectors",
        ),
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "A Python number such as 3 or 0.5 makes Numba calculate in float64. Write np.float32(3).",
            "flops_fp64",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "Which array need not exist at all?",
        "y = gain * x[i] + shift stays in a register. What type does 3 - 2 * y have?",
        "y = gain * x[i] + shift; out[i] = y * y * (np.float32(3) - np.float32(2) * y), inside the guard.",
    ),
    solution="""
import numpy as np

@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        out[i] = y * y * (np.float32(3) - np.float32(2) * y)
""",
    why="As two launches the maps move 16 bytes an element, now 8: the intensity doubles and the FLOPs stay what they "
    "were. The point moves right along the slope, so it rises, and the time halves. With plain 3 and 2 it would be the "
    "same picture on an A100, and another on a T4, whose FP64 roof is 32 times lower.",
    stretch="fuse a third map, a division by 1 + y · y. Does the profile count the division as a FLOP?",
    mistakes=(
        Mistake(
            "gain and shift are swapped",
            "x is multiplied by gain, and shift is added.",
            ((FIRST, "y = shift * x[i] + gain"),),
        ),
        Mistake(
            "y once instead of twice",
            "The second map is y · y · (3 - 2 · y): there are three times y in it.",
            (("y * y *", "y *"),),
        ),
        Mistake(
            "3 and 2 are swapped",
            "The second map is y · y · (3 - 2 · y), and not y · y · (2 - 3 · y).",
            ((SECOND, "np.float32(2) - np.float32(3) * y"),),
        ),
        Mistake(
            "t has nothing yet",
            "t is all zeros: nobody has run the first map. Begin with x[i].",
            (("x[i]", "t[i]"), (FIRST, "y = t[i]")),
        ),
        Mistake(
            "only the first map",
            "That is gain · x + shift. Its result still has to go through y · y · (3 - 2 · y).",
            ((f"y * y * ({SECOND})", "y"),),
        ),
        Mistake(
            "the second map takes x, not what the first one made",
            "Keep gain · x + shift in a variable y and put that into the second map.",
            ((FIRST, "y = x[i]"),),
        ),
        Mistake(
            "the result of the first map goes through memory",
            "Right, but more is stored than the result. A variable of the thread lies in a register and costs no "
            "bytes.",
            (
                ((FIRST, "t[i] = gain * x[i] + shift"), (f"y * y * ({SECOND})", "t[i] * t[i] * (3 - 2 * t[i])")),
                (FIRST, "t[i] = gain * x[i] + shift\n        y = t[i]"),
                """    i = cuda.grid(1)
    for k in range(i, x.size, cuda.gridsize(1)):
        out[k] = gain * x[k] + shift
    for k in range(i, x.size, cuda.gridsize(1)):
        out[k] = out[k] * out[k] * (np.float32(3) - np.float32(2) * out[k])""",
            ),
        ),
        Mistake(
            "lanes are not on neighbouring elements",
            "Each sector of 32 bytes should serve eight lanes. Let thread i take element i, or step by "
            "cuda.gridsize(1).",
            (
                (("if i < x.size:", "for i in range(x.size if i == 0 else 0):"),),
                (("if i < x.size:", "for i in range(8 * i, min(8 * i + 8, x.size)):"),),
            ),
        ),
        Mistake(
            "double precision has slipped in",
            "A Python number such as 3 or 0.5 makes Numba calculate in float64, under a much lower roof. Write "
            "np.float32(3).",
            ((SECOND, "3 - 2 * y"), (SECOND, "np.float32(3) - 2 * y"), (SECOND, "3 - np.float32(2) * y")),
        ),
    ),
)
