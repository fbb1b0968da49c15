"""The words of the command line for labs: a table of rows that `warpbook` adds to its own."""

from __future__ import annotations

import argparse
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


# -- the table ------------------------------------------------------------------------------------------

COMMANDS = (Command("release", "make the learners' notebooks from the authors'", release_arguments, release),)
