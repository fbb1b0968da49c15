from __future__ import annotations

from collections.abc import Iterable

from helpers.checking.exercise import Case, plural

LAUNCH, MARK = ("launch", None, True), ("record", None, True)
TO, BACK = ("H2D", "pageable", True), ("D2H", "pinned", True)
GIVEN = (
    (), (LAUNCH,), (TO,), (BACK,), (("D2H", "pinned", False),), (("H2D", "pinned", True),),
    (("D2H", "pageable", True),),
    (("synchronise", None, False),), (MARK, ("wait event", None, True), LAUNCH), (TO, TO, LAUNCH, LAUNCH, BACK),
    (TO, LAUNCH, ("D2H", "pageable", False), ("synchronise", None, False)),
    (("H2D", "pinned", False), LAUNCH, MARK, BACK, ("synchronise", None, False)),
)  # fmt: skip


def _waits(operations: Iterable[tuple[str, str | None, bool]]) -> int:
    return sum(
        kind == "synchronise" or (kind in ("H2D", "D2H") and (memory == "pageable" or not asynchronous))
        for kind, memory, asynchronous in operations
    )


def _case(number: int, operations: tuple) -> Case:
    name = f"list {number}, of {plural(len(operations), 'operation')}"
    return Case(name, (list(operations),), expected=_waits(operations))


def cases() -> list[Case]:
    return [_case(number, operations) for number, operations in enumerate(GIVEN, start=1)]
