"""Run the hostile class and print what came of each case: `python -m tests.hostile [--write] [--only WORD]`."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from tests.hostile.attack import Attack
from tests.hostile.case import Case
from tests.hostile.cases import TABLE, attacks

PATH = Path(__file__).with_name("TABLE.md")
HEAD = """# What hostile submissions come to

Each row was handed in among honest submissions and graded by `warpbook grade`, in the sandbox {tier}. *Unearned* are
points of exercises that the case does not answer, beyond what its kernel does right; *kept* those of what it answers
rightly beside it. Written by `python -m tests.hostile --write`; `tests/hostile/test_hostile.py` asserts
it, and that bystanders lose nothing and nothing is left behind.
"""


def escaped(text: str) -> str:
    """Text in a table of Markdown: names may hold any sign."""
    safe = "".join(sign if sign.isprintable() else f"U+{ord(sign):04X} " for sign in text)
    return re.sub(r"([|<>*_`\\[\]])", r"\\\1", safe)


def cell(text: str) -> str:
    """The same, and not too much of it."""
    return escaped(text if len(text) < 60 else f"{text[:57]}…")


def row(attack: Attack, case: Case) -> str:
    result = attack.graded.results.get(case.name)
    if result is None:
        return f"| {cell(case.name)} | {escaped(case.tries)} | in no report | | |"
    of = {exercise: [m for m in result.marks if m.exercise == exercise] for exercise in attack.book.exercises}
    lost = sum(mark.points for exercise in case.loses for mark in of[exercise])
    kept = result.points - lost
    outcomes = sorted({mark.outcome for exercise in case.loses for mark in of[exercise]}) or ["right"]
    what = result.state.replace("_", " ")
    came = f"{what}: {cell(result.reason)}" if result.state == "rejected" else f"{what}; {', '.join(outcomes)}"
    unearned = lost if case.limit else max(0, lost - case.most)
    came += f". Known limit: {case.limit}" * bool(case.limit)
    return f"| {cell(case.name)} | {escaped(case.tries)} | {came} | {unearned:g} | {kept + lost - unearned:g} |"


def table(done: dict[str, Attack]) -> str:
    tiers = {result.tier for attack in done.values() for result in attack.graded.results.values() if result.tier}
    lines = [HEAD.format(tier=", ".join(sorted(tiers)))]
    for group, (book, cases) in TABLE.items():
        attack = next((attack for attack in done.values() if attack.book is book), None)
        if attack is None:
            continue
        lines += [f"## {group}", "", "| case | tries | what comes of it | unearned | kept |"]
        lines += ["|---|---|---|---:|---:|", *(row(attack, c) for c in cases if c in attack.cases), ""]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PATH.name}")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only cases whose names hold this")
    asked = parser.parse_args()
    done, wrong = {}, 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        for name, planned in attacks().items():
            cases = [case for case in planned.cases if re.search(asked.only, case.name)]
            if not cases:
                continue
            began = time.monotonic()
            attack = done[name] = Attack(planned.book, cases, Path(folder, name))
            said = [f"{case.name!r}: {words}" for case in cases for words in attack.complaints(case)]
            said += [f"left behind: {words}" for words in (*attack.graded.left, *attack.graded.remains)]
            wrong += len(said)
            print(f"{name}: {len(cases)} cases in {time.monotonic() - began:.0f} s, status {attack.graded.status}")
            print("\n".join([*said, attack.graded.complained[-2000:]]))
    text = table(done)
    if asked.write:
        PATH.write_text(text, encoding="utf-8")
    elif not wrong:
        print(text)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
