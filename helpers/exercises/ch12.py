"""Exercises on profiling: what a kernel attains, what ails it, and a kernel with two ailments to mend."""

from __future__ import annotations

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Exercise, Mistake
from helpers.checking.one_a_thread import RETURNS_NOTHING, astray
from helpers.exercises.ch12_cases import (
    LARGE,
    bandwidth_cases,
    effective_of,
    gives_with,
    odd_rows_left_out,
    one_round,
    pair,
    returned,
    settle_case,
    settled_of,
    share_of,
    ward,
)

EXERCISES = (
    Exercise(
        key="ch12.bandwidth",
        title="effective bandwidth from a time",
        language="python",
        name="effective",
        cases=bandwidth_cases,
        mistakes=(
            Mistake(
                "y is read too",
                gives_with(nbytes=8),
                "`y = a * x + y` reads x, reads y and writes y: three floats an element, not two.",
            ),
            Mistake(
                "a store brings nothing first",
                gives_with(nbytes=16),
                "Three floats an element, not four: y is read once for the sum, and storing it reads nothing.",
            ),
            RETURNS_NOTHING,
            Mistake(
                "words are no numbers",
                returned(
                    lambda got, _: isinstance(got, str) or (isinstance(got, tuple | list) and str in map(type, got))
                ),
                "Two numbers are asked for, without units: round(…, 1) gives one.",
            ),
            Mistake(
                "a list is no tuple",
                returned(lambda got, wanted: isinstance(got, list) and tuple(got) == wanted),
                "The numbers are right, in a list. return a, b gives a tuple.",
            ),
            Mistake(
                "not rounded",
                lambda e: (
                    pair(lambda rate, peak: (rate / 1e9, 100 * rate / peak))(e)
                    or pair(lambda rate, peak: (round(rate / 1e9), round(100 * rate / peak)))(e)
                ),
                "Both numbers are asked for with one decimal: round(…, 1).",
            ),
            Mistake(
                "the wrong order",
                known.gives(lambda case: effective_of(*case.arguments)[::-1]),
                "GB/s come first, then per cent.",
            ),
            Mistake(
                "peak over rate",
                pair(lambda rate, peak: (round(rate / 1e9, 1), round(100 * peak / rate, 1))),
                "What is attained is divided by the peak, not the peak by it.",
            ),
            Mistake(
                "GB by bytes",
                pair(lambda rate, peak: (round(rate / 1e9, 1), 0.0)),
                "The peak is in bytes a second, so take the rate in bytes a second for the share, too, not in GB/s.",
            ),
            Mistake(
                "no GB",
                lambda e: (
                    pair(lambda rate, peak: (rate, round(100 * rate / peak, 1)))(e)
                    or pair(lambda rate, peak: (rate / 1e6, round(100 * rate / peak, 1)))(e)
                    or pair(lambda rate, peak: (rate / 1e3, round(100 * rate / peak, 1)))(e)
                ),
                "1 GB/s is 10⁹ bytes a second.",
            ),
            Mistake(
                "x alone",
                gives_with(nbytes=4),
                "x is not all that moves: y is read, and y is written.",
            ),
            Mistake(
                "a float32 is no double", gives_with(nbytes=24), "A float32 has 4 bytes; 8 are those of a float64."
            ),
            Mistake("elements are no bytes", gives_with(nbytes=3), "A float32 has 4 bytes."),
            Mistake(
                "operations are no bytes",
                gives_with(nbytes=2),
                "Two operations an element give GFLOP/s. Bandwidth is about bytes: those of x, of y, and of y again.",
            ),
            Mistake(
                "powers of two",
                gives_with(giga=2**30),
                "Data sheets count 10⁹ bytes to the GB. 2³⁰ bytes are a GiB: 7 % more.",
            ),
            Mistake("a share is no per cent", known.gives(share_of), "Multiply the share of the peak by 100."),
        ),
        hints=(
            "How many floats does one element make the kernel read and write?",
            "Bytes over seconds is the rate; 10⁹ bytes a second are 1 GB/s; the peak is in bytes a second.",
            "rate = 12 * n / seconds; return round(rate / 1e9, 1), …",
        ),
        solution="""
def effective(n, seconds, peak):
    rate = 3 * 4 * n / seconds
    return round(rate / 1e9, 1), round(100 * rate / peak, 1)
""",
        why=(
            "Effective bandwidth counts what the algorithm needs, 12 bytes an element, whatever the hardware moved for "
            "it. So it cannot be raised by moving sectors in vain, which a counter of DRAM traffic would reward."
        ),
        stretch="which share would `y = a * x` attain in the same time? Is it the better kernel?",
    ),
    Exercise(
        key="ch12.bottleneck",
        title="name the bottleneck from a profile",
        language="python",
        name="bottleneck",
        cases=lambda: list(ward()),
        mistakes=(
            RETURNS_NOTHING,
            Mistake(
                "small letters",
                returned(lambda got, wanted: isinstance(got, str) and got.strip().lower() == wanted),
                'The words are asked for as they stand in the table: in small letters, such as "divergence".',
            ),
            Mistake(
                "none is a word",
                returned(lambda got, wanted: got is None and wanted == "none"),
                'Where nothing ails a kernel, the word "none" is asked for; a function without return gives None.',
            ),
            Mistake(
                "one ailment",
                returned(lambda got, _: isinstance(got, tuple | list | set)),
                "One word is asked for: that of the first ailment that is there.",
            ),
            Mistake(
                "the wrong way round",
                lambda e: (
                    known.gives_for("eight floats a thread, one after another", lambda _: "none")(e)
                    and known.gives_for("doubles, side by side", lambda _: "uncoalesced access")(e)
                ),
                "The good ones are told that they are uncoalesced, and the bad one is not: an efficiency of 100 % is "
                "the best there is.",
            ),
            Mistake(
                "half a wave is no small launch",
                known.gives_for("doubles, side by side", lambda _: "launch too small"),
                "512 blocks give each of 108 SMs several. They do not fill all SMs to the brim, and need not: too "
                "small is a launch that leaves SMs without work, well below half a wave.",
            ),
            Mistake(
                "wide loads are not strided ones",
                known.gives_for("doubles, side by side", lambda _: "uncoalesced access"),
                "32 doubles are 256 bytes: 8 sectors a request, all of them wanted. Ask for the part that is used.",
            ),
            Mistake(
                "wide wavefronts are not conflicts",
                known.gives_for("float4 through shared memory", lambda _: "bank conflicts"),
                "32 times 16 bytes take four wavefronts at best. The counter of conflicts has those beyond the least.",
            ),
            Mistake(
                "a branch that diverges once",
                known.gives_for("a guard at the end", lambda _: "divergence"),
                "One warp in thousands has idle lanes at the end. Ask for the lanes that are active on average.",
            ),
            Mistake(
                "one word for all",
                lambda e: len({repr(o.got) for o in e.outcomes if o.error is None}) == 1,
                "Whatever the profile, the answer is the same: four questions, four numbers of it.",
            ),
            Mistake(
                "many warps are not many blocks",
                known.gives_for("one block for all", lambda _: "none"),
                "Its warps are full and its sectors used, but one block lives on one SM. Compare blocks with SMs.",
            ),
            Mistake(
                "strided access goes unseen",
                known.gives_for("eight floats a thread, one after another", lambda _: "none"),
                'Neighbouring lanes are 32 bytes apart there. p["load_efficiency"] says which part of the bytes is '
                "used, in per cent from 0 to 100.",
            ),
            Mistake(
                "divergence goes unseen",
                known.gives_for("every fourth lane iterates", lambda _: "none"),
                'Most lanes wait there while eight work. p["lanes_per_instruction"] is at best 32.',
            ),
            Mistake(
                "bank conflicts go unseen",
                known.gives_for("rows of 16 floats in shared memory", lambda _: "none"),
                'Lanes are 16 words apart there: two banks for all of them. p["shared_load_conflicts"] are the '
                'wavefronts beyond the least, among p["shared_load_wavefronts"].',
            ),
        ),
        hints=(
            'Four questions, four numbers. Print p.metrics() for one, or p["waves"].',
            "Waves below a half; active lanes far below 32; load_efficiency far below 100; conflicts among wavefronts.",
            'if p["waves"] < 0.5: return "launch too small"; then p["lanes_per_instruction"], p["load_efficiency"], '
            'and p["shared_load_conflicts"] against p["shared_load_wavefronts"].',
        ),
        solution="""
def bottleneck(p):
    if p["waves"] < 0.5:
        return "launch too small"
    if p["lanes_per_instruction"] < 24:
        return "divergence"
    if p["load_efficiency"] < 75:
        return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]:
        return "bank conflicts"
    return "none"
""",
        why=(
            "Each number is a ratio with a known best: so much of what was moved, lanes of 32, wavefronts beyond the "
            "least. A bare count, such as sectors a request or divergent branches, says nothing without what the work "
            "needs."
        ),
        stretch="a kernel may have two of them. What does helpers.results.diagnose do to name the one that matters?",
    ),
    Exercise(
        key="ch12.settle",
        title="mend a kernel with two ailments, in Numba",
        language="numba",
        name="settle",
        cases=lambda: [settle_case(rows) for rows in (1, 2, 3, 7, 16, 61, 128)],
        measured=lambda: settle_case(LARGE),
        budgets=(
            Budget(
                "sectors loaded and stored for 16,384 floats",
                lambda p: p["global_load_sectors"] + p["global_store_sectors"],
                4300,
                "16,384 floats are 2,048 sectors, once in and once out.",
            ),
            Budget(
                "idle lanes per instruction",
                lambda p: 32 - p["lanes_per_instruction"],
                2,
                "Lanes of one warp take different ways.",
                "instructions",
            ),
            Budget(
                "warp instructions",
                lambda p: p["instructions"],
                75_000,
                "More is calculated than is asked for.",
                "instructions",
            ),
        ),
        mistakes=(
            Mistake(
                "an index has gone astray",
                astray,
                "The thread that stopped has an element of its own, so it is no guard that is missing. x and out are "
                "indexed by row, then column: columns go from 0 to 15.",
            ),
            Mistake(
                "only settled rows are written",
                odd_rows_left_out,
                "Rows 1, 3, 5, … have no thread. They are copied as they are, and that is somebody's work, too.",
            ),
            Mistake(
                "all rows are settled",
                known.gives(lambda case: settled_of(case.arguments[0], slice(None))),
                "Rows 1, 3, 5, … are to be copied as they are.",
            ),
            Mistake(
                "columns for rows",
                known.gives(lambda case: settled_of(case.arguments[0].T).T),
                "It is every other column that is settled here. Rows 0, 2, 4, … are to be.",
            ),
            Mistake(
                "one round instead of 40",
                known.gives(one_round),
                "Each round goes on from the last: r = value / (value + r), forty times, with r = value at first.",
            ),
            Mistake(
                "the wrong rows are settled",
                known.gives(lambda case: settled_of(case.arguments[0], slice(1, None, 2))),
                "Rows 0, 2, 4, … are to be settled.",
            ),
            Mistake(
                "no row is settled",
                known.gives(lambda case: case.arguments[0]),
                "Everything is copied. The rows 0, 2, 4, … want their 40 rounds.",
            ),
            Mistake(
                "neighbouring lanes are a row apart",
                known.over("sectors loaded and stored for 16,384 floats"),
                "Lanes that are a row apart touch a sector each. Give 16 neighbouring lanes the 16 columns of a row.",
            ),
            Mistake(
                "half of each warp waits",
                known.over("idle lanes per instruction"),
                "Coalesced, and the second ailment shows: a warp holds a settled row and a copied one. Give it two "
                "rows of one kind, such as 0 and 2.",
            ),
            Mistake(
                "every lane calculates, half for nothing",
                known.over("warp instructions"),
                "No lane is idle because all do the 40 rounds, and half throw them away. Full lanes are no efficiency.",
            ),
        ),
        hints=(
            "Mend one ailment, profile, then look for the next: diagnose(profile(…)) names it.",
            "With i = cuda.grid(1), lane = i % 32 and warp = i // 32: lanes 0 to 15 take one row, lanes 16 to 31 "
            "another row of the same kind.",
            "Two warps share four rows: row = 4 * (warp // 2) + warp % 2 + 2 * (lane // 16).",
        ),
        solution="""
@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    warp, lane = i // 32, i % 32
    row = 4 * (warp // 2) + warp % 2 + 2 * (lane // 16)
    column = lane % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        if row % 2 == 0:
            for _ in range(40):
                r = value / (value + r)
        out[row, column] = r
""",
        why=(
            "16 lanes side by side read 64 bytes, two whole sectors, so a warp still moves four sectors though its two "
            "rows are not neighbours. Rows 0 and 2 go to one warp, 1 and 3 to the next: no warp has to take both ways."
        ),
        stretch="with rows of 32 columns one of the two ailments would go by itself. Which, and why?",
    ),
)
