"""Answers that do not come to their end: where they stopped, and what the cases have in common in which they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from helpers.checking.bounds import out_of
from helpers.checking.examine import Evidence, Outcome
from helpers.checking.exercise import Case
from helpers.checking.families.family import Family, Look, element, failing, threads
from vgpu.base.errors import CompileError, Deadlock, KernelTimeout, Misaligned, OutOfBounds
from vgpu.base.words import plural


def _stopped(*kinds: type) -> Callable[[Evidence], list[Outcome]]:
    return lambda evidence: [o for o in failing(evidence) if isinstance(o.error, kinds)]


def _any(*kinds: type) -> Look:
    return lambda evidence: "" if _stopped(*kinds)(evidence) else None


def _faults(evidence: Evidence) -> list[tuple[Outcome, str, int, int]]:
    """(case, array, index, its size) of each access outside an array whose place is known; none if some is not."""
    found = [(o, out_of(o.error)) for o in _stopped(OutOfBounds)(evidence)]
    return [(o, *left) for o, left in found if left] if all(left for _, left in found) else []


def _in(space: str) -> Look:
    def look(evidence: Evidence) -> str | None:
        found = _stopped(OutOfBounds)(evidence)
        return "" if found and all(f"'s {space} memory" in str(o.error) for o in found) else None

    return look


def _not_given(evidence: Evidence) -> str | None:
    """Dynamic shared memory that leaves off where the launch says, and that is at its start."""
    found = _stopped(OutOfBounds)(evidence)
    return "" if found and all("from 0 to the size given at the launch" in str(o.error) for o in found) else None


def _below(evidence: Evidence) -> str | None:
    found = _faults(evidence)
    if not found or any(index >= 0 for _, _, index, _ in found):
        return None
    o, array, index, _ = found[0]
    return f"The first negative index is {array}[{index}], with {o.case.name}."


def _no_guard(evidence: Evidence) -> str | None:
    """Only threads for which there is no element leave arrays, where the launch has such threads; all else is right."""
    stopped = _faults(evidence)
    if not stopped or any(not o.ok for o in evidence.outcomes if not isinstance(o.error, OutOfBounds)):
        return None
    if not all(_exists(evidence, o) is False for o, *_ in stopped):
        return None
    o, array, index, _ = stopped[0]
    elements = plural(o.case.out.expected.size, "element")
    return (
        f"With {o.case.name}, the launch has {threads(o):,} threads for {elements}, and a thread without one used "
        f"{array}[{index}]."
    )


def _exists(evidence: Evidence, o: Outcome) -> bool | None:
    """Whether the thread that stopped has an element of its own; None where the launches do not say.

    They do where whole blocks cover, in every case, as many elements as the result has in each direction, or as some
    argument says, and no block is to spare.
    """
    if (stopped := _thread_of(o)) is None:
        return None
    block, thread = stopped
    place = tuple(b * n + t for b, n, t in zip(block, o.case.block, thread, strict=False))
    said = set()
    for sizes in _covered(evidence):
        here = sizes[evidence.outcomes.index(o)]
        said.add(all(at < size for at, size in zip(place, here, strict=True)))
    return said.pop() if len(said) == 1 else None


def _thread_of(o: Outcome) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The block and the thread that left an array, where the error names them."""
    if not isinstance(o.error, OutOfBounds) or o.error.block is None or o.error.thread is None:
        return None
    return o.error.block, o.error.thread


def _covered(evidence: Evidence) -> Iterator[list[tuple[int, ...]]]:
    """What the launches of all cases cover just so: sizes by direction, x first, for each case."""
    cases = [o.case for o in evidence.outcomes]
    if not evidence.exercise.asks_for_a_kernel:
        return
    if all(len(case.block) == 2 == case.out.expected.ndim for case in cases):
        found = [tuple(reversed(case.out.expected.shape)) for case in cases]
        if all(g * b >= n for case, size in zip(cases, found, strict=True) for g, b, n in _axes(case, size)):
            yield found
    if any(len(case.block) > 1 for case in cases):
        return
    given = range(len(cases[0].arguments))
    counts = [[case.out.expected.size for case in cases]]
    counts += [[case.arguments[at] for case in cases] for at in given if _is_whole(cases[0].arguments[at])]
    for sizes in counts:
        if all((c.grid[0] - 1) * c.block[0] < n <= c.grid[0] * c.block[0] for c, n in zip(cases, sizes, strict=True)):
            yield [(int(n),) for n in sizes]


def _axes(case: Case, size: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    return zip(case.grid, case.block, size, strict=True)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _one_past(evidence: Evidence) -> str | None:
    """Always the element behind the last, and not for want of a guard, as some launch has no thread too many. There it
    is a thread at the end that leaves the array; one from the midst has another index altogether."""
    found = _faults(evidence)
    if not found or any(index != size for _, _, index, size in found):
        return None
    exact = [(o, array, size) for o, array, _, size in found if threads(o) == o.case.out.expected.size]
    if not exact or not all(_at_the_end(o) for o, *_ in exact):
        return None
    o, array, size = exact[0]
    return (
        f"With {o.case.name}, a thread used {array}[{size}], and the last element is {array}[{size - 1}]. That launch "
        "has exactly one thread per element."
    )


def _at_the_end(o: Outcome) -> bool:
    """Whether the thread that stopped is the last of the launch in some direction that has several."""
    if (stopped := _thread_of(o)) is None:
        return False
    places = zip(*stopped, o.case.grid, o.case.block, strict=False)
    return any(b * n + t == g * n - 1 for b, t, g, n in places if g * n > 1)


def _from_inside(evidence: Evidence) -> str | None:
    """Threads whose own number is that of an element have left an array.

    Not told where it may be the guard all the same, as a thread may take an element of another number: some launch
    without a thread too many is right, and none of these stopped.
    """
    faults = _faults(evidence)
    inside = [each for each in faults if _exists(evidence, each[0])]
    if not inside:
        return None
    if any(o.ok and not _spare(o) for o in evidence.outcomes) and all(_spare(o) for o, *_ in faults):
        return None
    o, array, index, size = inside[0]
    stopped = _thread_of(o)
    assert stopped is not None  # else `_exists` wouldn't know
    block, thread = (element(at[: len(o.case.block)]) for at in stopped)
    return (
        f"With {o.case.name}, it was thread {thread} of block {block}, which has an element of its own. It "
        f"used {array}[{index}], and `{array}` has {plural(size, 'element')}."
    )


def _spare(o: Outcome) -> bool:
    """Whether the launch has threads too many."""
    return threads(o) > o.case.out.expected.size


def _beyond(evidence: Evidence) -> str | None:
    found = _faults(evidence)
    if not found:
        return "" if _stopped(OutOfBounds)(evidence) else None
    o, array, index, size = next((each for each in found if each[2] >= 0), found[0])
    if 0 <= index < size:
        return f"With {o.case.name}, the access starts at {array}[{index}] and goes past the end of `{array}`."
    has = f"`{array}` has {plural(size, 'element')}, from 0 to {size - 1:,}"
    return f"With {o.case.name}, it was {array}[{index}], and {has}."


def _nothing_returned(evidence: Evidence) -> str | None:
    found = [o for o in failing(evidence) if o.error is None and o.got is None and o.case.expected is not None]
    return f"It happens with {found[0].case.name}." if found else None


def _no_array(evidence: Evidence) -> str | None:
    found = failing(evidence)
    shapes = [o for o in found if type(o.error) is ValueError and str(o.error).startswith("the result is ")]
    return f"With {shapes[0].case.name}, {shapes[0].error}." if found and len(shapes) == len(found) else None


def _of_none(evidence: Evidence) -> str | None:
    """Python has used a None as something else in every case that is wrong."""
    found = failing(evidence)
    if not found or any(not isinstance(o.error, AttributeError | TypeError) for o in found):
        return None
    return "" if all("'NoneType'" in str(o.error) for o in found) else None


def _some_only(evidence: Evidence) -> str | None:
    found = [o for o in failing(evidence) if o.error is not None]
    if not found:
        return None
    words = "every case" if len(found) == len(evidence.outcomes) else f"{len(found)} of {len(evidence.outcomes)} cases"
    return f"It is raised in {words}."


def _half_warps(evidence: Evidence) -> str | None:
    found = _stopped(Misaligned)(evidence)
    return f"It happens with {found[0].case.name}." if found else None


def _blocks_wait(evidence: Evidence) -> bool:
    return any("blocks wait" in str(o.error) for o in _stopped(Deadlock)(evidence))


FAMILIES = (
    Family("it does not compile", _any(CompileError), "The compiler stopped before any thread ran."),
    Family("it does not end", _any(KernelTimeout), "Does every thread change what its loop's condition depends on?"),
    Family(
        "blocks wait for each other",
        lambda e: "" if _blocks_wait(e) else None,
        "A block waits for a value in memory that no running thread is going to write. Every block that others wait "
        "for has to get as far as writing it.",
    ),
    Family(
        "threads wait at different barriers",
        _any(Deadlock),
        "Every thread of a block must come to the same barrier: move it out of the branch.",
    ),
    Family(
        "a wide access that is not aligned",
        _half_warps,
        "The address of a wide access, such as that of a float4, has to be a multiple of its own size. An index of a "
        "pointer to float counts floats: cast the pointer to the wide type first, then index it.",
    ),
    Family(
        "shared memory without a size",
        _not_given,
        "An `extern __shared__` array gets its size from the launch, and this launch passes none. If threads have to "
        "share data, declare an array with a size.",
    ),
    Family(
        "an index outside shared memory",
        _in("shared"),
        "An index is outside the block's shared memory. Is the index too large, or is the array too small for all that "
        "a block stores in it? If the array is `extern`, the launch sets its size.",
    ),
    Family(
        "an index outside a thread's own array",
        _in("local"),
        "An index is outside an array that each thread has for itself.",
    ),
    Family("an index below 0", _below, "A thread accessed memory before the start of an array."),
    Family(
        "a thread without an element goes on",
        _no_guard,
        "The grid is made of whole blocks, so the last ones may have more threads than there are elements left. Each "
        "thread must check that its element exists before it accesses it; in a matrix, in both directions.",
    ),
    Family(
        "one past the end",
        _one_past,
        "Elements are counted from 0, so the last one has the index size - 1. Is there a <= that should be <, or an i "
        "+ 1 that doesn't exist for the last element?",
    ),
    Family(
        "the index is outside the array",
        _from_inside,
        "A thread that has an element accessed memory outside an array, so a guard against threads without an element "
        "doesn't help. Is its index the right one? Does it use more than its own element?",
    ),
    Family(
        "a thread left its array",
        _beyond,
        "An index is past the end of an array. Is there a guard that keeps out threads without an element? Or is the "
        "index itself too large for the first or the last element?",
    ),
    Family("the result has the wrong form", _no_array, "The type and the shape of the result are part of the task."),
    Family(
        "a value is None",
        _of_none,
        "A value is None where something else is expected. A function that ends without a `return` gives None, and so "
        "does one that you haven't written yet.",
    ),
    Family("it stops with an error", _some_only, "It stops with an exception."),
    Family(
        "nothing is returned",
        _nothing_returned,
        "For some input the function returns None where a value is expected: it ends without a `return`, or with an "
        "empty one. print() shows a value, but doesn't return it.",
    ),
)
