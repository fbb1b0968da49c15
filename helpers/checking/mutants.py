"""Mutants: the solution with one token changed by a rule, as slips of a pen do.

Each rule is a row: a pattern, what takes its place, and the languages it is for. A mutant is a text of its own; that it
is wrong, and told something true, is for the tests to see. Those that are right all the same an exercise names in
`equivalent`, with a word why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from helpers.checking.exercise import Exercise
from helpers.checking.solutions import BEGIN, END, patched, solution_of

C, PYTHON = ("cuda",), ("numba", "python", "tensors", "streams")
BOTH = C + PYTHON
KERNELS = ("cuda", "numba", "python", "tensors")
ARGUMENT = r"(?:(?<=\()|(?<=, ))(\d+)(?=\))"
"""A number that is the last argument of a call: the sizes of launches of stream work are free to choose."""


@dataclass(frozen=True)
class Rule:
    """What is done to each place that `pattern` matches."""

    name: str
    pattern: str
    by: str | Callable[[re.Match[str]], str]
    languages: tuple[str, ...] = BOTH


@dataclass(frozen=True)
class Mutant:
    """A changed solution. `change`: the line before and after, as it would stand in a patch."""

    rule: str
    change: tuple[str, str]
    text: str


RULES = (
    Rule("guard dropped", r"(?<![\w])if \((?=[^;{]*<)[^\n;]*\)(?=\s*[\n{])", "", C),
    Rule("guard dropped", r"(?<=\n)(\s*)if [^\n]*<[^\n]*:(?=\n)", r"\1if True:", PYTHON),
    Rule("barrier dropped", r"(__syncthreads|__syncwarp|cuda\.syncthreads|cuda\.syncwarp|cg::sync)\([^()]*\);?", ""),
    Rule("< to <=", r"(?<= )<(?= )", "<="),
    Rule("<= to <", r"(?<= )<=(?= )", "<"),
    Rule("> to >=", r"(?<= )>(?= )", ">="),
    Rule(">= to >", r"(?<= )>=(?= )", ">"),
    Rule("+= to =", r"\+=", "="),
    Rule("= to +=", r"(?<=\])\s=(?= )", " +="),
    Rule("+ to -", r"(?<=[\w)\]] )\+(?= )", "-"),
    Rule("- to +", r"(?<=[\w)\]] )-(?= )", "+"),
    Rule("* to +", r"(?<=[\w)\]] )\*(?= [\w(])", "+"),
    Rule("/ to *", r"(?<=[\w)\]] )//?(?= [\w(])", "*"),
    Rule("x to y", r"\.x\b", ".y"),
    Rule("y to x", r"\.y\b", ".x"),
    Rule("threadIdx to blockIdx", r"\bthreadIdx\b", "blockIdx"),
    Rule("blockIdx to threadIdx", r"\bblockIdx\b", "threadIdx"),
    Rule("blockDim to gridDim", r"\bblockDim\b", "gridDim"),
    Rule("gridDim to blockDim", r"\bgridDim\b", "blockDim"),
    Rule("grid to thread", r"cuda\.grid\(1\)", "cuda.threadIdx.x", PYTHON),
    Rule("atomicAdd to +=", r"atomicAdd\(&?([\w\[\]. +*/%]+), ([^;]*)\);", r"\1 += \2;", C),
    Rule("atomic to +=", r"(?m)^( *)cuda\.atomic\.add\((\w+), ([^,]+), ([^\n]*)\)", r"\1\2[\3] += \4", PYTHON),
    Rule("constant + 1", r"(?<![\w.])(\d+)(?![\w.])", lambda m: str(int(m[1]) + 1), KERNELS),
    Rule("constant - 1", r"(?<![\w.])([1-9]\d*)(?![\w.])", lambda m: str(int(m[1]) - 1), KERNELS),
    Rule("argument + 1", ARGUMENT, lambda m: str(int(m[1]) + 1), ("streams",)),
    Rule("argument - 1", ARGUMENT.replace(r"(\d+)", r"([1-9]\d*)"), lambda m: str(int(m[1]) - 1), ("streams",)),
    Rule(
        "wait dropped",
        r"(?<=\n)([ ]*)[\w.\[\]]+\.(?:record|wait|wait_event|synchronize)\([^\n]*",
        r"\1pass",
        ("streams",),
    ),
    Rule("stream dropped", r", stream(?:=\w+)?(?=\))", "", ("streams",)),
    Rule("blocking dropped", r", blocking=False", "", ("streams",)),
    Rule("and to or", r"&&", "||", C),
    Rule("and to or", r"\band\b", "or", PYTHON),
    Rule("min to max", r"\b(f?)min(f?)\b", r"\1max\2"),
    Rule("max to min", r"\b(f?)max(f?)\b", r"\1min\2"),
    Rule("float to int", r"\bfloat (?=\w+ =)", "int ", C),
    Rule("negated", r"\breturn (?=[^\n;]+)", "return not ", ("python", "tensors")),
)


def mutants(task: Exercise) -> Iterator[Mutant]:
    """Every mutant of a solution that the rules make, each once, but for those that the exercise calls equivalent."""
    text, seen = solution_of(task), set()
    first, last = _region(text)
    seen |= {patched(task, change) for change, _ in task.equivalent}
    for rule in (rule for rule in RULES if task.language in rule.languages):
        for match in re.finditer(rule.pattern, text):
            if not first <= match.start() < last or _in_comment(text, match.start()):
                continue
            by = rule.by(match) if callable(rule.by) else match.expand(rule.by)
            changed = text[: match.start()] + by + text[match.end() :]
            change = _lines(text, changed, match.start(), match.end(), by)
            if changed not in seen:
                seen.add(changed)
                yield Mutant(rule.name, change, changed)


def _region(text: str) -> tuple[int, int]:
    """The part that learners write: that between the marks, or the body of a chapter's solution."""
    if BEGIN in text:
        return text.index(BEGIN), text.index(END)
    head = re.search(r"\{|:\n", text)
    return head.end() if head else 0, len(text)


def _in_comment(text: str, at: int) -> bool:
    """Whether a place is behind `//` with two spaces before it, or `#`, or in a docstring's line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return bool(re.search(r'(^|  )\s*(//|# )|^\s*"""', line))


def _lines(text: str, changed: str, start: int, end: int, by: str) -> tuple[str, str]:
    """The lines that differ, without the space around them."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    old = text[first:last]
    return old.strip(), changed[first : last + len(changed) - len(text)].strip()
