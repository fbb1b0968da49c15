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
    return lambda e: any(each.label == label and not each.ok and each.value > at_most for each in e.budgets)


COALESCED_LOADS = Budget(
    LOADED,
    loaded_for_needed,
    1.1,
    "A sector comes once if one request, or none, asks for it: let the lanes of a warp want neighbours.",
)
COALESCED_STORES = Budget(
    STORED,
    stored_for_needed,
    1.1,
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
        budgets=(COALESCED_LOADS, COALESCED_STORES),
        mistakes=(
            Mistake(
                "no guard",
                known.out_of_bounds,
                "The last block has threads without a record: each asks first whether i < n.",
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
                "the same sectors four times",
                known.over(LOADED),
                "The result is right. But each of the four requests strides over records, and brings all of their "
                "sectors for a quarter of the bytes. One float4 a lane brings them once.",
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
                "What was written is right, and some of it was not written. Divide by the sizes in the order in which "
                "the remainders were taken.",
            ),
            Mistake(
                "lanes along the tokens, or heads",
                lambda e: known.over(LOADED)(e) or known.over(STORED)(e),
                "The result is right, but the lanes of a warp are whole rows apart. In both layouts the last index is "
                "the one whose neighbours touch: let it change fastest from thread to thread.",
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
        budgets=(COALESCED_LOADS, COALESCED_STORES),
        mistakes=(
            Mistake(
                "nothing is written yet",
                known.gives(lambda case: case.out.initial),
                "Every element of out still holds what it began with.",
            ),
            Mistake(
                "no guard below",
                known.out_of_bounds,
                "Some thread left an array: blocks are 32 × 8, and rows and columns / 2 say how far the image goes.",
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
                "apart.",
            ),
            Mistake(
                "lanes down the rows",
                known.over(STORED),
                "The result is right, but the lanes of a warp are in different rows. Let x, in which lanes differ, run "
                "along a row.",
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
            )
        ],
        measured=lambda: cases.embed_case(50, 128, 6, 128),
        drawn=cases.embeds_drawn,
        sanitize=True,
        budgets=(
            Budget(
                REQUESTS,
                load_requests_for_written,
                2.1,
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
                "too few threads, and no loop",
                lambda e: known.untouched_somewhere(e) and any(o.ok for o in e.outcomes),
                "Where a launch has fewer threads than there is work, each has to come round again.",
            ),
            Mistake(
                "sectors are stored to again and again",
                _limit(STORED, 1.6),
                "The result is right. But the lanes of a warp are a whole row apart, or one block repeats what another "
                "did. Let neighbouring lanes take neighbouring pieces, and step by the whole grid.",
            ),
            Mistake(
                "one float at a time",
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
