"""Is this machine fit for the workbook? Makes the checks of `checks`, and reports what they found.

What a check raises is a finding here, never a crash. `examine_apart` makes the checks in another process, since a
damaged library or driver can take Python down with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from helpers.workbook import packages
from helpers.workbook.checks import CHECKS, Check, Finding, reinstall


def no_compilers_remedy(remedy: str, system: str = sys.platform) -> str:
    """The remedy for this platform: on macOS there is nothing to reinstall."""
    if system == "darwin":
        return "NVIDIA ships no compilers for macOS: use Linux or Windows, in a container or in the cloud."
    return remedy


def examine(checks: Sequence[Check] = CHECKS) -> list[Finding]:
    """Make every check; one that raises becomes a problem with the row's remedy."""
    return [finding for check in checks for finding in _examined(check)]


def _examined(check: Check) -> Iterable[Finding]:
    try:
        result = check.look(check.name)
        return [result] if isinstance(result, Finding) else list(result)
    except (Exception, SystemExit) as error:  # whatever a broken installation raises is what has to be shown
        first = (str(error).strip().splitlines() or [""])[0]
        return [_failed(check, f"{type(error).__name__}: {first}" if first else type(error).__name__)]


def _failed(check: Check, found: str) -> Finding:
    remedy = check.remedy or reinstall(*check.packages)
    return Finding(check.name, "problem", found, no_compilers_remedy(remedy))


def examine_apart() -> list[Finding]:
    """Make every check of CHECKS in another process. A check that ends it is a problem, and the next ones follow."""
    findings: list[Finding] = []
    done = 0
    while done < len(CHECKS):
        command = [sys.executable, "-m", "helpers.workbook.doctor", str(done)]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        answers = [json.loads(line) for line in ran.stdout.splitlines()]
        findings += [Finding(**row) for answer in answers for row in answer]
        done += len(answers)
        if done < len(CHECKS):
            findings.append(_failed(CHECKS[done], f"Python crashed, exit status {ran.returncode}"))
            done += 1
    return findings


def _answer(first: int) -> None:
    """Make the checks from the one of this number on, and write a line of JSON for each to the standard output."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # what libraries print is no answer
        for check in CHECKS[first:]:
            print(json.dumps([asdict(finding) for finding in _examined(check)]), file=answers, flush=True)


MARKS = {"ok": "ok     ", "warn": "warn   ", "problem": "PROBLEM"}


def as_text(findings: Sequence[Finding]) -> str:
    """One line a finding, its remedy below it, and a last line that sums up."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = []
    for finding in findings:
        lines.append(f"{MARKS[finding.state]}  {finding.name:<{width}}  {finding.found}")
        if finding.remedy:
            lines.append(f"{'':{len(MARKS['ok'])}}  {'':{width}}  → {finding.remedy}")
    problems = sum(finding.state == "problem" for finding in findings)
    warnings = sum(finding.state == "warn" for finding in findings)
    lines.append("")
    lines.append(
        f"{problems} problem{'s' * (problems != 1)}, {warnings} warning{'s' * (warnings != 1)}."
        if problems or warnings
        else f"All well: run `{packages.called('lab')}`."
    )
    return "\n".join(lines)


def as_json(findings: Sequence[Finding]) -> str:
    """The findings as a JSON list of objects with name, state, found and remedy."""
    return json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False)


def exit_status(findings: Sequence[Finding]) -> int:
    """1 when anything is a problem, else 0: warnings do not stop the course."""
    return int(any(finding.state == "problem" for finding in findings))


if __name__ == "__main__":
    _answer(int(sys.argv[1]))
