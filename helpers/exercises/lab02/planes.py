"""Records of four floats, taken apart into planes."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, seeds
from helpers.exercises.lab02.budgets import COALESCED_LOADS, COALESCED_STORES

BLOCK = 128


def _case(n: int, seed: int = 0) -> Case:
    records = numbers((n, 4), seed=seed or n)
    arguments = (records.ravel(), Out(records.T.ravel().copy()), np.int32(n))
    return Case(plural(n, "record"), arguments, (cover(n, BLOCK),), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [*dice.integers(2, 400, 3), 8 * dice.integers(120, 200)]
    return [_case(int(n), seed) for n, seed in zip(sizes, seeds(dice, 4), strict=True)]


EXERCISE = Exercise(
    key="lab02.planes",
    title="records into planes, in CUDA C",
    language="cuda",
    name="planes",
    cases=lambda: [_case(n) for n in (1, 31, 32, 97, 128, 500)],
    measured=lambda: _case(2000),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(COALESCED_LOADS, COALESCED_STORES),
    hints=(
        "A record is 16 bytes, and a lane may load 16 bytes at once.",
        "float4 r = reinterpret_cast<const float4*>(records)[i]; and the fields are r.x, r.y, r.z, r.w.",
        "if (i < n) { load r; out[i] = r.x; out[n + i] = r.y; out[2 * n + i] = r.z; out[3 * n + i] = r.w; }",
    ),
    why="Four strided loads want the same sectors, one after the other, and only a cache can spare three of the four "
    "journeys. One float4 a lane says in a single request what the warp wants: 512 bytes, 16 sectors, all used. The "
    "four stores are coalesced by themselves, since in each plane neighbouring lanes have neighbouring places. Where n "
    "is no multiple of 8 the planes begin inside a sector: pad them, as chapter 04 pads rows.",
    stretch="go back from planes to records. Which side wants the float4 now?",
    mistakes=(
        Mistake(
            "planes into records",
            "That is the way back. Records are what comes in: field c of record i lies at 4 * i + c, and belongs at "
            "c * n + i.",
            ("if (i < n) for (int c = 0; c < 4; ++c) out[4 * i + c] = records[c * n + i];",),
        ),
        Mistake(
            "still records",
            "The result lies as the input does. Field c of record i belongs at c * n + i.",
            ("if (i < n) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(records)[i];",),
        ),
        Mistake(
            "the fields are in another order",
            "Each plane is one field of all records, and not each its own: x is the first field, y the second, z the "
            "third, w the last. Does one of them go to two planes?",
            (
                "if (i < n) for (int c = 0; c < 4; ++c) out[(3 - c) * n + i] = records[4 * i + c];",
                (("r.y", "r.k"), ("r.z", "r.y"), ("r.k", "r.z")),
                ("r.z", "r.y"), ("r.y", "r.x"), ("r.w", "r.z"),
            ),
        ),
        Mistake(
            "some planes are left out",
            "Whole planes are not written. A record has four fields, and each has a place of its own: out[i], "
            "out[n + i], out[2 * n + i] and out[3 * n + i].",
            (
                ("out[3 * n + i] = r.w;", ""), ("out[2 * n + i] = r.z;", ""),
                (("[n + i]", "[i]"), ("[2 * n + i]", "[i]"), ("[3 * n + i]", "[i]")),
            ),
        ),
        Mistake(
            "an index that leads too far",
            "Some thread leaves its array, and not for want of a guard. Record i begins at float 4 * i, and is number "
            "i of the float4s; its field c belongs at c * n + i.",
            (
                ("(records)[i]", "(records)[4 * i]"),
                (("[n + i]", "[i * n + 1]"), ("[2 * n + i]", "[i * n + 2]"), ("[3 * n + i]", "[i * n + 3]")),
                (("[n + i]", "[4 + i]"), ("[2 * n + i]", "[8 + i]"), ("[3 * n + i]", "[12 + i]")),
            ),
        ),
        Mistake(
            "the same work many times",
            "The result is right, but several threads or blocks do the same. Each record has one owner in the grid.",
            (("if (i < n)", "for (i = threadIdx.x; i < n; i += blockDim.x)"),
             ("if (i < n)", "for (i = 0; i < n; ++i)")),
        ),
        Mistake(
            "a sector for each float",
            "The result is right, but a sector comes again for each float: one thread works alone, or each has a run "
            "of records. Let neighbouring lanes take neighbouring records.",
            (
                """for (int first = 4 * i, j = first; j < min(n, first + 4); ++j)
                    for (int c = 0; c < 4; ++c) out[c * n + j] = records[4 * j + c];""",
                "if (i == 0) for (; i < n; ++i) for (int c = 0; c < 4; ++c) out[c * n + i] = records[4 * i + c];",
            ),
        ),
        Mistake(
            "the same sectors again and again",
            "The result is right. But requests stride over records, or load each of them again for the next field, "
            "and bring the same sectors again. A lane wants 16 bytes that lie side by side: ask for them at once, and "
            "once.",
            (
                "if (i < n) for (int c = 0; c < 4; ++c) out[c * n + i] = records[4 * i + c];",
                (("float4 r = reinterpret_cast<const float4*>(records)[i]",
                  "const float2* p = reinterpret_cast<const float2*>(records) + 2 * i;"
                  "float4 r = make_float4(p[0].x, p[0].y, p[1].x, p[1].y)"),),
            ),
        ),
    ),
)  # fmt: skip
