"""Budgets of the lab, and mistakes that several exercises share: their names and words."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import loaded_for_needed, per_block, per_warp

BLOCK, BLOCKS = 128, 4
ROWS_A_BLOCK = 4  # of the case that is counted

NOBODY_LAST = (
    "nobody is last",
    "out was not written at all. Each block draws one ticket, by one of its threads, also a block without elements. "
    "The block that draws ticket gridDim.x - 1 is the last one: atomics return the value from before.",
)
NO_FENCE = (
    "nothing orders the blocks",
    "A block reads what other blocks have written, and nothing orders the two: a barrier ends at the block's border, "
    "and a ticket alone orders nothing but tickets. A fence before the ticket is drawn: whoever sees the ticket sees "
    "what came before. A fence after it, before what others left is read. And only who has drawn the last ticket may "
    "read.",
)
NO_ORDER = (
    "nothing orders the blocks, or their tickets",
    f"{NO_FENCE[1]} By ++ two blocks may draw the same ticket: then nobody is last, or two are. An atomic reads and "
    "adds in one piece, and returns what was there before.",
)
TICKETS = (
    "a ticket for each thread",
    "Several threads of a block draw a ticket, and overwrite one another's answer in shared memory. A block has one "
    "ticket: one thread draws it, leaves there whether it was the last, and all others read that after a barrier.",
)
WITHOUT_ATOMIC = (
    "changed without an atomic",
    "Reading a word, changing it and writing it back are three steps: of two threads that do so at once, one change is "
    "lost. An atomic does them in one piece. A barrier would not help.",
)


def loads(at_most: float, teach: str) -> Budget:
    """A limit on bytes loaded for each byte needed."""
    return Budget("bytes loaded per byte needed", loaded_for_needed, at_most, teach)


def one_ticket(teach: str) -> Budget:
    """Too many atomics, or none, as when one block does the work of all or a ticket is drawn by ++."""
    return Budget(
        "global atomics per block, more or fewer than one",
        lambda profile: abs(per_block("global_update_requests")(profile) - 1),
        0,
        f"{teach} With more atomics on global memory, add up in shared memory first, and wait for nobody in a loop. "
        "With none, either one block does the work of all, or a ticket by ++ may be drawn twice.",
        "global_atomic_requests",
    )


BARRIERS_A_ROW = Budget(
    "barriers of a warp per row",
    lambda profile: per_warp("synchronisations")(profile) / ROWS_A_BLOCK,
    3,
    "Set, compare, read, and on to the next row: three places where all must have arrived.",
    "barriers",
)
QUEUE_OF_A_ROW = Budget(
    "shared atomic wavefronts per row",
    lambda profile: per_block("shared_atomic_wavefronts", "global_update_requests")(profile) / ROWS_A_BLOCK,
    BLOCK,
    "All want the same word, so they queue. Let each thread find its own least first, and ask once.",
    "shared_atomic_wavefronts",
)
ATOMICS_A_BLOCK = Budget(
    "global atomics per block",
    per_block("global_update_requests"),
    8,
    "256 bins are eight requests of a warp. Count in shared memory, and add a block's bins once.",
    "global_atomic_requests",
)
QUEUE = Budget(
    "shared atomic wavefronts per 32 bytes",
    lambda profile: 32 * profile["shared_atomic_wavefronts"] / profile.needed.read_bytes,
    10,
    "Lanes that want the same word follow one another. Spread a bin over several words, or let lanes with the same "
    "value speak with one voice.",
    "shared_atomic_wavefronts",
)
BARRIERS_A_WARP = Budget(
    "barriers per warp",
    per_warp("synchronisations"),
    8,
    "Set, count, add, ticket, and what the last block needs: a handful, whatever the number of values.",
    "barriers",
)
