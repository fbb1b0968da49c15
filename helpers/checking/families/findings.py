"""What the sanitizer found, or, of stream work, what nothing orders."""

from __future__ import annotations

from helpers.checking.examine import Evidence
from helpers.checking.families.family import Family, Look
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


def _where(evidence: Evidence, finding: Finding | Unordered) -> str:
    """Which array, and which two threads and lines."""
    lines = [n for n in (finding.line, finding.other_line) if n is not None]
    parts = [f"It is about `{finding.array}`" if isinstance(finding, Finding) and finding.array else "It was seen"]
    if lines:
        parts.append(f"on line {lines[0]}" if len(set(lines)) == 1 else f"on lines {min(lines)} and {max(lines)}")
    assert evidence.watched is not None  # the case in which the findings were seen
    return " ".join([*parts, f"with {evidence.watched.name}."])


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
        return f"{found} The barrier is on line {ended.line}." if ended.line else found

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
        "A mask names the lanes that come to a shuffle, vote or barrier, and each that comes has to be among them.",
    ),
    Family(
        "lanes that a mask names do not come",
        _found("mask_absent", "mask_ended", "shuffle_absent"),
        "All lanes that a mask names must come to the shuffle, vote or barrier, and what those would send that do not, "
        "is undefined. Put no branch around it, and end none before it: lanes without an element come along with a "
        "value that changes nothing.",
    ),
    Family(
        SEVERAL_STORE,
        _in_one_line("race_write_write", "shared"),
        "Several threads store to one element of shared memory by the same line. Give every thread an element of its "
        "own, or let one of them store for all.",
    ),
    Family(
        "threads left before they had helped to fill the tile",
        _with_ended(_found("uninitialised", space="shared")),
        "Shared memory is read that nobody wrote, and threads of the block had ended before a barrier. One without an "
        "element of its own still has its part to fill: let it come to the barriers, and skip only the store at the "
        "end.",
    ),
    Family(
        "shared memory that nobody wrote is read",
        _found("uninitialised", space="shared"),
        "What is in shared memory before a thread of the block writes it, is anything. Who fills each place that is "
        "read, also one for which there is no element?",
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
        "Some threads have ended while others of their block wait at a barrier, and CUDA promises nothing then. All "
        "stay until the last barrier: guard the work, not the barrier.",
    ),
    Family(
        "out of shared memory",
        _found("overrun", space="shared"),
        "An index leads out of a shared array, into what lies behind it. How many elements does it need?",
    ),
    Family(
        "a barrier that not every thread reaches",
        _with_ended(_found("race_read_write", "race_write_write", space="shared")),
        "A barrier that is to order two accesses was passed by some threads of the block while others ended without "
        "coming to it. Guard the load and the store, never the barrier.",
    ),
    Family(
        "several threads fill one element",
        _written_twice,
        "Two threads write one element of shared memory, no barrier orders them, and nobody reads it in between. Is it "
        "the index with which they fill it? Each element has one thread.",
    ),
    Family(
        "memory is read that nobody wrote",
        _found("uninitialised"),
        "What is in it is anything. += reads what was there, and so does an atomic.",
    ),
    Family(
        "an atomic beside a plain access",
        _found("race_atomic", space="shared"),
        "Some threads update an element of shared memory with an atomic, and another one reads or writes it without: "
        "an atomic orders nothing but atomics. Setting, changing and reading are steps, and the whole block meets at a "
        "barrier between them.",
    ),
    Family(
        "an atomic beside a plain access",
        _unlike,
        "An element that some threads update with an atomic is read or written by others without: make all accesses "
        "atomic, or put a barrier between.",
    ),
    Family(
        "read and written by the same line",
        _in_one_line("race_read_write", "shared"),
        "In one line a thread reads an element of shared memory and another one writes it, and nothing orders the two. "
        "If several threads are to change the element, reading, changing and writing back are three steps, which an "
        "atomic does in one piece. If each changes its own, and reads a neighbour's, a barrier stands between.",
    ),
    Family(
        "lanes of one store want different values in one element",
        _found("race_lanes"),
        "Several threads store to the same element at once, each its own value, and one of them stays. Give every "
        "thread its own element, or combine the values first.",
    ),
    Family(
        "warps race in shared memory",
        _between_warps,
        "Those that race are threads of different warps: one reads, or writes, what the other writes. __syncwarp "
        "orders 32 lanes; a barrier of the block, __syncthreads or cuda.syncthreads, orders all.",
    ),
    Family(
        "read and overwritten with no barrier between",
        _overwritten,
        "A thread reads an element that another writes, in either order: it may be read too early, before it is "
        "written, or be overwritten too early, while others still read. Between the two stands a barrier, and in a "
        "loop one for each order.",
    ),
    Family(
        "a race in shared memory",
        _found(*RACES, space="shared"),
        "Two threads use one element of shared memory, one of them writes it, and no barrier of the block stands "
        "between, __syncthreads or cuda.syncthreads. In a loop another one may be missing before the next iteration.",
    ),
    Family(
        SEVERAL_STORE,
        _in_one_line("race_write_write"),
        "Several threads store to one element by the same line. Give every thread an element of its own, let one of "
        "them store for all, or add with an atomic.",
    ),
    Family(
        "a race",
        _found(*RACES),
        "Two threads use one element, one of them writes it, and nothing says who comes first.",
    ),
    Family("a mask names the wrong lanes", _found(*MASKS), "A mask names just the lanes that come to the instruction."),
    Family(
        "nothing orders two operations", _found(space="streams"), "Both touch the same memory, and either may be first."
    ),
)
