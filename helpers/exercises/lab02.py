"""Lab 02, coalescing: records into planes, heads before tokens, rows with a pitch, and rows of a table."""

from __future__ import annotations

from helpers.checking.exercise import Budget, Exercise
from helpers.checking.measures import (
    load_requests_for_written,
    loaded_for_needed,
    loaded_for_written,
    stored_for_needed,
)
from helpers.exercises import lab02_cases as cases
from helpers.exercises import lab02_mistakes as mistakes
from helpers.exercises.lab02_mistakes import FOR_STORED, LOADED, REQUESTS, STORED

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
        mistakes=mistakes.PLANES,
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
        mistakes=mistakes.HEADS,
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
        mistakes=mistakes.SHRINK,
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
        measured=lambda: cases.embed_case(50, 256, 12, 64),
        drawn=cases.embeds_drawn,
        sanitize=True,
        shared_out=True,
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
        mistakes=mistakes.EMBED,
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
