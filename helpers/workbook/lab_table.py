"""What each lab is worth and takes, from the labs' sources, as a table on the page for instructors.

`python -m helpers.workbook.lab_table` writes it.
"""

from __future__ import annotations

from pathlib import Path

from helpers.checking.probe import RESULTS
from helpers.grading import source
from helpers.workbook.tracks import lab_minutes

HEAD = "| lab | exercises | points | for results | for limits | minutes |"


def table(labs: Path) -> str:
    """A row for each lab in a folder of labs."""
    rows = [_row(path, labs) for path in sorted((labs / "source").glob("lab*/*.ipynb"))]
    return "\n".join([HEAD, "|---|---:|---:|---:|---:|---:|", *rows])


def _row(path: Path, labs: Path) -> str:
    lab = source.read(path)
    results = sum(cell.points for cell in lab.graded if cell.asked.part == RESULTS)
    page = f"{lab.name}/{lab.name}.ipynb"
    cells = (f"[{lab.name[3:5]}]({page})", len(lab.exercises), f"{lab.out_of:g}", f"{results:g}",
             f"{lab.out_of - results:g}", lab_minutes(labs / page))  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def write(labs: Path) -> None:
    """Put the table in the place of the one on the page for instructors."""
    page = labs / "TEACHING.md"
    text = page.read_text(encoding="utf-8")
    begin = text.index(HEAD)
    page.write_text(text[:begin] + table(labs) + text[text.index("\n\n", begin) :], encoding="utf-8")


if __name__ == "__main__":
    from helpers.workbook.command import project_folder

    write(project_folder() / "labs")
