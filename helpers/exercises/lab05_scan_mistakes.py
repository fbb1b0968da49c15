"""What is done wrong in the scans of lab 05, by its traces: mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Mistake
from helpers.exercises import lab05_cases as cases
from helpers.exercises import lab05_traces as traces
from helpers.exercises.lab05_cases import BLOCK
from helpers.exercises.lab05_mistakes import (
    GONE,
    LOADED,
    MASK,
    MASK_SELF,
    NO_BARRIER,
    ONE_PLACE,
    SHORT,
    UNWRITTEN,
    loads,
)

FILL = (
    Mistake(
        "nothing is written yet",
        known.gives(lambda case: case.out.initial),
        f"out still holds the {cases.NOT_WRITTEN} that it began with.",
    ),
    MASK_SELF,
    MASK,
    ONE_PLACE,
    UNWRITTEN,
    NO_BARRIER,
    GONE,
    SHORT,
    Mistake(
        "a thread beyond its row",
        known.out_of_bounds,
        "Row r is x[r * n] to x[r * n + n - 1]: rows are n apart, not 256, and threads from n on neither load "
        "nor store.",
    ),
    Mistake(
        "gaps are not written",
        lambda e: any(known.gives(each)(e) for each in (cases.gaps_not_written, cases.open_gaps_not_written)),
        f"Where out holds {cases.NOT_WRITTEN}, nobody has written. Each element of the row is stored, also the "
        "-1 of a gap that no reading precedes.",
    ),
    Mistake(
        "the end of each row is not written",
        lambda e: any(not o.ok and o.got is not None and (o.got[:, -1] == cases.NOT_WRITTEN).all() for o in e.outcomes),
        f"The last elements of rows still hold the {cases.NOT_WRITTEN} that they began with.",
    ),
    Mistake(
        "only the nearest warp is asked",
        known.gives(cases.nearest_warp_only),
        "A whole warp may be without a reading. Then the one before it is asked, and so on to the first.",
    ),
    Mistake(
        "the warp furthest back is asked first",
        known.gives(cases.first_of_warps),
        "The last reading counts, so ask the warps before your own from the nearest one back.",
    ),
    Mistake(
        "a reading comes 15 elements far",
        known.gives(cases.half_a_scan),
        "Within a warp a reading came 15 elements far. It takes five steps, by 1, 2, 4, 8 and 16.",
    ),
    Mistake(
        "open gaps hold something else",
        lambda e: any(
            not o.ok and o.error is None and (o.case.out.expected[o.wrong] == -1).all() and (o.got[o.wrong] == 0).all()
            for o in e.outcomes
        ),
        "A gap that no reading precedes holds 0 now. 0 is a reading: such a gap stays -1.",
    ),
    Mistake(
        "every row gets the first one",
        known.gives(lambda case: np.broadcast_to(case.out.expected[:1], case.out.expected.shape)),
        "Every block has worked on row 0. Its own row begins at x[blockIdx.x * n].",
    ),
    Mistake(
        "another lane than the last hands on",
        known.gives(traces.lane_0_hands_on),
        "What lane 0 knows is the first element of its warp. What the whole warp found last is in lane 31.",
    ),
    Mistake(
        "handed on before the scan",
        known.gives(traces.handed_on_too_early),
        "What a warp hands on is the element of lane 31 as it was loaded, which may be a gap. Store it to s behind the "
        "scan.",
    ),
    Mistake(
        "a warp asks itself",
        lambda e: any(known.gives(traces.own_warp_first(until))(e) for until in (0, 1)),
        "A gap took what its own warp found last, which comes after it. Begin with the warp before: w = warp - 1.",
    ),
    Mistake(
        "readings give way",
        known.gives(traces.readings_give_way),
        "Readings were replaced by what lies before them. Only a gap, v < 0, takes the left operand.",
    ),
    Mistake(
        "the greatest so far",
        known.gives(lambda case: np.maximum.accumulate(case.arguments[0], axis=1)),
        "Of two readings the greater one was kept. The operator asks which is the later one, not which is greater.",
    ),
    Mistake(
        "each warp begins anew",
        known.gives(cases.each_warp_filled),
        "Shuffles stay within a warp. A gap that no reading of its own warp precedes takes the last one of "
        "the warps before.",
    ),
    Mistake(
        "only the neighbour",
        known.gives(cases.neighbour_filled),
        "One step reaches one element back. The distance doubles, 1, 2, 4, …",
    ),
    Mistake(
        "the earlier of two readings",
        known.gives(cases.first_reading),
        "Of two readings the later one counts: take your neighbour's only where you have none. The order of "
        "the two operands matters here, as it does not in a sum.",
    ),
    Mistake(
        "zero is taken for a gap",
        known.gives(cases.zero_is_a_gap),
        "0 is a reading. Gaps are below zero.",
    ),
    Mistake(
        "filled from the right",
        lambda e: any(
            known.gives(each)(e)
            for each in (
                lambda case: np.fliplr(cases.filled(np.fliplr(case.arguments[0]))),
                traces.each_warp_from_the_right,
            )
        ),
        "Each gap took the reading that comes after it. __shfl_up_sync brings what lies before.",
    ),
    Mistake(
        "walks back through global memory",
        known.over(LOADED),
        "Right, but elements are loaded again by every gap behind them, or a sector for each. Load each once; "
        "what threads need of one another goes through shuffles.",
    ),
    Mistake(
        "barriers at every step",
        known.over("barriers per warp"),
        "Right, with barriers at each step of a scan in shared memory. Within a warp shuffles need none.",
    ),
    Mistake(
        "walks back through shared memory",
        known.over("shared requests per row"),
        "Right, but a gap of 200 elements is walked 200 times. A scan takes log₂ steps, whatever the gap.",
    ),
)
COMPACT = (
    Mistake(
        "nothing is kept yet",
        known.gives(lambda case: np.zeros(case.arguments[0].size)),
        "out still holds the zeros that it began with.",
    ),
    MASK_SELF,
    MASK,
    UNWRITTEN,
    NO_BARRIER,
    SHORT,
    Mistake(
        "a place too far on",
        known.gives(cases.one_place_on),
        "out[0] is empty. An element's place is the number of those kept before it; its own bit does not count.",
    ),
    Mistake(
        "no guard for the last round",
        known.out_of_bounds,
        "The last round has fewer than 256 elements: a thread without one brings 0, which is not kept.",
    ),
    GONE,
    Mistake(
        "two elements in one place",
        known.found(*known.RACES, space="global"),
        "Two threads store to one element of out. A place is the number of elements kept before: in this "
        "warp, in the warps before it, and in all rounds before this one; who keeps nothing stores nothing.",
    ),
    Mistake(
        "holes are left",
        lambda e: any(
            known.gives(each)(e)
            for each in (lambda case: np.maximum(case.arguments[0], 0), traces.holes_between_rounds)
        ),
        "Elements or rounds begin where they stood in x. A place is the number of elements that are kept before it.",
    ),
    Mistake(
        "the negative ones are kept",
        known.gives(traces.negative_kept),
        "What is greater than 0 is kept.",
    ),
    Mistake(
        "each round begins at 0",
        known.gives(cases.chunks_overwrite),
        "The next 256 elements overwrite what the first ones left: carry on how many have been kept so far.",
    ),
    Mistake(
        "only the first 256",
        known.gives(
            lambda case: np.pad(cases.kept(x := case.arguments[0][:BLOCK]), (0, case.out.expected.size - x.size))
        ),
        "The block has 256 threads, and the array more elements: go on, 256 further each time.",
    ),
    Mistake(
        "whole rounds only",
        known.gives(cases.whole_rounds_only),
        "What is left after the last 256 is missing: one round more, in which only some threads have an element.",
    ),
    Mistake(
        "zeros are kept",
        known.gives(cases.zeros_kept),
        "Zero is not positive, and takes no place.",
    ),
    Mistake(
        "the order is that of arrival",
        traces.in_other_order,
        "Every element is there, and in another order: places went to whoever came first. A warp's place is what all "
        "warps before it have kept, whether they have come yet or not.",
    ),
    Mistake(
        "places from an atomic",
        known.over("atomics"),
        "Right here, because warps ran in order, and by nothing else. A scan gives every element its place, "
        "whoever comes first.",
    ),
    Mistake(
        "loaded, and loaded again",
        lambda e: known.over(LOADED)(e) and not loads(3)(e),
        "Right, but elements are loaded twice. In one pass each is loaded once: put it into a variable, which "
        "outlives barriers; the compiler may not keep it across one for you.",
    ),
    Mistake(
        "everything before is counted anew",
        loads(32),
        "Right, but to find its place each thread goes through what lies before it. A scan shares that work: bits of a "
        "warp, counts of warps, and a sum that is carried on.",
    ),
    Mistake(
        "lanes that do not read neighbours",
        lambda e: known.over(LOADED)(e) or known.over("bytes stored per byte needed")(e),
        "Right, but a sector of 32 bytes is moved for each float. Let the lanes of a warp look at neighbours, "
        "and several warps at once.",
    ),
    Mistake(
        "few do the work of all",
        known.over(SHARED_OUT.label),
        "Right, but one of eight warps does nearly everything. In a round each of the 256 threads has an element.",
    ),
    Mistake(
        "barriers at every step",
        known.over("barriers per round of 256"),
        "Right, with barriers at each step of a scan in shared memory. Within a warp none is needed.",
    ),
)
