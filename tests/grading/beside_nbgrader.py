"""Seconds a submission, beside nbgrader's on the same lab in the same run: `python -m tests.grading.beside_nbgrader`.

Both grade the same solved notebooks; each by its own commands, start-up included for nbgrader and told apart for
`warpbook grade`. Let nothing else run beside it. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from pathlib import Path

from helpers.grading.merged import solved
from helpers.grading.release import as_bytes
from helpers.workbook.authoring import grading_bench
from helpers.workbook.grading_commands import author_lab
from tests.grading.test_nbgrader import course


def nbgraders(lab, count: int) -> float:
    """Seconds a submission of `nbgrader autograde`, one process, as it works."""
    with tempfile.TemporaryDirectory() as folder:

        def write(sources: Path) -> Path:
            path = sources / lab.name / f"{lab.name}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(as_bytes(dict(lab.notebook)))
            return path

        made = course(Path(folder), write)
        for number in range(count):
            made.hand_in(f"student{number:03}", solved(made.lab))
        began = time.monotonic()
        done = made.nbgrader("autograde", lab.name)
        seconds = (time.monotonic() - began) / count
        if done.returncode:
            raise SystemExit(done.stderr)
        if set(made.grades().values()) != {(lab.out_of, lab.out_of)}:
            raise SystemExit("nbgrader did not give full marks")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.grading.beside_nbgrader", description=__doc__.split("\n")[0])
    parser.add_argument("labs", nargs="*", default=["01", "05"], help="such as 05; default 01 and 05")
    parser.add_argument("--submissions", type=int, default=12)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}")
    print(f"{arguments.submissions} submissions a figure, seconds a submission")
    heads = f"{'graded cells':>12}  {'nbgrader':>8}  {'1 worker':>8}  {'2 workers':>9}  {'2, no fork server':>17}"
    print(f"\n{'lab':34}  {heads}")
    for name in arguments.labs:
        whole = author_lab(name)
        for lab, title in ((whole.only(whole.exercises[:1]), f"{whole.name}, one exercise"), (whole, whole.name)):
            figures = [nbgraders(lab, arguments.submissions)]
            figures += [grading_bench.speed(lab, arguments.submissions, workers, True)[1] for workers in (1, 2)]
            figures += [grading_bench.speed(lab, arguments.submissions, 2, False)[1]]
            theirs, one, two, apart = figures
            print(
                f"{title:34}  {len(lab.graded):>12}  {theirs:>8.2f}  {one:>8.2f}  {two:>9.2f}  {apart:>17.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
