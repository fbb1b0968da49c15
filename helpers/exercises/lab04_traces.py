"""What tells some mistakes of lab 04 apart: what was written, what came out, and what the sanitizer found."""

from __future__ import annotations

import re

from helpers.checking import mistakes as known
from helpers.exercises import lab04_cases as cases
from helpers.vgpu.base.errors import OutOfBounds


def changed_without_atomic(evidence) -> bool:
    """Threads read and write one word of shared memory in one line or an `if` and the next one, or several write it."""
    return any(
        finding.space == "shared"
        and (finding.kind == "race_write_write" or (finding.kind == "race_read_write" and one_step(finding)))
        for finding in evidence.findings
    )


def one_step(finding) -> bool:
    lines = {finding.line: finding.source, finding.other_line or finding.line: finding.other_source or finding.source}
    return len(lines) == 1 or (
        max(lines) - min(lines) == 1 and re.match(r"\s*if\b.*[<>]", lines[min(lines)]) is not None
    )


def never_written(evidence) -> bool:
    """Where it is wrong, not one element was written."""
    seen = [o for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(o.untouched is not None and o.untouched.all() for o in seen)


def another_value(evidence) -> bool:
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(o.got is not None and 0 <= o.got[0] < cases.BINS for o in seen)


def one_of_equals(evidence) -> bool:
    """Every value is a most frequent one, and not always the smallest."""
    seen = evidence.outcomes
    counts = [(o, cases.often(o.case.arguments[0])) for o in seen]
    return any(not o.ok for o in seen) and all(
        o.got is not None and 0 <= o.got[0] < cases.BINS and each[o.got[0]] == each.max() for o, each in counts
    )


def row_left_out(evidence) -> bool:
    """Many elements were written and many others were not; a few may hold by right what unwritten ones hold, -1."""
    seen = [o for o in evidence.outcomes if not o.ok]
    return bool(seen) and all(o.untouched is not None and 0.05 < o.untouched.mean() < 1 for o in seen)


def whole_rows_left_out(evidence) -> bool:
    """All that is written is right, and it is whole rows."""
    seen = [o.untouched for o in evidence.outcomes if o.untouched is not None and not o.ok]
    return known.partly_written(evidence) and all(
        (each.all(axis=1) | (each.mean(axis=1) < 0.05)).all() for each in seen
    )


def several_draw(evidence) -> bool:
    """Several threads of a block write to shared memory what they have drawn."""
    return any(
        finding.space == "shared" and finding.kind in ("race_write_write", "race_lanes") and "tickets" in line
        for finding in evidence.findings
        for line in (finding.source or "", finding.other_source or "")
    )


def lowered_by(wrong):
    """What was subtracted from each row of x is `wrong(x)`."""
    return known.gives(lambda case: case.arguments[0] - wrong(case.arguments[0]))


def begins_too_low(evidence) -> bool:
    """What was subtracted is less than the least wherever it is wrong, and always the same."""
    low = set()
    for outcome in evidence.outcomes:
        if outcome.got is None or outcome.untouched.any():
            return False
        x = outcome.case.arguments[0]
        taken, least = x - outcome.got, x.min(axis=1)
        if (taken != taken[:, :1]).any() or (taken[:, 0] > least).any():
            return False
        low |= set(taken[taken[:, 0] < least, 0].tolist())
    return len(low) == 1


def past(array: str):
    """Some thread reached past the argument called `array`."""
    return lambda evidence: any(
        isinstance(o.error, OutOfBounds) and f"`{array}" in str(o.error).partition("\n")[0] for o in evidence.outcomes
    )


def just_past_shared(evidence) -> bool:
    """Some thread reached past the shared array, by no more than a bin has room."""
    for outcome in evidence.outcomes:
        found = re.search(r"at byte (\d+) of the block's shared memory.* 0 to (\d+)", str(outcome.error or ""))
        if found and int(found[1]) <= int(found[2]) + 4 * cases.BYTES:
            return True
    return False


def compared(sign: int):
    """Every count is right, or off in the same direction: -1 for too few, 1 for too many."""

    def when(evidence) -> bool:
        seen = evidence.outcomes
        return any(not o.ok for o in seen) and all(
            o.got is not None and (o.got >= 0).all() and (sign * (o.got - o.case.out.expected) >= 0).all() for o in seen
        )

    return when


def other_bins(evidence) -> bool:
    """As many were counted as there are, in other bins."""
    seen = evidence.outcomes
    return any(not o.ok for o in seen) and all(
        o.got is not None and o.got.sum() == o.case.out.expected.sum() for o in seen
    )
