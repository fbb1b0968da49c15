"""Backward through the step of an LSTM, and the sums over the batch that the biases learn from, in one launch."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import LOADS_SHARED_OUT
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers
from helpers.exercises.lab14 import shared

SIZES = ((1, 1), (1, 33), (3, 5), (7, 64), (37, 20), (9, 100))
MEASURED = (96, 128)
ACROSS, DOWN = 32, 8
DZ = ("dc * g * i * (1 - i)", "dc * c_old[here] * f * (1 - f)", "dc * i * (1 - g * g)", "dh * tanh_c * o * (1 - o)")
DC, DH = "d_c[here] + dh * o * (1 - tanh_c * tanh_c)", "d_out[here] + d_next[here]"
TANH_C, GUARD = "tanhf(now[4 * hidden])", "if (unit < hidden)\n"
STORE, LAST = (
    "left[row * 5 * hidden + n * hidden + unit] = d[n];",
    "left[batch * 5 * hidden + y * hidden + unit] = all;",
)
PARTS = "for (int n = 0; n < 5; ++n) sums[n][y][x] = sum[n];\n"


def _case(batch: int, hidden: int, seed: int = 1) -> Case:
    z, c_old = shared.sums(batch, 4 * hidden, seed), numbers((batch, hidden), seed + 1) / 4
    d_out, d_next, d_c = (numbers((batch, hidden), seed + k) / 4 for k in (2, 3, 4))
    i, f, g, o, c, h = shared.stepped(z, c_old)
    kept = np.concatenate([i, f, g, o, c, h], axis=1).astype(np.float32)
    dh, t = d_out + d_next, np.tanh(c)
    dc = d_c + dh * o * (1 - t * t)
    each = (dc * g * i * (1 - i), dc * c_old * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o), dc * f)
    left = np.concatenate(each, axis=1)
    left = np.concatenate([left, left.sum(axis=0, keepdims=True)]).astype(np.float32)
    arguments = (kept, c_old, d_out, d_next, d_c, Out(left, initial=np.zeros_like(left)))
    grid, block = (cover(hidden, ACROSS),), (ACROSS, DOWN)
    arguments = (*arguments, np.int32(batch), np.int32(hidden))
    return Case(shared.name(batch, hidden), arguments, grid, block, reads=9 * c_old.nbytes)  # h isn't needed


def _drawn(dice: np.random.Generator) -> list[Case]:
    return [*(_case(*size) for size in shared.sizes(dice)), _case(*MEASURED, int(dice.integers(1, 10**6)))]


EXERCISE = Exercise(
    key="lab14.backward",
    title="backward with the gradient of the bias, in CUDA C",
    language="cuda",
    name="backward",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(*MEASURED),
    drawn=_drawn,
    sanitize=True,
    also_wrong=shared.ENDED,
    shared_out=True,
    tolerance=1e-4,
    budgets=(shared.LOADED, shared.STORED, shared.NO_ATOMICS, LOADS_SHARED_OUT),
    hints=(
        "A thread goes through sequences y, y + 8, y + 16 and so on, of one unit. Where can it keep the sums of what "
        "it has stored so far?",
        "Five sums in registers for each thread. Behind the loop they go to shared memory, as sums[5][8][32]. After a "
        "barrier warp y adds up the eight parts of sum number y. No thread may return before the barrier.",
        "const float* now = kept + row * 6 * hidden + unit; then f is now[hidden], and c is now[4 * hidden]. dc = d_c "
        "+ dh * o * (1 - t * t) with t = tanhf(c). d[1] = dc * c_old * f * (1 - f), and d[4] = dc * f.",
    ),
    why="Forward the bias went to every sequence, so backward its gradient is the sum over all sequences. The numbers "
    "to add are in registers anyway while the step goes backward. A launch of its own for the sum would load all "
    "of them again. Atomics would be right too, but floats that are added in another order differ in their last bits, "
    "and the order of atomics is nobody's choice. Here it is fixed: eight threads add every eighth sequence, and one "
    "adds up the eight. tanh(c) is calculated again, because that costs nothing in bytes. h / o would be cheaper "
    "still, until a gate is closed: then it is 0 / 0.",
    stretch="with 8 units and 10,000 sequences there would be one block. Let blocks share the batch: where do their "
    "sums meet, if not in an atomic?",
    equivalent=(
        *((change, "more room than is used") for change in (
            ("sums[5][8][32]", "sums[6][8][32]"), ("sums[5][8]", "sums[5][9]"), ("[8][32]", "[8][33]"),
            ("float sum[5]", "float sum[6]"), ("float d[5]", "float d[6]"))),
        *(((f"n < 5; ++n) {what}", f"n {to}; ++n) {what}"), "d and sum end there, and so does the compiled loop")
          for what in ("{", "sums") for to in ("<= 5", "< 6")),
    ),
    mistakes=(
        Mistake("the gradient of f without the old c",
            "The forget gate scaled the old c, so its gradient is `dc * c_old`, and neither dc alone nor dc times the "
            "new c.",
            ((DZ[1], "dc * f * (1 - f)"), (DZ[1], "dc * now[4 * hidden] * f * (1 - f)"))),
        Mistake("the derivative of tanh at the wrong value",
            "The derivative of tanh(c) is 1 - tanh(c)². It stands neither at c itself, nor at h, which is o · tanh(c).",
            ((DC, "d_c[here] + dh * o * (1 - now[4 * hidden] * now[4 * hidden])"),
             (DC, "d_c[here] + dh * o * (1 - now[5 * hidden] * now[5 * hidden])"),
             (TANH_C, "tanhf(c_old[here])"))),
        Mistake("no derivative of a gate",
            "What is asked for is the gradient with respect to the sums before the gates. A sigmoid s brings the "
            "factor s · (1 - s), and tanh brings 1 - g².",
            tuple((d, d[: d.rindex(cut)]) for d, cut in zip(DZ, (" * i", " * f", " * (", " * o"), strict=True))),
        Mistake("g is taken for a sigmoid",
            "g is a tanh, and its derivative is 1 - g². g · (1 - g) belongs to a sigmoid.",
            ((DZ[2], "dc * i * g * (1 - g)"), (DZ[2], "dc * i * (1 - g)"))),
        Mistake("a gradient that arrives is left out",
            "h goes up to the next layer and on to the next step: its gradient is `d_out + d_next`. c goes on to the "
            "next step too, which is d_c.",
            ((DH, "d_out[here]"), (DH, "d_next[here]"), (DC, "dh * o * (1 - tanh_c * tanh_c)"))),
        Mistake("no way from h to c",
            "h = o · tanh(c), so the gradient with respect to c has a part that comes from dh, times o.",
            ((DC, "d_c[here]"), (DC, "d_c[here] + dh * (1 - tanh_c * tanh_c)"))),
        Mistake("d_c in place of the whole dc",
            "What goes on to the old c is all of dc, with the part that came through h, times f.",
            (("dc * f}", "d_c[here] * f}"), ("dc * f}", "dc}"))),
        Mistake("tanh(c) as h / o",
            "A gate that is closed is 0 in float32, and 0 / 0 is no number. tanhf(c) costs no bytes.",
            ((TANH_C, "now[5 * hidden] / now[3 * hidden]"),)),
        Mistake("the sum of one thread in place of all eight",
            "Eight threads share the sequences of a unit. The last row needs the sums of all of them.",
            (("all += sums[y][v][x]", "all = sums[y][v][x]"), ("v < 8", "v < 1"))),
        Mistake("the mean over the batch",
            "The gradient of the bias is a sum. If the loss is a mean, its factor came with `d_out` already.",
            (("= all;", "= all / batch;"),)),
        Mistake("nobody waits for shared memory",
            "A warp reads sums that others have stored. Between the two stands `__syncthreads()`.",
            (("__syncthreads();", ""),)),
        Mistake("threads return before the barrier",
            "Threads without a unit must come to the barrier as well. Guard the loop and the stores, and leave nobody "
            "out in between.",
            ((GUARD, "if (unit >= hidden) return;\n"),)),
        Mistake("units that do not exist",
            "A block has 32 units, and hidden need not be a multiple of that: beyond it lies the next gate.",
            ((GUARD, "if (unit <= hidden)\n"), (" && unit < hidden", ""))),
        Mistake("added by atomics",
            "Right here, but floats that are added in another order each time differ in their last bits, and no run "
            "can be repeated.",
            (((PARTS, "\n"), ("sum[n] += d[n];",
               "atomicAdd(&left[batch * 5 * hidden + n * hidden + unit], d[n]);"), (LAST, "")),
             ((f"    {PARTS}", "    for (int n = 0; n < 5; ++n)\n        if (unit < hidden) "
               "atomicAdd(&left[batch * 5 * hidden + n * hidden + unit], sum[n]);\n"), (LAST, "")))),
        Mistake("one thread adds everything",
            "Right, but a single warp goes through all sequences once more, and loads what was stored. Keep the "
            "sums while you go, and let five warps add one each.",
            ((("sum[n] += d[n];", ""), (LAST, ""), ("    if (y < 5 && unit < hidden) {",
               "    if (y == 0 && unit < hidden)\n        for (int n = 0; n < 5; ++n) {\n            float total = 0;\n"
               "            for (int row = 0; row < batch; ++row) total += left[row * 5 * hidden + n * hidden + "
               "unit];\n"
               "            left[batch * 5 * hidden + n * hidden + unit] = total;\n        }\n"
               "    if (y < 5 && unit < hidden) {")),)),
    ),
)  # fmt: skip
