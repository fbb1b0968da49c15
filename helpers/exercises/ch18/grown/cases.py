from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (  # name, blocks (line, bytes, state) before and after
    ("nothing held", (), ()),
    ("one line holds one block more", (("train.py:12", 512, 1),), (("train.py:12", 512, 1), ("train.py:12", 512, 1))),
    ("a block moved", (("a.py:1", 1024, 1), ("", 2048, 0)), (("", 1024, 0), ("a.py:1", 1024, 1), ("", 1024, 0))),
    ("a new line", (("a.py:1", 1024, 1),), (("a.py:1", 1024, 1), ("a.py:7", 4096, 1), ("a.py:9", 1, 1))),
    ("one grows, one shrinks", (("a.py:1", 2048, 1), ("a.py:2", 512, 1)), (("a.py:1", 512, 1), ("a.py:2", 2560, 1))),
    ("a block is free now", (("a.py:3", 4096, 1),), (("a.py:3", 4096, 0), ("a.py:4", 512, 1))),
    ("several of a line", (("a.py:3", 512, 1), ("a.py:3", 1024, 1)), (("a.py:3", 1024, 1), ("a.py:3", 1536, 1))),
    ("a line left free blocks", (("a.py:3", 512, 1),), (("a.py:3", 512, 1), ("a.py:3", 512, 0), ("a.py:4", 512, 0))),
)


def _blocks(rows: tuple) -> list[dict]:
    states = ("inactive", "active_allocated")
    return [{"line": line, "size": nbytes, "state": states[held]} for line, nbytes, held in rows]


def _held(rows: tuple) -> dict[str, int]:
    found: dict[str, int] = {}
    for line, nbytes, held in rows:
        if held:
            found[line] = found.get(line, 0) + nbytes
    return found


def _case(name: str, before: tuple, after: tuple) -> Case:
    old, new = _held(before), _held(after)
    wanted = {line: nbytes - old.get(line, 0) for line, nbytes in new.items() if nbytes > old.get(line, 0)}
    return Case(name, (_blocks(before), _blocks(after)), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
