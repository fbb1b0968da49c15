"""Find a leak: which lines of a program hold more memory after a step than before it."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

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


EXERCISE = Exercise(
    key="ch18.grown",
    title="which lines hold more than before",
    language="python",
    name="grown",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Add up, for each line, the bytes of its blocks that are in use: once before the step and once after it.",
        "Go through the lines of the second sum. How many bytes did the same line hold before? dict.get(line, 0) "
        "answers for new lines too.",
        "Keep a line where after[line] - before.get(line, 0) is above 0, with that difference.",
    ),
    solution="""
def held_by_line(blocks):
    held = {}
    for block in blocks:
        if block["state"] == "active_allocated":
            held[block["line"]] = held.get(block["line"], 0) + block["size"]
    return held


def grown(before, after):
    old = held_by_line(before)
    found = {}
    for line, nbytes in held_by_line(after).items():
        more = nbytes - old.get(line, 0)
        if more > 0:
            found[line] = more
    return found
""",
    why="Blocks move and are replaced in every step, so comparing them one by one finds differences everywhere. The "
    "sum for each line of the program stays the same from step to step in a loop that does not leak. A line whose sum "
    "grows by the same amount in each step is what keeps something.",
    stretch="take three snapshots, and name only lines that grew twice. What does that leave out?",
    mistakes=(
        Mistake(
            "free blocks are counted",
            "Blocks whose state is inactive are free: they belong to nobody, whatever line took them once.",
            (('if block["state"] == "active_allocated"', "if True"),),
        ),
        Mistake(
            "all that is held, grown or not",
            "A line that holds as much as before does not leak. Return what has grown.",
            (("nbytes - old.get(line, 0)", "nbytes"),),
        ),
        Mistake(
            "lines that hold less are named too",
            "A line that holds less than before has given something back: leave it out.",
            (("if more > 0", "if more != 0"),),
        ),
        Mistake(
            "lines that did not change are named too",
            "A line with a difference of 0 has not grown: leave it out.",
            (("if more > 0", "if more >= 0"),),
        ),
        Mistake(
            "the total instead of the difference",
            "Return for each line by how much it grew.",
            (("found[line] = more", "found[line] = nbytes"),),
        ),
        Mistake(
            "the last block of a line counts alone",
            "A line can hold several blocks: add them up.",
            (('held.get(block["line"], 0) + block["size"]', 'block["size"]'),),
        ),
        Mistake(
            "new lines are left out",
            "A line that held nothing before has grown by all that it holds now.",
            (("if more > 0", "if more > 0 and line in old"),),
        ),
    ),
)  # fmt: skip
