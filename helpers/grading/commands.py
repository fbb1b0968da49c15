"""The words of the command line for labs: a table of rows that `warpbook` adds to its own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from helpers.cli import Command, UsageProblem

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

COMMANDS = (Command("report", "write gradebooks, feedback and a summary from results", report_arguments, report),)
