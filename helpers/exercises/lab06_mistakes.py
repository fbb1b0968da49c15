"""What is done wrong in lab 06, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.budgets import SHARED_OUT
from helpers.checking.exercise import Mistake
from helpers.exercises import lab06_cases as cases

IDLE, DIVERGENT = "idle lanes per instruction", "divergent branches per warp"
INSTRUCTIONS, STORED = "instructions per 32 results", "bytes stored per byte needed"
NO_GUARD = Mistake(
    "a thread left its array",
    known.out_of_bounds,
    "Whole blocks have more threads than there are elements: each asks first whether its element exists.",
)


BUCKETIZE = (
    Mistake(
        "the shared array is too short",
        lambda e: known.past_shared(e) or known.found("overrun")(e),
        "There may be more edges than the shared array has places, and more than the block has threads. They can as "
        "well be read where they are: all lanes ask for the same one.",
    ),
    Mistake(
        "an edge that does not exist",
        cases.outside_where_all_threads_have_work,
        "Every thread has an element there, and still one reaches outside. Edges are edges[0] to "
        "edges[m - 1], and a thread's element is x[i].",
    ),
    NO_GUARD,
    Mistake(
        "nothing is counted yet",
        known.gives(lambda case: np.zeros(case.out.expected.size)),
        "Every element came out in bucket 0: no edge has been looked at.",
    ),
    Mistake(
        "edges count from below only",
        known.gives(cases.edges_below),
        "An element that equals an edge is in the bucket above it: count edges that are <= x.",
    ),
    Mistake(
        "counted from the other side",
        lambda e: any(
            known.gives(lambda case, below=below: case.arguments[1].size - below(case))(e)
            for below in (lambda case: case.out.expected, cases.edges_below)
        ),
        "You count the edges above an element. The bucket is the number of edges that are not.",
    ),
    Mistake(
        "out does not begin at 0",
        known.gives(lambda case: case.out.expected - 1),
        "out is added to, and holds anything before: here -1. Count in a variable that begins at 0, and store it once.",
    ),
    Mistake(
        "one too few",
        known.gives(lambda case: np.maximum(case.out.expected - 1, 0)),
        "Every bucket but 0 is one too low. Edges are counted from edges[0] on; and their number is asked for, not the "
        "place of the last one.",
    ),
    Mistake(
        "beyond the last edge nothing is stored",
        lambda e: (
            any(not o.ok for o in e.outcomes)
            and all(
                o.ok
                or (
                    o.untouched is not None and (o.untouched == (o.case.out.expected == o.case.arguments[1].size)).all()
                )
                for o in e.outcomes
            )
        ),
        "An element that no edge is above comes to the end of the loop, and has a bucket too: m.",
    ),
    Mistake(
        "one too many",
        known.gives(lambda case: case.out.expected + 1),
        "Below the first edge is bucket 0. Begin to count at 0.",
    ),
    Mistake(
        "only the last comparison counts",
        known.gives(lambda case: case.out.expected == case.arguments[1].size),
        "Each comparison takes the place of the one before. Add it to the count.",
    ),
    Mistake(
        "a count that stops at 1",
        known.gives(lambda case: case.out.expected > 0),
        "A bool holds 0 or 1. The count is an int.",
    ),
    Mistake(
        "fractions are cut off",
        known.gives(cases.buckets_of_whole_numbers),
        "x[i] is a float. An int cuts off its fraction, and 2.75 is no longer above 2.5.",
    ),
    Mistake(
        "the last edge is left out",
        known.gives(lambda case: np.minimum(case.out.expected, case.arguments[1].size - 1)),
        "Elements beyond the last edge are in bucket m, so all m edges have to be looked at.",
    ),
    Mistake(
        "lanes that leave the loop one by one",
        known.over(IDLE),
        "The result is right, but a lane that has found its bucket waits for the last one of its warp. Let all "
        "lanes look at the same edges, and add up what they find.",
    ),
    Mistake(
        "a branch at every edge",
        known.over(DIVERGENT),
        "The result is right, but at edge after edge some lanes of a warp have something to do that others have not. A "
        "comparison is 0 or 1: add it in all lanes.",
    ),
    Mistake(
        "more than a look at each edge",
        known.over(INSTRUCTIONS),
        "The result is right, and hardly a lane is idle, but a warp executes far more than a load, a comparison and a "
        "sum for each edge.",
    ),
)
ROLES = (
    Mistake(
        "rows and columns of out swapped",
        cases.wrote_outside,
        "out has two rows and a column for each element: out[role, i], and i is below x.size.",
    ),
    NO_GUARD,
    Mistake(
        "one role has no threads",
        cases.one_role_only,
        "One row of out was never written: some warps have to take the other role.",
    ),
    Mistake(
        "the rows are swapped",
        known.gives(cases.roles_swapped),
        "out[0] is the long series, with 0.75, and out[1] the short one.",
    ),
    Mistake(
        "a series has another number of rounds",
        lambda e: any(known.gives(cases.roles_of_lengths(*lengths))(e) for lengths in cases.OTHER_LENGTHS),
        "The series of out[0] has 3 · rounds rounds, that of out[1] has rounds of them.",
    ),
    Mistake(
        "the two factors exchanged",
        known.gives(cases.roles_of_lengths(lambda rounds: 3 * rounds, lambda rounds: rounds, 0.5, 0.75)),
        "The long series has the factor 0.75, the short one 0.5.",
    ),
    Mistake(
        "v in place of x[i]",
        known.gives(cases.short_series_without_x),
        "In the short series x[i] is subtracted in every round, as it was before the first one: v = 0.5 v - x[i].",
    ),
    Mistake(
        "both loops in one role",
        known.gives(cases.long_series_goes_on),
        "In out[0] the short series went on where the long one ended. A role runs one loop.",
    ),
    Mistake(
        "the short series begins where the long one ends",
        known.gives(cases.short_series_begins_late),
        "Both series begin with v = x[i], so the second one needs a variable of its own.",
    ),
    Mistake(
        "the sign of x[i]",
        known.gives(cases.roles_added),
        "In the short series x[i] is subtracted in every round: v = 0.5 v - x[i].",
    ),
    Mistake(
        "some elements have no thread",
        lambda e: known.untouched_somewhere(e) and not known.nothing_written(e),
        "What was written is right. Count: 2n threads, a role and an element for each pair of numbers.",
    ),
    Mistake(
        "both roles in one warp",
        lambda e: known.over(IDLE)(e),
        "The result is right, but in a warp some lanes wait while others work: threads 0 to 31 are one warp, "
        "32 to 63 the next. A role for each warp.",
    ),
    Mistake(
        "stored in every round",
        lambda e: any(each.label == STORED and each.value > 8.01 for each in e.budgets),
        "The result is right, but every element is stored again and again. Keep v in a variable, which is a register, "
        "and store it once.",
    ),
    Mistake(
        "stores that stride",
        known.over(STORED),
        "The result is right and nobody waits, but the elements of a warp do not lie side by side.",
    ),
    Mistake(
        "every thread does both and keeps one",
        known.over(INSTRUCTIONS),
        "The result is right, but warps execute far more than the rounds of one role for each result: both roles, say, "
        "of which one is thrown away.",
    ),
)
REFINE = (
    Mistake(
        "more of the list is read than was written",
        cases.before_the_start,
        "What nobody has written to the list is no index. A place on it is what atomicAdd returns, which is the count "
        "before; and it ends where the count says: k < count.",
    ),
    Mistake(
        "shared memory that nobody has written",
        known.found("uninitialised", space="shared"),
        "Somebody reads an element of shared memory that no thread has written: the count begins with what was "
        "there before, unless one thread sets it to 0; the list ends where the count says.",
    ),
    Mistake(
        "a barrier is missing",
        known.found(*known.RACES, space="shared"),
        "All threads must meet after the count is 0, and again when the list is complete.",
    ),
    Mistake(
        "the list is too short",
        lambda e: known.past_shared(e) or known.found("overrun")(e),
        "A block has 1,024 elements, and all of them may be above the limit.",
    ),
    Mistake(
        "no guard for the last block",
        known.out_of_bounds,
        "The last block has fewer than 1,024 elements: i < n.",
    ),
    Mistake(
        "blocks that meet each other's elements",
        known.found(*known.RACES, space="global"),
        "Two threads store to one element of out. A block has x[blockIdx.x * 1024] to the 1,023 behind it, and "
        "what the list holds says which of all n elements is meant.",
    ),
    Mistake(
        "out is read before it is written",
        known.found("uninitialised", space="global"),
        "costly takes x[i]; in out[i] there is nothing yet.",
    ),
    Mistake(
        "threads that never come to the barrier",
        known.found("barrier_ended", *known.BARRIERS),
        "Some threads have ended while others wait at a barrier. CUDA promises nothing then: all threads of "
        "the block come to it. Guard the work, not the barrier.",
    ),
    Mistake(
        "everything is refined",
        known.gives(cases.all_refined),
        "Elements up to the limit stay as they are.",
    ),
    Mistake(
        "elements at the limit are refined",
        known.gives(lambda case: cases.refined(x := case.arguments[0], x >= case.arguments[3])),
        "What equals the limit is not above it, and stays as it is.",
    ),
    Mistake(
        "the wrong ones are refined",
        lambda e: any(known.gives(each)(e) for each in (cases.below_refined, cases.up_to_limit_refined)),
        "Elements above the limit are refined, the others stay.",
    ),
    Mistake(
        "fractions are cut off",
        known.gives(cases.refined_whole_numbers),
        "An int cuts off fractions. Elements are floats.",
    ),
    Mistake(
        "nothing is refined",
        known.gives(cases.none_refined),
        "All elements came out as they went in: the list is still to be worked off.",
    ),
    Mistake(
        "the index is refined",
        known.gives(cases.index_refined),
        "The list holds indices: costly takes x[list[k]], not list[k].",
    ),
    Mistake(
        "stored by the place on the list",
        cases.stored_by_place,
        "Results stand side by side, in the places of other elements. Each belongs where its element is: note i, and "
        "store to out[list[k]].",
    ),
    Mistake(
        "only what is rare is written",
        cases.only_costly_written,
        "Elements up to the limit have to be stored too, as they are.",
    ),
    Mistake(
        "the list is never worked off",
        cases.no_costly_written,
        "No element above the limit has a result. What is on the list goes through costly and is stored to out.",
    ),
    Mistake(
        "the list is not worked off to its end",
        cases.only_cheap_written,
        "Some elements of the list have no thread: it may be longer than the block has threads.",
    ),
    Mistake(
        "the last elements have no thread",
        lambda e: known.tail_missing(e) and not known.nothing_written(e),
        "What was written is right, and the end is missing. A block has x[blockIdx.x * 1024] to the 1,023 behind it, "
        "eight for each thread; the last element is x[n - 1].",
    ),
    Mistake(
        "several threads work off the same",
        lambda e: not known.over(IDLE)(e) and any(b.label == INSTRUCTIONS and b.value > 200 for b in e.budgets),
        "The result is right, but costly work is done for the same elements by several threads: thread t begins at "
        "t = threadIdx.x and goes on by blockDim.x.",
    ),
    Mistake(
        "most lanes wait",
        known.over(IDLE),
        "The result is right. But nearly every warp has a lane or two with costly work among 30 that wait; "
        "or one "
        "lane works off alone what was collected.",
    ),
    Mistake(
        "one warp works the list off",
        known.over(SHARED_OUT.label),
        "The result is right. But one warp of four does the costly work, and three wait or have ended. All "
        "threads share the list: from threadIdx.x on, by blockDim.x.",
    ),
    Mistake(
        "more work than there is",
        known.over(INSTRUCTIONS),
        "The result is right, but warps execute far more than a look at each element and costly work for a few: it is "
        "done for elements that do not need it, or finding places takes as much.",
    ),
)
REPEAT = (
    Mistake(
        "a row that does not exist",
        cases.read_outside,
        "Rows are value[0] to value[value.size - 1]; first has one element more. Which row does the search end with?",
    ),
    Mistake(
        "a result past the end",
        known.out_of_bounds,
        "Results are out[0] to out[out.size - 1]: row r has those up to first[r + 1] - 1, and threads from "
        "out.size on have none.",
    ),
    Mistake(
        "the first of a row is taken for the row before",
        lambda e: any(known.gives(each)(e) for each in (cases.row_before, cases.row_before_or_last)),
        "Row r has results first[r] to first[r + 1] - 1. The one at first[r] is of row r: look for the last "
        "row "
        "with first[row] <= k.",
    ),
    Mistake(
        "an empty row is taken for the one behind it",
        known.gives(cases.empty_rows_too),
        "Where rows are empty, several begin at one place. The last of them has the results.",
    ),
    Mistake(
        "the last row is never found",
        known.gives(cases.last_row_missed),
        "The last results have the value of a row before theirs. Rows are 0 to value.size - 1, and the search "
        "has to reach the last one.",
    ),
    Mistake(
        "the row behind",
        cases.rows_behind,
        "Some results have the value of the row behind theirs. When lo and hi meet, lo is the row, whichever of the "
        "two mid was.",
    ),
    Mistake(
        "the row instead of its value",
        known.gives(lambda case: np.searchsorted(case.arguments[1], np.arange(case.out.expected.size), "right") - 1),
        "The number of the row came out: its value is value[row].",
    ),
    Mistake(
        "value[k] for result k",
        cases.value_of_result,
        "Value k belongs to row k, not to result k. Which row is result k of?",
    ),
    Mistake(
        "only the first result of each row",
        cases.only_firsts_written,
        "Row r has all results from first[r] to first[r + 1] - 1, or none where the two are equal.",
    ),
    Mistake(
        "a row for each thread",
        lambda e: any(each.label == STORED and each.value > 5 for each in e.budgets),
        "The result is right, but a warp runs as long as its longest row, and its lanes store far apart. Give "
        "each thread one result, and let it find its row.",
    ),
    Mistake(
        "neighbouring results in one thread",
        lambda e: any(each.label == STORED and each.value > 3 for each in e.budgets),
        "The result is right, but a thread has several results side by side, so that the lanes of a warp store that "
        "far apart. Let a thread's results be a warp or a grid apart, or give it one.",
    ),
    Mistake(
        "lanes for which the row is too short",
        known.over(IDLE),
        "The result is right, but many lanes wait while others of their warp go on: for a row that is shorter "
        "than a warp, or for a search of a few threads. Give each thread one result, and let it find its row.",
    ),
    Mistake(
        "more looking than it takes",
        known.over(INSTRUCTIONS),
        "The result is right, and every lane is at work, but looking takes far more than some ten halvings of a sorted "
        "list for each result.",
    ),
)
