"""A made-up class of 60 in all states, with the names and texts that students should not have, and do."""

from __future__ import annotations

from helpers.grading.report import Fingerprints, LabInfo, Part, Tier
from helpers.grading.results import GRADED, REJECTED, STUDENT_FAULT, UNGRADED, Mark, Result

LAB = LabInfo(
    "lab05_reduction",
    "Lab 5: Reductions",
    (
        Part("lab05-total-results", "lab05.total", "results", 4, "The total of an array"),
        Part("lab05-total-barriers", "lab05.total", "barriers of a warp", 2, "The total of an array"),
        Part("lab05-rows-results", "lab05.rows", "results", 3, "The greatest of each row"),
        Part("lab05-rows-loads", "lab05.rows", "load requests for a row of 4,096", 1, "The greatest of each row"),
        Part("lab05-scan-results", "lab05.scan", "results", 2.5, 'A prefix sum <of & "a" block>'),
    ),
    tiers=(
        Tier(
            "bubblewrap",
            "reading or changing other submissions, the network, what outlives the run.",
            "a flaw of the kernel of the operating system.",
        ),
        Tier("rlimits", "endless loops and floods of output.", "anything that a user of this machine may do."),
    ),
    versions=(("Warpbook", "0.1.0"), ("nbval", "0.11.0"), ("Python", "3.11.7")),
)

SCRIPT = "<script>alert('x')</script>"
NAMES = (
    "ada",
    "Ada",
    "ada ",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=2",
    "../../etc/passwd",
    "..",
    "a/b\\c:d*e?f",
    "CON",
    "nul.txt",
    "null\0byte",
    "ä" * 200,
    "李雷",
    "محمد",
    "Zoë O'Neil, Jr.",
    "Zoe\u0308 O'Neil, Jr.",
    "\u202egnp.exe",
    "half \ud83d a pair",
    "😀 smile",
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "</title><script>alert(2)</script>",
    "[click](javascript:alert(1)) `x` | *b* # h",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "Doe, Jane",
    "Lovelace, Ada",
)
RACE = "a race"
RACE_WORDS = (
    "Two threads use one element, one of them writes it, and nothing orders the two accesses.\n"
    "line 9: partial[t] += partial[t + step]\n"
    "Usual fix: a barrier between the write and the read."
)
HOSTILE = (
    f"Traceback (most recent call last):\n\x1b[0;31mValueError\x1b[0m: {SCRIPT} ]]> &amp; \x00\x08\ufffe\ud800\n"
    "```\n# not a heading\n<img src=x onerror=alert(1)>\n" + "x" * 500 + "\u2028next\r\nlast"
)
SECRET_NOTE = "the note that only the instructor sees: seed 12345"
SECRET_TROUBLE = "sandbox died: /srv/grader/secret-path exit 137"


def marks(*outcomes: str, why: dict[int, str] | None = None, mistake: dict[int, str] | None = None) -> tuple[Mark, ...]:
    """Marks for the lab's parts, full points for what is right."""
    return tuple(
        Mark(
            part.cell,
            part.exercise,
            part.part,
            part.points if outcome == "right" else 0,
            part.points,
            outcome,
            (mistake or {}).get(index),
            (why or {}).get(index, ""),
            seconds=0.25 * (index + 1),
        )
        for index, (part, outcome) in enumerate(zip(LAB.parts, outcomes, strict=True))
    )


def result(student: str, state: str, given: tuple[Mark, ...] = (), reason: str = "", **others) -> Result:
    tier = "" if state == REJECTED else "bubblewrap"
    file = others.pop("file", f"handed in/{len(student)}.ipynb")
    return Result(student, file, LAB.name, state, given, reason, key="k", tier=tier, **others)


RIGHT = ("right",) * 5
WRONG = ("wrong", "wrong", "right", "wrong", "missing")


def made_class() -> list[Result]:
    """60 results: 4 not graded, 5 rejected, 5 at fault, 46 graded."""
    names = [*NAMES, *(f"student{number:02d}" for number in range(60 - len(NAMES)))]
    found = []
    for index, name in enumerate(names):
        if index % 15 == 4:
            found.append(result(name, UNGRADED, reason=SECRET_TROUBLE))
        elif index % 12 == 6:
            found.append(result(name, REJECTED, reason=f"it is not JSON: {SCRIPT}"))
        elif index % 12 == 9:
            said = {1: "It had 20 s and was stopped. " + HOSTILE}
            given = marks("right", "timeout", "crash", "memory", "output", why=said)
            found.append(result(name, STUDENT_FAULT, given, reason="cell lab05-total-barriers took more than 20 s"))
        elif index % 3 == 0:
            found.append(result(name, GRADED, marks(*RIGHT), notes=(SECRET_NOTE,), seconds=index))
        elif index % 3 == 1:
            said = {0: RACE_WORDS, 1: "A budget counts only where the results are right.", 3: "Let all threads load."}
            given = marks(*WRONG, why=said, mistake={0: RACE, 3: "right, but over budget"})
            found.append(result(name, GRADED, given, seconds=index))
        else:
            given = marks("right", "wrong", "error", "missing", "right", why={2: HOSTILE}, mistake={1: SCRIPT})
            found.append(result(name, GRADED, given, notes=(f"an extra cell {SCRIPT}",), seconds=index))
    return found


KEYS = tuple(LAB.exercises())
PRINTS = Fingerprints(
    {
        **{f"student{number:02d}": dict.fromkeys(KEYS, "same") for number in (3, 5, 8)},
        "student10": dict.fromkeys(KEYS, "reference"),
        **{f"student{number:02d}": dict.fromkeys(KEYS, "starter") for number in (11, 12)},
        "student20": {KEYS[0]: "own", KEYS[1]: "same", KEYS[2]: "reference"},
        "student21": {KEYS[0]: "starter", KEYS[1]: "", KEYS[2]: "own"},
    },
    reference=dict.fromkeys(KEYS, "reference"),
    starter=dict.fromkeys(KEYS, "starter"),
)
