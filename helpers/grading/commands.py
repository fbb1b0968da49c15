"""The words of the command line for labs: a table of rows that `warpbook` adds to its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from helpers.cli import Command, UsageProblem, project_folder

# -- release --------------------------------------------------------------------------------------------


def source_folder() -> Path:
    return project_folder() / "labs" / "source"


def lab_paths(names: Sequence[str]) -> list[Path]:
    """The authors' notebooks meant by names such as lab05_reduction, lab05 or 05, or by paths; all when none is named.

    Raises UsageProblem for a lab that there is not.
    """
    folder = source_folder()
    there = {path.stem: path for path in sorted(folder.glob("*/*.ipynb")) if path.stem == path.parent.name}
    found = []
    for name in names:
        short = f"lab{int(name):02d}" if name.isdigit() else name
        named = [path for lab, path in there.items() if lab == short or lab.split("_")[0] == short]
        if not named and not Path(name).exists():
            raise UsageProblem(f"There is no lab {name}. There are: {', '.join(there) or 'none'}, in {folder}.")
        found += named or [Path(name)]
    return found or list(there.values())


def release_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("labs", nargs="*", metavar="LAB", help="such as lab05_reduction or 05; default all")
    parser.add_argument("--check", action="store_true", help="only say whether the learners' files are up to date")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write, default labs/")


def release(arguments: argparse.Namespace) -> int:
    from helpers.grading.release import as_bytes, learners_path, released
    from helpers.grading.source import SourceError, read
    from helpers.grading.source_rules import examine

    paths = lab_paths(arguments.labs)
    if not paths:
        raise UsageProblem(f"There is no lab in {source_folder()}.")
    failed = 0
    for path in paths:
        try:
            lab = read(path)
        except SourceError as error:
            raise UsageProblem(str(error)) from error
        problems = examine(lab)
        target = learners_path(lab, arguments.out or project_folder() / "labs")
        if problems:
            failed += 1
            print("\n  ".join([f"{lab.name}: {len(problems)} to mend, so nothing is written", *map(str, problems)]))
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
            print(f"{lab.name}: wrote {target}, {len(lab.graded)} graded cells, {lab.out_of:g} points")
    return 1 if failed else 0


# -- report ---------------------------------------------------------------------------------------------

REPORT_HELP = """\
Reports on what was graded, without grading anything:

  warpbook report results
  warpbook report results --canvas exported.csv
  warpbook report results --merge results-1 results-2 results-3

Exit status 1 when anything still has to be graded or is missing: that is never a zero.
"""


def report_arguments(parser: argparse.ArgumentParser) -> None:
    from helpers.grading.report import FORMATS

    rows = "\n".join(f"  {name:12}{row.summary}" for name, row in FORMATS.items())
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the folder that was graded into")
    parser.add_argument(
        "--merge", nargs="+", type=Path, metavar="FOLDER", help="results of shards, merged into RESULTS"
    )
    parser.add_argument("--canvas", type=Path, metavar="FILE", help="Canvas's exported gradebook, to be filled in")
    parser.add_argument("--column", default="", metavar="HEADING", help="its column, where it is not the lab's title")
    parser.add_argument(
        "--format", action="append", choices=FORMATS, metavar="FORMAT", help="write this only; repeatable"
    )
    parser.add_argument("--zero-rejected", action="store_true", help="give rejected submissions 0 points, not none")
    parser.epilog = f"formats:\n{rows}\n\n{REPORT_HELP}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def report(arguments: argparse.Namespace) -> int:
    from helpers.grading import report as reports

    folder = arguments.results
    try:
        if arguments.merge:
            if folder.resolve() in {path.resolve() for path in arguments.merge}:
                raise UsageProblem(f"{folder} is one of the folders to merge; give a new folder before --merge.")
            found = reports.merge(arguments.merge)
            reports.keep(folder, found.results)
        else:
            found = reports.read(folder)
        options = {
            "canvas": arguments.canvas.read_bytes() if arguments.canvas else None,
            "column": arguments.column,
            "zero_rejected": arguments.zero_rejected,
            "told": found.all_told(),
        }
        kept = {"shard": found.shard, "lacks": found.lacks}
        paths = reports.write(folder, found.results, found.lab, arguments.format, **kept, **options)
        text = reports.as_text(found.results, found.lab, arguments.format, **options)
    except (OSError, ValueError) as problem:
        raise UsageProblem(str(problem)) from problem
    for remark in found.remarks:
        print(f"warpbook: {remark}", file=sys.stderr)
    sys.stdout.reconfigure(encoding="utf-8")
    print(f"{len(paths):,} files in {folder}\n\n{text}", end="")
    return reports.exit_status(found.results, found.lab) or int(bool(found.lacks))


# -- the table ------------------------------------------------------------------------------------------

COMMANDS = (
    Command("release", "make the learners' notebooks from the authors'", release_arguments, release),
    Command("report", "write gradebooks, feedback and a summary from results", report_arguments, report),
)
