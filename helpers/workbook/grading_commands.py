"""The words of the command line for labs: a table of rows that `warpbook` adds to its own."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.checking import books
from helpers.checking.learner_state import workbook
from helpers.workbook.command import Command, UsageProblem, print_utf8, project_folder
from vgpu.base.words import plural

if TYPE_CHECKING:
    from tqdm import tqdm

    from helpers.grading.grade import Options
    from helpers.grading.report import Classroom
    from helpers.grading.source import Lab
    from helpers.workbook.run import Problem

# -- release --------------------------------------------------------------------------------------------


def source_folder() -> Path:
    return project_folder() / "labs" / "source"


def lab_paths(names: Sequence[str]) -> list[Path]:
    """The authors' notebooks meant by names such as lab05_reduction_and_scan, lab05 or 05, by what they begin
    with, or by paths; all when none is named.

    Raises UsageProblem for a lab that there is not.
    """
    folder = None if names and workbook() is None else source_folder()  # a wheel has no labs, but takes paths
    notebooks = sorted(folder.glob("*/*.ipynb")) if folder else []
    there = {path.stem: path for path in notebooks if path.stem == path.parent.name}
    found = []
    for name in names:
        short = f"lab{int(name):02d}" if name.isdigit() else name
        named = [path for lab, path in there.items() if lab == short or lab.startswith(f"{short}_")]
        given = Path(name)
        if not named and folder and given.exists() and given.resolve().is_relative_to(folder.parent.resolve()):
            named = [there[given.stem]] if given.stem in there else []  # a learner's file there has a source
        if not named and (given.is_file() or (given / f"{given.name}.ipynb").is_file()):
            named = [given]
        if not named:
            known = f"There are: {', '.join(there) or 'none'}, in {folder}." if folder else "Name one by its path."
            raise UsageProblem(f"There is no lab {name}. {known}")
        found += named
    return found or list(there.values())


def take_exercises_beside(path: Path) -> None:
    """Take another project's exercises from beside a notebook, and not from the working folder, where anything may lie.

    What this starts inherits it. To be called before exercises are read; raises UsageProblem.
    """
    try:
        found, here = books.own(path.resolve().parent), books.own()
    except books.BadFolder as problem:
        raise UsageProblem(str(problem)) from None
    if found or here:
        os.environ[books.VARIABLE] = str(found or "off")


def labs_folder(path: Path) -> Path:
    """Where the learner's notebook of the author's one at `path` goes: beside `source/`, where it lies in one."""
    folder = path.resolve().parents[1]
    return folder.parent if folder.name == "source" else project_folder() / "labs"


def release_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "labs", nargs="*", metavar="LAB", help="such as lab05_reduction_and_scan, lab05 or 05; default all"
    )
    parser.add_argument("--check", action="store_true", help="only say whether the learners' files are up to date")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write, default labs/")


def release(arguments: argparse.Namespace) -> int:
    paths = lab_paths(arguments.labs)
    take_exercises_beside(paths[0] if paths else source_folder())
    from helpers.grading.release import as_bytes, learners_path, released
    from helpers.grading.source import SourceError, read
    from helpers.workbook.lab_style import examine

    if not paths:
        raise UsageProblem(f"There is no lab in {source_folder()}.")
    failed = 0
    for path in paths:
        try:
            lab = read(path)
        except SourceError as error:
            raise UsageProblem(str(error)) from error
        problems = examine(lab)
        target = learners_path(lab, arguments.out or labs_folder(lab.path))
        if problems:
            failed += 1
            head = f"{lab.name}: {plural(len(problems), 'problem')} to fix, so nothing is written"
            print("\n  ".join([head, *told(lab, problems)]))
            continue
        made = as_bytes(released(lab))
        current = target.is_file() and target.read_bytes() == made
        if current:
            print(f"{lab.name}: up to date")
        elif arguments.check:
            failed += 1
            print(f"{lab.name}: {target} is not what its source gives; run `warpbook release {lab.name}`")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(made)
            print(f"{lab.name}: wrote {target}, {plural(len(lab.graded), 'graded cell')}, {lab.out_of:g} points")
    return 1 if failed else 0


def told(lab: Lab, problems: Iterable[Problem]) -> list[str]:
    """The problems with the names of their cells: JupyterLab shows no numbers."""
    names: dict[int | None, str] = {cell.number: cell.grade_id or cell.id for cell in lab.cells}
    return [f"{names.get(problem.cell, lab.name)}: {problem}" for problem in problems]


# -- report ---------------------------------------------------------------------------------------------

REPORT_HELP = """\
Reports on what was graded, without grading anything:

  warpbook report results
  warpbook report results --canvas exported.csv
  warpbook report results --moodle worksheet.csv
  warpbook report results --class class.toml
  warpbook report results --merge results-1 results-2 results-3

Exit status 1 when anything still has to be graded or is missing: that is never a zero.
"""


def report_arguments(parser: argparse.ArgumentParser) -> None:
    from helpers.grading.formats import SUMMARIES

    rows = "\n".join(f"  {name:12}{summary}" for name, summary in SUMMARIES.items())
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the folder that was graded into")
    parser.add_argument(
        "--merge", nargs="+", type=Path, metavar="FOLDER", help="results of shards, merged into RESULTS"
    )
    parser.add_argument("--canvas", type=Path, metavar="FILE", help="Canvas's exported gradebook, to be filled in")
    parser.add_argument("--moodle", type=Path, metavar="FILE", help="Moodle's grading worksheet, to be filled in")
    class_argument(parser)
    parser.add_argument("--column", default="", metavar="HEADING", help="its column, where it is not the lab's title")
    parser.add_argument(
        "--format", action="append", choices=SUMMARIES, metavar="FORMAT", help="write this only; repeatable"
    )
    parser.add_argument("--zero-rejected", action="store_true", help="give rejected submissions 0 points, not none")
    parser.epilog = f"formats:\n{rows}\n\n{REPORT_HELP}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def class_argument(parser: argparse.ArgumentParser) -> None:
    about = "class.toml: roster, due date and late rule (labs/TEACHING.md); default what RESULTS has kept"
    parser.add_argument("--class", dest="classroom", type=Path, metavar="FILE", help=about)


def classroom_of(folders: Sequence[Path], path: Path | None) -> Classroom:
    """The class of a results folder and of those merged into it; `path` replaces what they have kept."""
    from helpers.grading.report import classroom

    kept = [classroom.kept(folder) for folder in folders]
    first = next((each for each in kept if each.roster or each.due), kept[0])
    found = classroom.read(path) if path else first
    times = {student: time for each in kept for student, time in each.times.items()}
    overrides = tuple(dict.fromkeys(override for each in kept for override in each.overrides))
    return replace(found, times=times, overrides=overrides)


def report(arguments: argparse.Namespace) -> int:
    from helpers.grading import report as reports
    from helpers.grading.report.classroom import add_override

    folder = arguments.results
    try:
        if arguments.merge:
            if folder.resolve() in {path.resolve() for path in arguments.merge}:
                raise UsageProblem(f"{folder} is one of the folders to merge; give a new folder before --merge.")
            found = reports.merge(arguments.merge)
            reports.keep(folder, found.results)
            for override in classroom_of(arguments.merge, None).overrides:
                add_override(folder, override)
        else:
            found = reports.read(folder)
        options: dict[str, Any] = {
            "canvas": arguments.canvas.read_bytes() if arguments.canvas else None,
            "moodle": arguments.moodle.read_bytes() if arguments.moodle else None,
            "classroom": classroom_of([folder, *(arguments.merge or ())], arguments.classroom),
            "column": arguments.column,
            "zero_rejected": arguments.zero_rejected,
            "told": found.all_told(),
            "fingerprints": found.fingerprints,
        }
        paths = reports.write(
            folder, found.results, found.lab, arguments.format, shard=found.shard, lacks=found.lacks, **options
        )
        text = reports.as_text(found.results, found.lab, arguments.format, **options)
    except (OSError, ValueError) as problem:
        raise UsageProblem(str(problem)) from problem
    for remark in found.remarks:
        print(f"warpbook: {remark}", file=sys.stderr)
    print_utf8()
    print(f"{len(paths):,} files in {folder}\n\n{text}", end="")
    return reports.exit_status(found.results, found.lab) or int(bool(found.lacks))


# -- override --------------------------------------------------------------------------------------------

OVERRIDE_HELP = """\
  warpbook override results alice lab05-total-budget 2 --why "The barrier was ours to give."
  warpbook override results bob total 15 --why "Handed in on paper."

Sets points by hand. They stay however often the class is graded again, the student's feedback shows them with the
reason, and `total` replaces the score as a whole, whatever was deducted for handing in late. They stand in
RESULTS/overrides.csv: delete a line there to take one back, then call `warpbook report RESULTS`.
"""


def override_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the folder that was graded into")
    parser.add_argument("student", metavar="STUDENT", help="as in the gradebook")
    parser.add_argument("part", metavar="PART", help="the id of a graded cell, or total")
    parser.add_argument("points", type=float, metavar="POINTS")
    parser.add_argument("--why", default="", metavar="WORDS", help="for the student")
    parser.epilog, parser.formatter_class = OVERRIDE_HELP, argparse.RawDescriptionHelpFormatter


def override(arguments: argparse.Namespace) -> int:
    from helpers.grading import report as reports
    from helpers.grading.report.classroom import TOTAL, Override, add_override

    try:
        found = reports.read(arguments.results)
        most = {TOTAL: found.lab.out_of} | {part.cell: part.points for part in found.lab.parts}
        if arguments.part not in most:
            raise ValueError(f"There is no part {arguments.part!r}. There are: {', '.join(most)}.")
        if arguments.part != TOTAL and arguments.points > most[arguments.part]:
            raise ValueError(f"{arguments.part} has {most[arguments.part]:g} points at most.")
        of_class = classroom_of([arguments.results], None)
        names = {result.student for result in found.results} | {row.student_id for row in of_class.roster}
        if arguments.student not in names:
            near = difflib.get_close_matches(arguments.student, names, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(f"There is no student {arguments.student!r} in {arguments.results}.{hint}")
        given = Override(arguments.student, arguments.part, arguments.points, arguments.why)
        add_override(arguments.results, given)
        of_class = classroom_of([arguments.results], None)
        formats = [name for name in reports.FORMATS if name not in reports.TEMPLATES]
        reports.write(
            arguments.results, found.results, found.lab, formats, shard=found.shard, lacks=found.lacks,
            told=found.all_told(), fingerprints=found.fingerprints, classroom=of_class,
        )  # fmt: skip
    except (OSError, ValueError) as problem:
        raise UsageProblem(str(problem)) from problem
    of = f"{given.points:g} of {most[given.part]:g} points"
    print(f"{given.student}: {given.part} is {of} now, in every report but Canvas's and Moodle's.")
    return 0


# -- grade ----------------------------------------------------------------------------------------------

GRADE_HELP = """\
  warpbook grade lab05_reduction_and_scan handed_in --out results

SUBMISSIONS is a folder, or an archive, of notebooks: alice.ipynb, alice/lab.ipynb, alice.zip, what nbgrader collects,
what Canvas and Moodle download. Nothing of a student's is run outside a sandbox.

Hidden cases are drawn from a seed that is kept in RESULTS and told to no student. Draw a new one, by another RESULTS,
when students who have seen their feedback hand in again.

A run that was stopped goes on when called again: what is graded stays, until the answer, the lab or the grader changes.

Several machines: give each a shard and the same seed, then merge.

  warpbook grade lab05_reduction_and_scan handed_in --out results-1 --shard 1/3 --seed secret.txt
  warpbook report results --merge results-1 results-2 results-3

Or a cluster of Dask's, whose workers have this environment:

  warpbook grade lab05_reduction_and_scan handed_in --out results --scheduler tcp://head:8786

exit status: 0 all are graded, or rejected for a reason that is told; 1 something is not graded, which is never a zero
(the last line says so); 2 the command was not understood; 130 stopped by Ctrl-C
"""


def seed(text: str) -> int:
    """A whole number, or what a file holds that no other user of the machine can see in a list of processes."""
    path = Path(text)
    words = path.read_text(encoding="ascii", errors="replace").strip() if path.is_file() else text
    if not words.isascii() or not words.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is neither a whole number nor a file that holds one")
    return int(words)


def shard(text: str) -> tuple[int, int]:
    """Such as 2/8, the second of eight."""
    which, _, of = text.partition("/")
    if not (which.isdigit() and of.isdigit() and 1 <= int(which) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text} is no shard: write 1/3, 2/3 and 3/3 for three machines")
    return int(which), int(of)


def positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return number


def count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of workers: 1 or more")
    return int(text)


def grade_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "warpbook grade LAB SUBMISSIONS --out RESULTS [options]"
    parser.add_argument(
        "lab", metavar="LAB", help="such as lab05_reduction_and_scan, lab05 or 05, or the author's notebook"
    )
    parser.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="what students handed in")
    parser.add_argument("--out", type=Path, required=True, metavar="RESULTS", help="the folder for ledger and reports")
    parser.add_argument("--workers", type=count, metavar="N", help="graded at once, default one for each core")
    timeout = "for one cell of a submission, default 20; to judge an answer may take three times that"
    parser.add_argument("--timeout", type=positive, metavar="SECONDS", help=timeout)
    parser.add_argument("--seed", type=seed, metavar="N", help="of hidden cases, or a file with it; default drawn")
    parser.add_argument("--shard", type=shard, metavar="I/N", help="grade only this part of the class; needs --seed")
    class_argument(parser)
    again = "grade this student again although the result stands; repeatable"
    parser.add_argument("--again", action="append", default=[], metavar="STUDENT", help=again)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="grade on the workers of this Dask scheduler")
    parser.add_argument(
        "--trust-the-class", action="store_true", help="where there is no sandbox, run the code with limits alone"
    )
    parser.add_argument(
        "--no-fork-server", action="store_true", help="start each kernel from nothing: slower, and further apart"
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="also where many submissions run out of time in the same cell"
    )
    parser.epilog, parser.formatter_class = GRADE_HELP, argparse.RawDescriptionHelpFormatter


def grade(arguments: argparse.Namespace) -> int:
    take_exercises_beside(lab_paths([arguments.lab])[0])
    from helpers.grading import grade as grader
    from helpers.grading import report as reports
    from helpers.grading.ledger import Taken
    from helpers.workbook.lab_style import ABOUT_TEXT, examine

    lab = author_lab(arguments.lab)
    problems = [problem for problem in examine(lab) if problem.rule not in ABOUT_TEXT]
    if problems:
        head = f"{lab.name} has {plural(len(problems), 'problem')} to fix first:"
        raise UsageProblem("\n  ".join([head, *told(lab, problems)]))
    if arguments.shard and arguments.seed is None:
        raise UsageProblem("--shard needs --seed, the same on all machines, so that all students get the same cases.")
    print_utf8()
    try:
        with Progress() as progress:
            graded = grader.grade(lab, arguments.submissions, arguments.out, options(arguments), progress)
    except grader.NotGradable as problem:
        if not problem.unready:
            raise UsageProblem(str(problem)) from None
        print(f"warpbook: {problem}", file=sys.stderr)
        return 1
    except (Taken, FileNotFoundError, ValueError) as problem:
        raise UsageProblem(str(problem)) from None
    except OSError as problem:
        raise UsageProblem(f"{problem}, with the results in {arguments.out}. What was graded is kept.") from None
    except KeyboardInterrupt:
        print("warpbook: stopped. What was graded is kept: call the same again to go on.", file=sys.stderr)
        return 130
    if graded.kept:
        print(f"{graded.kept:,} of {len(graded.results):,} submissions were already graded: their results are kept.\n")
    details: dict[str, Any] = {"fingerprints": graded.fingerprints, "told": graded.told, "classroom": graded.classroom}
    print(reports.as_text(graded.results, graded.lab, **details), end="")
    return reports.exit_status(graded.results, graded.lab)


def options(arguments: argparse.Namespace) -> Options:
    """What the command line asks of a run."""
    from helpers.grading.grade import Options
    from helpers.grading.policy import Policy

    seconds = arguments.timeout
    policy = Policy() if seconds is None else Policy(seconds, 3 * seconds, whole_seconds=max(180.0, 9 * seconds))
    return Options(
        arguments.workers,
        arguments.seed,
        arguments.shard,
        arguments.scheduler,
        arguments.trust_the_class,
        not arguments.no_fork_server,
        policy=policy,
        classroom=arguments.classroom,
        again=tuple(arguments.again),
        keep_going=arguments.keep_going,
    )


def author_lab(name: str) -> Lab:
    """The lab of that name or path; raises UsageProblem."""
    from helpers.grading.source import SourceError, read

    try:
        return read(lab_paths([name])[0])
    except SourceError as problem:
        raise UsageProblem(str(problem)) from None


class Progress:
    """A bar with counts by state, on stderr, where somebody looks at it."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None

    def __call__(self, done: int, of: int, counts: Mapping[str, int]) -> None:
        from tqdm import tqdm

        if self._bar is None:
            self._bar = tqdm(total=of, initial=done, unit=" submissions", disable=None, smoothing=0)
        self._bar.set_postfix({state: number for state, number in sorted(counts.items()) if number}, refresh=False)
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


# -- check ----------------------------------------------------------------------------------------------

CHECK_HELP = """\
  warpbook check labs/lab05_reduction_and_scan/lab05_reduction_and_scan.ipynb

Runs your lab from a clean kernel on this machine, with the answers that are saved in the file, and says what each part
earns on the public cases. Nothing is sent anywhere and nothing is written. What the notebook itself says while you work
is `check(answer, "lab05.total")`.

exit status: 0 all points, 1 not yet, 2 the notebook was not understood
"""


def check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK", help="your notebook of a lab")
    parser.add_argument("--timeout", type=positive, default=60.0, metavar="SECONDS", help="for one cell, default 60")
    parser.epilog, parser.formatter_class = CHECK_HELP, argparse.RawDescriptionHelpFormatter


def check(arguments: argparse.Namespace) -> int:
    take_exercises_beside(arguments.notebook)
    from helpers.grading import self_check

    labs = (workbook() or arguments.notebook.resolve().parents[1]) / "labs"
    try:
        checked = self_check.check(arguments.notebook, labs if labs.is_dir() else None, arguments.timeout)
    except self_check.NotChecked as problem:
        raise UsageProblem(str(problem)) from None
    print_utf8()
    print(checked)
    return 0 if checked.passed else 1


# -- the table ------------------------------------------------------------------------------------------

COMMANDS = (
    Command("check", "mark your own lab on the public cases", check_arguments, check),
    Command("grade", "grade what students handed in", grade_arguments, grade),
    Command("override", "set points by hand", override_arguments, override),
    Command("release", "make the learners' notebooks from the authors'", release_arguments, release),
    Command("report", "write gradebooks, feedback and a summary from results", report_arguments, report),
)
