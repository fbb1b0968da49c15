"""Lab 02, coalescing: records into planes, heads before tokens, rows with a pitch, and rows of a table."""

from __future__ import annotations

from helpers.exercises import Budget, Exercise, Mistake
from helpers.exercises import lab02_cases as cases
from helpers.exercises import mistakes as known
from helpers.exercises.measures import (
    load_requests_for_written,
    loaded_for_needed,
    loaded_for_written,
    stored_for_needed,
)

LOADED, STORED = "bytes loaded per byte needed", "bytes stored per byte needed"
REQUESTS, FOR_STORED = "load requests per 512 bytes", "bytes loaded per byte stored"


def _limit(label: str, at_most: float):
    """Within the budget by far, or over it by far: so many times what is needed."""
    return lambda e: any(each.label == label and each.over and each.value > at_most for each in e.budgets)


def _again(evidence) -> bool:
    """More than lanes that are apart can cost: 32 bytes for a float are 8 times what is needed."""
    return _limit(LOADED, 8.5)(evidence) or _limit(STORED, 8.5)(evidence)


COALESCED_LOADS = Budget(
    LOADED,
    loaded_for_needed,
    1.3,
    "A sector comes once if one request, or none, asks for it: let the lanes of a warp want neighbours.",
)
COALESCED_STORES = Budget(
    STORED,
    stored_for_needed,
    1.3,
    "Stores are counted like loads: a sector is stored to once if the lanes of one request fill it.",
    "global_store_sectors",
)

EXERCISES = (
    Exercise(
        key="lab02.planes",
        title="records into planes, in CUDA C",
        language="cuda",
        name="planes",
        cases=lambda: [cases.planes_case(n) for n in (1, 31, 32, 97, 128, 500)],
        measured=lambda: cases.planes_case(2000),
        drawn=cases.planes_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(COALESCED_LOADS, COALESCED_STORES),
        mistakes=(
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
                known.gives(lambda case: case.out.expected.reshape(4, -1)[::-1].ravel()),
                "The planes are right and stand in the wrong order: x is the first field, w the last.",
            ),
            Mistake(
                "the same work many times",
                _again,
                "The result is right, but several threads or blocks do the same. Each record has one owner in the "
                "grid.",
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
                "The result is right. But each request strides over records, and brings all of their sectors for a "
                "part of the bytes. A lane wants 16 bytes that lie side by side: ask for them at once.",
            ),
        ),
        hints=(
            "A record is 16 bytes, and a lane may load 16 bytes at once.",
            "float4 r = reinterpret_cast<const float4*>(records)[i]; and the fields are r.x, r.y, r.z, r.w.",
            "if (i < n) { load r; out[i] = r.x; out[n + i] = r.y; out[2 * n + i] = r.z; out[3 * n + i] = r.w; }",
        ),
        why=(
            "Four strided loads want the same sectors, one after the other, and only a cache can spare three of the "
            "four journeys. One float4 a lane says in a single request what the warp wants: 512 bytes, 16 sectors, all "
            "used. The four stores are coalesced by themselves, since in each plane neighbouring lanes have "
            "neighbouring places. Where n is no multiple of 8 the planes begin inside a sector: pad them, as "
            "chapter 04 pads rows."
        ),
        stretch="go back from planes to records. Which side wants the float4 now?",
    ),
    Exercise(
        key="lab02.heads",
        title="heads before tokens, in Numba",
        language="numba",
        name="heads_first",
        cases=lambda: [
            cases.heads_case(*shape)
            for shape in ((1, 1, 1), (1, 3, 31), (31, 3, 1), (5, 4, 7), (4, 5, 13), (16, 2, 32))
        ],
        measured=lambda: cases.heads_case(30, 4, 40),
        drawn=cases.heads_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(COALESCED_LOADS, COALESCED_STORES),
        mistakes=(
            Mistake(
                "no guard, or shapes mixed up",
                known.out_of_bounds,
                "Some thread left an array. x is (tokens, heads, size) and out is (heads, tokens, size); threads from "
                "x.size on have no element.",
            ),
            Mistake(
                "copied as it lies",
                known.gives(cases.as_it_lies),
                "The elements are in the order of x. Only the index of the innermost dimension stays the last one.",
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
                "The result is right, but several threads or blocks do the same. Each element has one owner in the "
                "grid.",
            ),
            Mistake(
                "neighbouring lanes are apart",
                lambda e: known.over(LOADED)(e) or known.over(STORED)(e),
                "The result is right, but what a warp asks for at once does not lie side by side: its lanes are rows "
                "or runs apart, or one works alone. In both layouts the last index is the one whose neighbours touch: "
                "let it change fastest from thread to thread.",
            ),
        ),
        hints=(
            "Three indices hide in the thread's number. Which one should differ between lane 0 and lane 1?",
            "k = i % size; then i // size counts rows of `size` floats, of x or of out, as you like.",
            "k = i % size; token = i // size % tokens; head = i // size // tokens; out[head, token, k] = x[token, "
            "head, k].",
        ),
        why=(
            "Both layouts keep the `size` numbers of one head side by side, so a copy can be coalesced on both sides "
            "without shared memory: rows move, and none is turned. That is so whenever the last dimension stays the "
            "last; a transpose, where it does not, needs the tile of chapter 05. Order of work is yours to choose: "
            "the same elements cost up to eight times as much when neighbouring lanes take them a row apart."
        ),
        stretch="swap the last two dimensions as well. Which of load and store can still be coalesced?",
    ),
    Exercise(
        key="lab02.shrink",
        title="half the columns, rows with a pitch, in CUDA C",
        language="cuda",
        name="shrink",
        cases=lambda: [
            cases.shrink_case(*shape) for shape in ((1, 2), (1, 71), (70, 3), (13, 37), (37, 26), (32, 128))
        ],
        measured=lambda: cases.shrink_case(30, 200),
        drawn=cases.shrinks_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(COALESCED_LOADS, COALESCED_STORES),
        mistakes=(
            Mistake(
                "nothing is written yet",
                known.gives(lambda case: case.out.initial),
                "Every element of out still holds what it began with.",
            ),
            Mistake(
                "no guard below",
                cases.left_a_row,
                "Some thread left an array: blocks are 32 × 8, and rows and columns / 2 say how far the image goes, "
                "with < and not <=.",
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
        ),
        hints=(
            "Where does row y begin, in x and in out? And how wide is what a thread loads?",
            "reinterpret_cast<const float2*>(x + y * pitch)[c] is pair c of row y: its .x and its .y.",
            "if (y < rows && c < columns / 2) { float2 p = …; out[y * out_pitch + c] = 0.5f * (p.x + p.y); }",
        ),
        why=(
            "A pitch that is a multiple of 8 floats lets every row begin with a sector, so that no warp pays for a "
            "fifth one, and a float2 or float4 may be loaded anywhere in a row. The two scalar loads would be "
            "strided by "
            "2: each moves all the sectors of 32 pairs and uses half of the bytes. What lies behind a row may be "
            "anything, here NaN; reading over it is harmless in time and fatal in a sum. cudaMallocPitch chooses "
            "such a "
            "pitch for you, and says it in bytes."
        ),
        stretch="halve the rows too: four pixels become one. How many loads does a thread need, and how wide?",
    ),
    Exercise(
        key="lab02.embed",
        title="rows of a table by any launch, in CUDA C",
        language="cuda",
        name="embed",
        cases=lambda: [
            cases.embed_case(*each)
            for each in (
                (1, 4, 1, 32),
                (5, 8, 1, 64),
                (97, 12, 2, 32),
                (13, 36, 3, 96),
                (37, 64, 2, 128),
                (31, 20, 40, 128),
                (9, 260, 2, 64),
            )
        ],
        measured=lambda: cases.embed_case(50, 128, 6, 128),
        drawn=cases.embeds_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            Budget(
                REQUESTS,
                load_requests_for_written,
                2.6,
                "32 lanes load 512 bytes at once, 16 each; the token is the second request.",
                "global_load_requests",
            ),
            Budget(
                FOR_STORED,
                loaded_for_written,
                1.3,
                "A row is loaded once for each token that names it, and the lanes of a request want neighbours.",
            ),
            COALESCED_STORES,
        ),
        mistakes=(
            Mistake(
                "no row for a negative token",
                cases.negative_read,
                "A token of -1 stands for none: nothing is read for it, and its row is 0.",
            ),
            Mistake(
                "a thread left its array",
                known.out_of_bounds,
                "A row has `width` floats, and `width / 4` float4s: how many pieces are there in all, and which index "
                "counts what?",
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
                "The result is right. But what lanes store at once does not lie side by side, or one block repeats "
                "what another did. Let neighbouring lanes take neighbouring pieces, and step by the whole grid.",
            ),
            Mistake(
                "less than 16 bytes a lane",
                known.over(REQUESTS),
                "The result is right, with more requests than it takes. A lane may load 16 bytes, and every row begins "
                "at a multiple of 16.",
            ),
        ),
        hints=(
            "Think of the result as tokens * width / 4 pieces of 16 bytes. Which piece does a thread take, and "
            "which next?",
            "Piece i belongs to token i / (width / 4), and is number i % (width / 4) in its row. The threads of the "
            "grid take piece after piece, side by side.",
            "For piece k of token t: out4[i] = token[t] < 0 ? make_float4(0, 0, 0, 0) : table4[token[t] * (width / "
            "4) + k]; "
            "i steps by gridDim.x * blockDim.x.",
        ),
        why=(
            "The rows lie anywhere in the table, and the copy is coalesced all the same: what counts is that the lanes "
            "of one request share a row. A gather of long rows costs no more than a copy; a gather of single floats "
            "would cost a sector each. float4 cuts the requests to a quarter, at the price of an alignment that the "
            "width has to keep. Neighbouring lanes read the same token, which is one sector for all of them."
        ),
        stretch="add a second table, by position, as a transformer does. What do the loads of one launch save over "
        "two?",
    ),
)
