"""How many reads of constant memory a launch takes: one for each different address, warp by warp."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, plural

WARP = 32


def _case(name: str, which) -> Case:
    which = [int(each) for each in which]
    warps = [which[start : start + WARP] for start in range(0, len(which), WARP)]
    return Case(f"{name} ({plural(len(which), 'thread')})", (which,), expected=sum(len(set(warp)) for warp in warps))


def _drawn(n: int, entries: int) -> np.ndarray:
    return np.random.default_rng(n).integers(0, entries, n)


EXERCISE = Exercise(
    key="ch03.reads",
    title="reads of constant memory",
    language="python",
    name="constant_reads",
    cases=lambda: [
        _case("one thread", [5]),
        _case("all lanes want entry 3", [3] * 32),
        _case("each lane its own", range(32)),
        _case("two warps, the same for both", [7] * 64),
        _case("two warps, one entry each", [1] * 32 + [2] * 32),
        _case("two entries in turn", [0, 1] * 16),
        _case("a warp that is not full", _drawn(45, 8)),
        _case("random entries of 256", _drawn(160, 256)),
    ],
    hints=(
        "Which lanes share a read? Only those of one warp, and only if they want the same entry.",
        "Go through the list in pieces of 32. The last piece may be shorter.",
        "for start in range(0, len(which), 32): add len(set(which[start : start + 32])).",
    ),
    solution="""
def constant_reads(which):
    reads = 0
    for start in range(0, len(which), 32):
        warp = which[start : start + 32]
        reads += len(set(warp))
    return reads
""",
    why="A request is one warp's, so what two warps want in common is still read twice. Within a warp each different "
    "entry takes one read, whoever asks for it: 1 at best, 32 at worst.",
    stretch="sort the list first, and count again. What would you have to do with the results afterwards?",
    mistakes=(
        Mistake(
            "shared between warps",
            "Two warps never share a read. Count for each warp alone, and add.",
            (("""    reads = 0
    for start in range(0, len(which), 32):
        warp = which[start : start + 32]
        reads += len(set(warp))
    return reads""", "    return len(set(which))"),),
        ),
        Mistake(
            "one read for each lane",
            "Lanes of a warp that want the same entry get it by the same read.",
            (("len(set(warp))", "len(warp)"),),
        ),
        Mistake(
            "one read for each warp",
            "One read serves the lanes that want this entry. Each different entry takes a read of its own.",
            (("len(set(warp))", "1"),),
        ),
        Mistake(
            "the last warp is left out",
            "The last warp may have fewer than 32 threads, and it reads all the same.",
            (("range(0, len(which), 32)", "range(0, len(which) - 31, 32)"),
             ("range(0, len(which), 32)", "range(0, len(which) // 32 * 32, 32)")),
        ),
        Mistake(
            "a full warp is taken for granted",
            "Lanes without a thread ask for nothing: a warp of 13 threads reads 13 entries at most.",
            (("reads += len(set(warp))", "reads += len(set(warp)) if len(warp) == 32 else 32"),),
        ),
        Mistake(
            "only neighbours are compared",
            "Lanes that want the same entry share a read wherever they stand in the warp, side by side or not.",
            (("len(set(warp))", "1 + sum(one != other for one, other in zip(warp, warp[1:]))"),),
        ),
        Mistake(
            "pieces of another size",
            "A warp has 32 lanes, so go through the list 32 numbers at a time.",
            ((("len(which), 32", "len(which), 16"), ("start + 32", "start + 16")),
             (("len(which), 32", "len(which), 64"), ("start + 32", "start + 64"))),
        ),
        Mistake(
            "the worst warp alone",
            "All warps of the launch read: add their numbers.",
            (("reads += len(set(warp))", "reads = max(reads, len(set(warp)))"),
             ("reads += len(set(warp))", "reads = len(set(warp))")),
        ),
    ),
)  # fmt: skip
