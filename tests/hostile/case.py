"""What a row of the table is: a submission that tries something, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from helpers.grading.merged import solved
from helpers.grading.release import as_bytes
from helpers.grading.results import GRADED
from tests.hostile.lab import Book

TOKEN = "warpbook-hostile-remains"
"""In the name of every file, socket and piece of memory that a case leaves: it is looked for afterwards."""

Files = bytes | Mapping[str, bytes | None]


@dataclass(frozen=True)
class Case:
    """One submission: the author's own answers, but for what is said here.

    `tries`: what it tries, for instructors. `answers`: sources of solution cells by id. `own`: cells of the student's
    own, as (id of the cell that they follow, source); "" is the top. `file`: what is handed in, made of the notebook:
    its bytes, or files by their names (a name that ends in / is a link to nowhere good).
    `state` is what must become of it, "" where that does not matter. `loses`: exercises that are not answered rightly,
    and must have `most` points at most; all others must have all, but for those who ruin their own kernel (`ruins`).
    `limit`: why it has those points though they are not earned, where nothing can be done against it.
    `outcome`: what every mark of what it loses must be, where it is always the same. `stops`: how many of its cells may
    run until their time is out. `untold`: a pattern of what must not come into any word of its feedback.
    """

    name: str
    tries: str
    answers: Mapping[str, str] = field(default_factory=dict)
    own: tuple[tuple[str, str], ...] = ()
    file: Callable[[dict], Files] | None = None
    state: str = GRADED
    loses: tuple[str, ...] = ()
    outcome: str = ""
    most: float = 0
    ruins: bool = False
    limit: str = ""
    stops: int = 0
    untold: str = ""

    def handed_in(self, book: Book) -> Mapping[str, bytes | None]:
        """Files by their names below the folder of submissions."""
        notebook = solved(book.lab(), self.answers)
        for place, source in self.own:
            at = 1 + next((n for n, c in enumerate(notebook["cells"]) if grade_id(c) == place), -1)
            made = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
            notebook["cells"].insert(at, {**made, "id": f"own-{at}"})
        made = as_bytes(notebook) if self.file is None else self.file(notebook)
        return made if isinstance(made, Mapping) else {f"{self.name}.ipynb": made}


def grade_id(cell: dict) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")
