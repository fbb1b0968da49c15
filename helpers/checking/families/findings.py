"""What the sanitizer found, or, of stream work, what nothing orders."""

from __future__ import annotations

from helpers.checking.examine import Evidence
from helpers.checking.families.family import Fact, Family, Look
from helpers.checking.stream_work import Unordered
from vgpu.tools.sanitize.findings import Finding

RACES = ("race_read_write", "race_write_write", "race_lanes", "race_atomic")
BARRIERS = ("barrier_divergent", "deadlock", "barrier_count", "grid_barrier")
MASKS = ("activemask", "partial_warp")


def _found(*kinds: str, space: str = "") -> Look:
    def look(evidence: Evidence) -> str | None:
        for finding in evidence.findings:
            if (not kinds or finding.kind in kinds) and space in ("", finding.space):
                return _where(evidence, finding)
        return None

    return look


def _where(evidence: Evidence, finding: Finding | Unordered) -> Fact:
    """Which array, and which two threads and lines."""
    lines = [n for n in (finding.line, finding.other_line) if n is not None]
    parts = [f"The array is `{finding.array}`," if isinstance(finding, Finding) and finding.array else "It was found"]
    if lines:
        parts.append(f"on line {lines[0]}" if len(set(lines)) == 1 else f"on lines {min(lines)} and {max(lines)}")
    assert evidence.watched is not None  # the case in which the findings were seen
    return Fact(" ".join([*parts, f"with {evidence.watched.name}."]), finding)


def _in_one_line(kind: str, space: str = "") -> Look:
    """Two threads use one element by the same line."""

    def look(evidence: Evidence) -> str | None:
        for finding in evidence.findings:
            same_line = finding.line == finding.other_line is not None
            if finding.kind == kind and same_line and space in ("", finding.space):
                return _where(evidence, finding)
        return None

    return look


def _with_ended(look: Look) -> Look:
    """The same, if threads ended before a barrier that others waited at: the sanitizer gives a hint of that."""

    def both(evidence: Evidence) -> str | None:
        ended = next((hint for hint in evidence.hints if hint.kind == "barrier_ended"), None)
        if ended is None or (found := look(evidence)) is None:
            return None
        words = f"{found} The barrier is on line {ended.line}." if ended.line else found
        return Fact(words, getattr(found, "finding", None))

    return both


def _written_twice(evidence: Evidence) -> str | None:
    """Two threads write one element of shared memory, and no read is in any race."""
    read = _found("race_read_write")(evidence)
    return _found("race_write_write", space="shared")(evidence) if read is None else None


def _races(evidence: Evidence) -> list[Finding]:
    shared = (found for found in evidence.findings if isinstance(found, Finding) and found.space == "shared")
    return [found for found in shared if found.kind in RACES]


def _between_warps(evidence: Evidence) -> str | None:
    """What threads of one warp do is in order, what those of different warps of a block do is not."""
    found = _races(evidence)
    return _where(evidence, found[0]) if found and all(each.spans == ("block",) for each in found) else None


def _overwritten(evidence: Evidence) -> str | None:
    """Some thread wrote what another had read before, with nothing between: it could be the other way round."""
    found = [each for each in _races(evidence) if each.kind == "race_read_write" and each.overwrites]
    return _where(evidence, found[0]) if found else None


def _unlike(evidence: Evidence) -> str | None:
    """Two threads of one block, one of which reads what the other writes, with an atomic on one side."""
    return _found("race_atomic")(evidence)


SEVERAL_STORE = "several threads store to one element"


UNDEFINED = (
    Family(
        "a mask without the lane itself",
        _found("mask_self"),
        "A mask names the lanes that take part in a shuffle, vote or barrier. Each lane that executes the instruction "
        "has to be among them.",
    ),
    Family(
        "lanes that the mask names do not take part",
        _found("mask_absent", "mask_ended", "shuffle_absent"),
        "All lanes that the mask names must execute the shuffle, vote or barrier. What is read from a lane that "
        "doesn't is undefined. Put no branch around the instruction, and let no lane return before it: lanes without "
        "an element take part with a value that changes nothing.",
    ),
    Family(
        SEVERAL_STORE,
        _in_one_line("race_write_write", "shared"),
        "Several threads store to one element of shared memory on the same line. Give every thread its own element, or "
        "let one thread store for all.",
    ),
    Family(
        "threads return before they have filled their part of the tile",
        _with_ended(_found("uninitialised", space="shared")),
        "Shared memory is read that no thread has written, and threads of the block had returned before a barrier. A "
        "thread without an element of the result still has its part of the tile to fill: let it reach the barriers, "
        "and skip only its store at the end.",
    ),
    Family(
        "uninitialised shared memory is read",
        _found("uninitialised", space="shared"),
        "Shared memory holds arbitrary values until a thread of the block writes it. Which thread writes each element "
        "that is read? Elements of a tile that lie outside the input have to be written, too.",
    ),
)
"""What makes values anything, so that an index or a barrier that is wrong behind it may be its consequence."""

FAMILIES = (
    Family(
        "threads wait at different barriers",
        _found(*BARRIERS),
        "Every thread of a block must come to the same barrier: move it out of the branch.",
    ),
    Family(
        "threads end before a barrier",
        _found("barrier_ended"),
        "Some threads have returned while others of their block wait at a barrier, and CUDA doesn't define what "
        "happens then. All threads stay until the last barrier: guard the work, not the barrier.",
    ),
    Family(
        "an index outside shared memory",
        _found("overrun", space="shared"),
        "An index is outside a shared array, and reaches what is stored next to it. How many elements does the array "
        "need?",
    ),
    Family(
        "a barrier that not every thread reaches",
        _with_ended(_found("race_read_write", "race_write_write", space="shared")),
        "Some threads of the block returned without reaching the barrier that has to order two accesses. Guard the "
        "load and the store, never the barrier.",
    ),
    Family(
        "several threads fill one element",
        _written_twice,
        "Two threads write one element of shared memory, and no barrier orders the two. Is the index that they write "
        "to wrong? Each element should be written by one thread.",
    ),
    Family(
        "uninitialised memory is read",
        _found("uninitialised"),
        "Memory that no thread has written holds arbitrary values. += reads the old value, and so does an atomic.",
    ),
    Family(
        "an atomic beside a plain access",
        _found("race_atomic", space="shared"),
        "Some threads update an element of shared memory with an atomic, and another thread reads or writes it without "
        "one. An atomic orders nothing but other atomics. Setting, updating and reading are separate steps: put a "
        "barrier of the whole block between them.",
    ),
    Family(
        "an atomic beside a plain access",
        _unlike,
        "Some threads update an element with an atomic, and others read or write it without one. Make all accesses "
        "atomic, or put a barrier between them.",
    ),
    Family(
        "read and written on the same line",
        _in_one_line("race_read_write", "shared"),
        "On one line, a thread reads an element of shared memory and another thread writes it, and nothing orders the "
        "two. If several threads update the element, use an atomic, which reads, changes and writes back in one step. "
        "If each thread updates its own element and reads a neighbour's, put a barrier between the read and the write.",
    ),
    Family(
        "different values are stored to one element",
        _found("race_lanes"),
        "Several threads store different values to the same element at once, and only one of the values remains. Give "
        "every thread its own element, or combine the values first.",
    ),
    Family(
        "warps race in shared memory",
        _between_warps,
        "The threads that race are in different warps: one of them reads or writes what the other writes. __syncwarp "
        "orders the 32 lanes of a warp. A barrier of the block, __syncthreads or cuda.syncthreads, orders all threads "
        "of the block.",
    ),
    Family(
        "read and overwritten with no barrier between",
        _overwritten,
        "One thread reads an element that another thread writes, and nothing orders the two. The read may come too "
        "early, before the element is written, or too late, when it has been overwritten. Put a barrier between the "
        "write and the read. In a loop it takes a second one, between the read and the next write.",
    ),
    Family(
        "a race in shared memory",
        _found(*RACES, space="shared"),
        "Two threads use one element of shared memory, one of them writes it, and there is no barrier of the block "
        "between the two accesses (__syncthreads or cuda.syncthreads). In a loop, a second barrier may be missing "
        "before the next iteration.",
    ),
    Family(
        SEVERAL_STORE,
        _in_one_line("race_write_write"),
        "Several threads store to one element on the same line. Give every thread its own element, let one thread "
        "store for all, or add with an atomic.",
    ),
    Family(
        "a race",
        _found(*RACES),
        "Two threads use one element, one of them writes it, and nothing orders the two accesses.",
    ),
    Family(
        "a mask names the wrong lanes",
        _found(*MASKS),
        "A mask has to name exactly the lanes that execute the instruction.",
    ),
    Family(
        "nothing orders two operations",
        _found(space="streams"),
        "Both operations use the same memory, and either may run first.",
    ),
)
