"""What is done wrong in lab 02, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.exercises import lab02_cases as cases
from helpers.exercises import lab02_traces as traces
from helpers.exercises.lab02_cases import BLOCK
from helpers.vgpu.base.errors import Misaligned

LOADED, STORED = "bytes loaded per byte needed", "bytes stored per byte needed"
REQUESTS, FOR_STORED = "load requests per 512 bytes", "bytes loaded per byte stored"


def _limit(label: str, at_most: float):
    """Within the budget by far, or over it by far: so many times what is needed."""
    return lambda e: any(each.label == label and each.over and each.value > at_most for each in e.budgets)


def _again(evidence) -> bool:
    """More than lanes that are apart can cost: 32 bytes for a float are 8 times what is needed."""
    return _limit(LOADED, 8.5)(evidence) or _limit(STORED, 8.5)(evidence)


FLOATS_COUNTED = Mistake(
    "a pointer that counts floats",
    lambda e: any(isinstance(o.error, Misaligned) for o in e.outcomes),
    "A wide load begins in the middle of another one: what is added to a pointer to float counts floats. Turn the "
    "pointer into one to float2 or float4 first, and count these: reinterpret_cast<const float4*>(p)[i].",
)
WHOLE_NUMBERS = Mistake(
    "fractions are lost",
    traces.in_whole_numbers,
    "What comes out are whole numbers: on its way a float was kept in a variable of type int.",
)

PLANES = (
    FLOATS_COUNTED,
    WHOLE_NUMBERS,
    Mistake(
        "no guard",
        cases.only_beyond_the_end,
        "The last block has threads without a record: each asks first whether i < n.",
    ),
    Mistake(
        "an index that leads too far",
        known.out_of_bounds,
        "Some thread leaves its array, and not for want of a guard. Record i begins at float 4 * i, and is "
        "number i of the float4s; its field c belongs at c * n + i.",
    ),
    Mistake(
        "every block does the work of block 0",
        cases.of_block_0_in_planes,
        "threadIdx.x begins at 0 in every block. A thread's place in the grid is blockIdx.x * blockDim.x + "
        "threadIdx.x.",
    ),
    Mistake(
        "planes into records",
        known.gives(lambda case: case.arguments[0].reshape(4, -1).T.ravel()),
        "That is the way back. Records are what comes in: field c of record i lies at 4 * i + c, and belongs "
        "at c * n + i.",
    ),
    Mistake(
        "still records",
        known.gives(lambda case: case.arguments[0]),
        "The result lies as the input does. Field c of record i belongs at c * n + i.",
    ),
    Mistake(
        "the fields are in another order",
        traces.planes_mixed,
        "Each plane is one field of all records, and not each its own: x is the first field, y the second, z the "
        "third, w the last. Does one of them go to two planes?",
    ),
    Mistake(
        "some planes are left out",
        traces.planes_left_out,
        "Whole planes are not written. A record has four fields, and each has a place of its own: out[i], out[n + i], "
        "out[2 * n + i] and out[3 * n + i].",
    ),
    Mistake(
        "the same work many times",
        _again,
        "The result is right, but several threads or blocks do the same. Each record has one owner in the grid.",
    ),
    Mistake(
        "a sector for each float",
        _limit(LOADED, 4.5),
        "The result is right, but a sector comes again for each float: one thread works alone, or each has "
        "a run "
        "of records. Let neighbouring lanes take neighbouring records.",
    ),
    Mistake(
        "stores that stride",
        known.over(STORED),
        "The result is right, but one request of stores goes to sectors that it does not fill. In plane c, "
        "lane "
        "after lane stores record after record.",
    ),
    Mistake(
        "the same sectors again and again",
        known.over(LOADED),
        "The result is right. But requests stride over records, or load each of them again for the next field, and "
        "bring the same sectors again. A lane wants 16 bytes that lie side by side: ask for them at once, and once.",
    ),
)
HEADS = (
    WHOLE_NUMBERS,
    Mistake(
        "an index beyond its dimension",
        known.out_of_whole_blocks(BLOCK),
        "Some thread left an array where every thread has an element, so it is an index and not the guard. x is "
        "(tokens, heads, size) and out is (heads, tokens, size). A number is taken apart from its end: a remainder by "
        "one size, then a division by the same size, then the next.",
    ),
    Mistake(
        "no guard",
        known.out_of_bounds,
        "The last block may have threads without an element: there are x.size elements, from 0 to x.size - 1.",
    ),
    Mistake(
        "copied as it lies",
        known.gives(cases.as_it_lies),
        "The elements are in the order of x. Only the index of the innermost dimension stays the last one.",
    ),
    Mistake(
        "every block does the work of block 0",
        traces.one_block_of_heads,
        "Written is as much as one block has threads, and the rest is not: threadIdx.x begins at 0 in every block. A "
        "thread's place in the grid is cuda.grid(1).",
    ),
    Mistake(
        "some elements have no thread",
        lambda e: known.untouched_somewhere(e) and not known.nothing_written(e),
        "What was written is right, and some of it was not written. Does the guard let x.size elements "
        "through, and does each division follow the remainder by the same size?",
    ),
    Mistake(
        "the same work many times",
        _again,
        "The result is right, but several threads or blocks do the same. Each element has one owner in the grid.",
    ),
    Mistake(
        "sectors come twice",
        lambda e: not any(each.value > 2.6 for each in e.budgets) and (known.over(LOADED)(e) or known.over(STORED)(e)),
        "The result is right, but sectors are loaded or stored to twice. Either each element is copied twice, or each "
        "thread takes elements of its own, so that the lanes of a warp are apart. One element for each thread, once.",
    ),
    Mistake(
        "neighbouring lanes are apart",
        lambda e: known.over(LOADED)(e) or known.over(STORED)(e),
        "The result is right, but what a warp asks for at once does not lie side by side: its lanes are rows "
        "or runs apart, or one works alone. In both layouts the last index is the one whose neighbours touch: "
        "let it change fastest from thread to thread.",
    ),
)
SHRINK = (
    FLOATS_COUNTED,
    WHOLE_NUMBERS,
    Mistake(
        "nothing is written yet",
        known.gives(lambda case: case.out.initial),
        "Every element of out still holds what it began with.",
    ),
    Mistake(
        "no guard below",
        cases.left_a_row,
        "Some thread left an array: blocks are 32 × 8, and rows and columns / 2 say how far the image goes, "
        "y < rows and c < columns / 2, with < and not <=.",
    ),
    Mistake(
        "an index that leads too far",
        known.out_of_bounds,
        "Some thread left an array, and one row of two columns is kept to. Row y begins at y * pitch in x, and "
        "at y * out_pitch in out, in floats; a float2 is two of them, and a row has columns / 2 pairs.",
    ),
    Mistake(
        "some pixels are never written",
        cases.some_as_before,
        "What was written is right, and some pixels hold what they held before. Does the place of a thread "
        "count the blocks in both directions, and does the guard let all rows and all pairs through?",
    ),
    Mistake(
        "half of it is 0",
        known.gives(cases.times(0)),
        "1 / 2 is a division of whole numbers, and 0. Write 0.5f.",
    ),
    Mistake(
        "the sum, not the mean",
        known.gives(cases.times(2)),
        "Each pixel is the sum of two neighbours. Their mean is half of it.",
    ),
    Mistake(
        "not the mean of the two",
        traces.no_mean,
        "The pairs are the right ones, and what is made of them is not their mean: 0.5f * (p.x + p.y), both of them, "
        "and in brackets.",
    ),
    Mistake(
        "added to what was there",
        traces.added_to_before,
        "out holds something to begin with, and the mean was added to it. Store it with =, by one thread.",
    ),
    Mistake(
        "pairs that overlap",
        known.gives(cases.overlapping),
        "Pixel c of the result comes from the columns 2 * c and 2 * c + 1, not from c and c + 1.",
    ),
    Mistake(
        "the pitch of x is forgotten",
        known.gives(cases.no_pitch),
        "Row y of x begins at y * pitch. y * columns would be so if nothing stood between the rows.",
    ),
    Mistake(
        "something is stored behind the rows",
        cases.padding_written,
        "The image is right, and the padding of out is not as it was. A row has columns / 2 elements, and what "
        "comes behind them is not yours.",
    ),
    Mistake(
        "the two pitches are mixed up",
        cases.first_row_right,
        "Some rows are not where they belong. x has rows `pitch` floats apart, out has rows `out_pitch` floats "
        "apart; both count floats, not bytes.",
    ),
    Mistake(
        "the same work many times",
        _again,
        "The result is right, but several threads or blocks do the same. Each pixel has one owner in the grid.",
    ),
    Mistake(
        "lanes down the rows",
        _limit(STORED, 3.5),
        "The result is right, but the lanes of a warp are in different rows, or one works alone. Let x, in "
        "which lanes differ, run along a row.",
    ),
    Mistake(
        "stores that stride",
        known.over(STORED),
        "The result is right, but what lanes store at once does not lie side by side. Give each thread one "
        "pixel, or let it store its neighbours at once, as a float2.",
    ),
    Mistake(
        "both of a pair by themselves",
        known.over(LOADED),
        "The result is right. But the request for the left ones of all pairs brings the right ones too, and "
        "the second request brings them again. A float2 is a pair.",
    ),
)
EMBED = (
    FLOATS_COUNTED,
    Mistake(
        "no row for a negative token",
        cases.negative_read,
        "A token of -1 stands for none: nothing is read for it, and its row is 0.",
    ),
    Mistake(
        "a thread left its array",
        known.out_of_bounds,
        "A row has `width` floats, and `width / 4` float4s: how many pieces are there in all, and which index "
        "counts what? The token chooses a row of the table, and only there: piece i is stored as piece i.",
    ),
    Mistake(
        "floats are counted for pieces",
        known.gives(cases.row_by_floats),
        "A row has width / 4 pieces of 16 bytes, so piece i belongs to token i / (width / 4).",
    ),
    Mistake(
        "token 0 is taken for none",
        known.gives(cases.none_for_the_first),
        "Token 0 stands for the first row of the table. Only -1 stands for none.",
    ),
    Mistake(
        "the row of its place, not of its token",
        known.gives(cases.row_of_place),
        "Row t of the result is row token[t] of the table.",
    ),
    Mistake(
        "row 0 for a negative token",
        known.gives(cases.first_row_for_none),
        "A token of -1 stands for none; its row is 0, not the table's first.",
    ),
    Mistake(
        "no zeros for a negative token",
        cases.none_left_alone,
        "The rows of tokens that are -1 were left alone. They have to be written, with 0.",
    ),
    Mistake(
        "a negative token's row is not 0",
        traces.none_is_not_zero,
        "Wrong are rows of negative tokens only: all `width` floats of such a row are 0.",
    ),
    Mistake(
        "a thread ends at a negative token",
        traces.ended_at_none,
        "A thread that meets a token of -1 leaves the loop, and what comes after is not written. It has to go on.",
    ),
    Mistake(
        "the token of the first piece for all",
        known.gives(traces.token_of_first),
        "The token was looked up before the loop. A thread that comes round again may be in another row: look it up in "
        "each round.",
    ),
    Mistake(
        "tokens are counted for pieces",
        traces.as_many_as_tokens,
        "The loop ends after `tokens` pieces. A row has width / 4 of them, so there are tokens * (width / 4).",
    ),
    Mistake(
        "every block does the work of block 0",
        cases.of_block_0_in_rounds,
        "All blocks start where block 0 does: threadIdx.x begins at 0 in each. Start at the thread's number in "
        "the whole grid.",
    ),
    Mistake(
        "too few threads, and no loop",
        lambda e: known.untouched_somewhere(e) and any(o.ok for o in e.outcomes),
        "Where a launch, or a warp, has fewer threads than there is work, each has to come round again.",
    ),
    Mistake(
        "sectors are stored to again and again",
        _limit(STORED, 1.6),
        "The result is right. But what lanes store at once does not lie side by side, or something is stored twice, "
        "by two blocks or in two loops. Let neighbouring lanes take neighbouring pieces, store each as wide as it was "
        "loaded, and step by the whole grid.",
    ),
    Mistake(
        "less than 16 bytes a lane",
        known.over(REQUESTS),
        "The result is right, with more requests than it takes. A lane may load 16 bytes, and every row begins "
        "at a multiple of 16.",
    ),
)
