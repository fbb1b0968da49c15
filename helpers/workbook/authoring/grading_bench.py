"""Seconds a submission, where they go, and memory over a long run, measured here.

`python -m helpers.workbook.authoring.grading_bench`.

Nothing is asserted: the figures are of this machine at this moment. Let nothing else run beside it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from helpers.grading import course, keys, pools, submission, worker
from helpers.grading.grade import Plan
from helpers.grading.intake import Submission
from helpers.grading.merged import solved
from helpers.grading.policy import Policy
from helpers.grading.release import as_bytes
from helpers.grading.results import GRADED, Result
from helpers.grading.session import Session
from helpers.grading.source import Lab
from helpers.grading.submission import Job
from helpers.grading.untrusted import read_cells
from helpers.grading.worker import Settings
from helpers.workbook.grading_commands import author_lab

SEED = 1
MIB = 1 << 20


def jobs(lab: Lab, count: int) -> Iterator[Job]:
    """`count` submissions with the author's answers, each with a cell of its own, so that no two are the same."""
    plan = Plan(lab, (), SEED, Policy())
    cells = read_cells(as_bytes(solved(lab)))
    for number in range(count):
        own = replace(cells[-1], cell_type="code", source=f"number = {number}", id=f"own-{number}", grade_id="")
        yield plan.job(Submission(f"student {number}", f"{number}.ipynb", Path("."), (*cells, own), ""))


def settings(fork_server: bool = True) -> Settings:
    return Settings(SEED, Policy(), keys.of_environment(), fork_server=fork_server)


def speed(lab: Lab, count: int, workers: int, fork_server: bool) -> tuple[float, float]:
    """Seconds until the first results, and seconds a submission from then on."""
    began = time.monotonic()
    ends = []
    with pools.processes(workers) as pool:
        for result in course.graded(jobs(lab, count + workers), settings(fork_server), pool):
            _demand_full_marks(result)
            ends.append(time.monotonic())
    warm = ends[workers - 1]
    return warm - began, (ends[-1] - warm) / count


def shares(lab: Lab, count: int) -> dict[str, float]:
    """Seconds a submission by what they are spent on, in one process."""
    spent: defaultdict[str, float] = defaultdict(float)
    with worker.sandboxes(settings()) as sandboxes:
        timed = [
            (sandboxes.student, "kernel", "a kernel starts"),
            (sandboxes.judge, "ask", "the judge"),
            (Session, "run", "a kernel starts, and cells"),
            (Session, "close", "a kernel ends"),
        ]
        kept = [(owner, name, getattr(owner, name)) for owner, name, _ in timed]
        for owner, name, label in timed:
            setattr(owner, name, _timed(getattr(owner, name), spent, label))
    try:
        made = list(jobs(lab, count + 1))
        _demand_full_marks(submission.grade(made[0], settings()))
        spent.clear()
        began = time.monotonic()
        for job in made[1:]:
            _demand_full_marks(submission.grade(job, settings()))
        whole = time.monotonic() - began
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)
    spent["cells"] = spent.pop("a kernel starts, and cells") - spent["a kernel starts"]
    spent["pytest and the rest"] = whole - sum(spent.values())
    return {label: seconds / count for label, seconds in spent.items()}


def memory(lab: Lab, count: int, every: int) -> Iterator[tuple[int, float, float]]:
    """(submissions graded, MiB of the worker, MiB of all processes below it), in one process."""
    own = psutil.Process()
    for number, job in enumerate(jobs(lab, count), 1):
        _demand_full_marks(submission.grade(job, settings()))
        if number % every == 0 or number == 1:
            below = sum(_resident(process) for process in own.children(recursive=True))
            yield number, own.memory_info().rss / MIB, below / MIB


def _timed(function: Callable[..., Any], spent: dict[str, float], label: str) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        began = time.monotonic()
        try:
            return function(*arguments, **named)
        finally:
            spent[label] += time.monotonic() - began

    return timed


def _resident(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.NoSuchProcess:
        return 0


def _demand_full_marks(result: Result) -> None:
    if result.state != GRADED or result.points < result.out_of:
        raise SystemExit(
            f"{result.student} has {result.points:g} of {result.out_of:g}, {result.state}: {result.reason}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m helpers.workbook.authoring.grading_bench", description=__doc__.split("\n")[0]
    )
    parser.add_argument("lab", help="such as lab05 or 05")
    parser.add_argument("--exercises", type=int, default=1, help="how many of the lab's, from the first; default 1")
    parser.add_argument("--submissions", type=int, default=20, help="for each figure, default 20")
    parser.add_argument("--memory", type=int, default=0, metavar="N", help="also memory over N submissions")
    arguments = parser.parse_args()
    lab = author_lab(arguments.lab)
    lab = lab.only(lab.exercises[: arguments.exercises])
    print(f"{lab.name}: {len(lab.exercises)} of its exercises, {len(lab.graded)} graded cells; {os.cpu_count()} cores")
    print(f"\n{'workers':>7}  {'fork server':11}  {'first after, s':>14}  {'s a submission':>14}")
    for fork_server in (True, False):
        for workers in (1, 2):
            first, each = speed(lab, arguments.submissions, workers, fork_server)
            print(f"{workers:>7}  {'yes' if fork_server else 'no':11}  {first:>14.2f}  {each:>14.2f}", flush=True)
    print("\nwhere they go, one worker:")
    for label, seconds in shares(lab, arguments.submissions).items():
        print(f"  {label:24}{seconds:>6.3f} s", flush=True)
    if arguments.memory:
        print(f"\n{'graded':>7}  {'worker, MiB':>11}  {'below it, MiB':>13}")
        for number, own, below in memory(lab, arguments.memory, max(1, arguments.memory // 10)):
            print(f"{number:>7,}  {own:>11.1f}  {below:>13.1f}", flush=True)


if __name__ == "__main__":
    main()
