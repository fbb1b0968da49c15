"""How often the host waits in a list of what a training step asks for."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

LAUNCH, MARK = ("launch", None, True), ("record", None, True)
TO, BACK = ("H2D", "pageable", True), ("D2H", "pinned", True)
GIVEN = (
    (), (LAUNCH,), (TO,), (BACK,), (("D2H", "pinned", False),), (("H2D", "pinned", True),),
    (("D2H", "pageable", True),),
    (("synchronise", None, False),), (MARK, ("wait event", None, True), LAUNCH), (TO, TO, LAUNCH, LAUNCH, BACK),
    (TO, LAUNCH, ("D2H", "pageable", False), ("synchronise", None, False)),
    (("H2D", "pinned", False), LAUNCH, MARK, BACK, ("synchronise", None, False)),
)  # fmt: skip


def _waits(operations) -> int:
    return sum(
        kind == "synchronise" or (kind in ("H2D", "D2H") and (memory == "pageable" or not asynchronous))
        for kind, memory, asynchronous in operations
    )


def _case(number: int, operations: tuple) -> Case:
    name = f"list {number}, of {plural(len(operations), 'operation')}"
    return Case(name, (list(operations),), expected=_waits(operations))


EXERCISE = Exercise(
    key="ch23.waits",
    title="how often the host waits",
    language="python",
    name="waits",
    cases=lambda: [_case(number, operations) for number, operations in enumerate(GIVEN, start=1)],
    hints=(
        "Go through the operations and ask of each: can the host go on before it is done?",
        "A launch, an event that is recorded, and a stream that waits for an event never hold up the host. A "
        "synchronisation always does.",
        'A copy holds it up in two cases: its memory is "pageable", or it was not asked for asynchronously.',
    ),
    solution="""
def waits(operations):
    count = 0
    for kind, memory, asynchronous in operations:
        if kind == "synchronise":
            count += 1
        elif kind in ("H2D", "D2H"):
            if memory == "pageable" or not asynchronous:
                count += 1
    return count
""",
    why="Two of the rules surprise people. A copy that was asked for asynchronously waits all the same where its "
    "memory is pageable. And a stream that waits for an event does not hold up the host at all.",
    stretch="a wait costs little where the GPU has nothing left to do. Which of the waits of a step would you remove "
    "first, when all you know is their order?",
    mistakes=(
        Mistake(
            "only synchronisations are counted",
            "A copy can hold up the host too, though nobody wrote synchronise.",
            (('elif kind in ("H2D", "D2H")', "elif False"),),
        ),
        Mistake(
            "every copy is counted",
            "From or to pinned memory a copy that was asked for asynchronously does not hold up the host.",
            (('if memory == "pageable" or not asynchronous', "if True"),),
        ),
        Mistake(
            "an asynchronous copy of pageable memory is taken to be asynchronous",
            "Pageable memory makes the host wait, whatever was asked for.",
            (
                ('memory == "pageable" or not asynchronous', "not asynchronous"),
                ('memory == "pageable" or not asynchronous', 'memory == "pageable" and not asynchronous'),
            ),
        ),
        Mistake(
            "a copy of pinned memory is taken never to wait",
            "A copy that was not asked for asynchronously waits, from pinned memory too.",
            (('memory == "pageable" or not asynchronous', 'memory == "pageable"'),),
        ),
        Mistake(
            "copies back are left out",
            "A copy back to the host can hold it up just as one to the GPU can.",
            (('("H2D", "D2H")', '("H2D",)'),),
        ),
        Mistake(
            "a stream that waits is taken for the host",
            "A stream that waits for an event waits on the GPU. The host goes on.",
            (('kind == "synchronise"', 'kind in ("synchronise", "wait event")'),),
        ),
    ),
)
