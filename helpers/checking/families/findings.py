"""What the sanitizer found, or, of stream work, what nothing orders."""

from __future__ import annotations

from helpers.checking.examine import Evidence
from helpers.checking.families.family import Family
from helpers.results.sanitize.findings import Finding

RACES = ("race_read_write", "race_write_write", "race_lanes", "race_atomic")
BARRIERS = ("barrier_divergent", "deadlock", "barrier_count", "grid_barrier")
MASKS = ("mask_absent", "mask_self", "mask_ended", "activemask", "partial_warp")


def _found(*kinds: str, space: str = ""):
    def look(evidence: Evidence) -> str | None:
        for finding in evidence.findings:
            if (not kinds or finding.kind in kinds) and space in ("", finding.space):
                return _where(evidence, finding)
        return None

    return look


def _where(evidence: Evidence, finding: Finding) -> str:
    """Which array, and which two threads and lines."""
    lines = [n for n in (finding.line, finding.other_line) if n is not None]
    parts = [f"It is about `{finding.array}`" if getattr(finding, "array", None) else "It was seen"]
    if lines:
        parts.append(f"on line {lines[0]}" if len(set(lines)) == 1 else f"on lines {min(lines)} and {max(lines)}")
    return " ".join([*parts, f"with {evidence.watched.name}."])


def _unlike(evidence: Evidence) -> str | None:
    """Two threads of one block, one of which reads what the other writes, with an atomic on one side."""
    return _found("race_atomic")(evidence)


FAMILIES = (
    Family(
        "threads wait at different barriers",
        _found(*BARRIERS),
        "Every thread of a block must come to the same barrier: move it out of the branch.",
    ),
    Family(
        "shared memory that nobody wrote is read",
        _found("uninitialised", space="shared"),
        "What is in shared memory before a thread of the block writes it, is anything.",
    ),
    Family(
        "memory is read that nobody wrote",
        _found("uninitialised"),
        "What is in it is anything: += reads what was there, too.",
    ),
    Family(
        "an atomic beside a plain access",
        _unlike,
        "An element that some threads update with an atomic is read or written by others without: make all accesses "
        "atomic, or put a barrier between.",
    ),
    Family(
        "lanes of one store want different values in one element",
        _found("race_lanes"),
        "Several threads store to the same element at once, each its own value, and one of them stays. Give every "
        "thread its own element, or combine the values first.",
    ),
    Family(
        "a race in shared memory",
        _found(*RACES, space="shared"),
        "Two threads use one element of shared memory, one of them writes it, and no barrier stands between.",
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
    Family("the sanitizer has found a mistake", _found(), "Whether or not the result is right, the kernel is not."),
)
