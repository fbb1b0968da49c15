"""A small lab made up for tests: one exercise in Python, one in CUDA C, and a stand-in for probe."""

from __future__ import annotations

from pathlib import Path

from helpers.checking.exercise import Budget, Case, Exercise
from helpers.grading import source
from helpers.grading.release import as_bytes

NAME = "made01_sums"

# As the real probe does, it displays what it was given; unlike it, it also knows the answers.
PROBE = """\
from types import SimpleNamespace


def probe(answer, exercise, part, inputs=None):
    print(exercise, part, "given" if answer else "nothing")
    if exercise == "made01.total":
        return SimpleNamespace(right=answer([1, 2, 3]) == 6)
    return SimpleNamespace(right="y[i] = 2 * x[i];" in answer)


def check(answer, exercise):
    print("checked", exercise)"""

TOTAL = '''\
def total(numbers):
    """The sum of `numbers`."""
    ### BEGIN SOLUTION
    found = 0
    for number in numbers:
        found += number
    return found
    ### END SOLUTION'''

DOUBLED = '''\
doubled = r"""
extern "C" __global__ void doubled(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // ### BEGIN SOLUTION
    if (i < n) y[i] = 2 * x[i];
    // ### END SOLUTION
}
"""'''

TOTAL_RESULTS = """\
seen = probe(total, "made01.total", "results")
assert seen.right, seen
### BEGIN HIDDEN TESTS
assert total([]) == 0
### END HIDDEN TESTS"""


def text(number: int, content: str, **metadata) -> dict:
    return {"cell_type": "markdown", "id": f"made-{number}", "metadata": metadata, "source": content}


def code(number: int, content: str, **metadata) -> dict:
    stored = [{"name": "stdout", "output_type": "stream", "text": "stored\n"}]
    return {
        "cell_type": "code",
        "execution_count": number,
        "id": f"made-{number}",
        "metadata": metadata,
        "outputs": stored,
        "source": content,
    }


def marks(grade_id: str, kind: str, points: float | None = None) -> dict:
    """nbgrader's metadata of a cell of one kind."""
    flags = {"grade": kind == "graded", "solution": kind == "solution", "locked": kind in ("graded", "locked")}
    worth = {} if points is None else {"points": points}
    return {"nbgrader": {**flags, **worth, "grade_id": grade_id, "schema_version": 3, "task": False}}


def notebook() -> dict:
    """The author's notebook."""
    cells = [
        text(1, "# Sums\n\nAdd up, then double."),
        code(2, "import math\nimport sys"),
        code(3, PROBE, **marks("made01-probe", "locked")),
        text(4, "## A total", **marks("made01-total-text", "locked")),
        code(5, TOTAL, **marks("made01-total", "solution"), tags=["answer"]),
        code(6, 'check(total, "made01.total")', **marks("made01-total-check", "locked")),
        code(7, TOTAL_RESULTS, **marks("made01-total-results", "graded", 3)),
        code(8, "picture = math.pi\npicture", tags=["explore"]),
        code(9, DOUBLED, **marks("made01-doubled", "solution")),
        code(
            10,
            'seen = probe(doubled, "made01.doubled", "results")\nassert seen.right, seen',
            **marks("made01-doubled-results", "graded", 1.5),
        ),
        code(
            11,
            'seen = probe(doubled, "made01.doubled", "sectors per request")\nassert seen.right, seen',
            **marks("made01-doubled-sectors-per-request", "graded", 2),
        ),
        text(12, "## Links"),
    ]
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def row(key: str, *labels: str, language: str = "python") -> Exercise:
    budgets = tuple(Budget(label, lambda profile: 0.0, 1, "") for label in labels)
    return Exercise(
        key, key, language, key.split(".")[1], lambda: [Case("one", ())], ("", "", ""), "", "", budgets=budgets
    )


EXERCISES = {
    made.key: made for made in (row("made01.total"), row("made01.doubled", "sectors per request", language="cuda"))
}


def written(folder: Path, made: dict | None = None, name: str = NAME) -> Path:
    """The author's notebook as a file below `folder`, in the folder of its name."""
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_bytes(made or notebook()))
    return path


def lab(made: dict | None = None) -> source.Lab:
    """The made-up lab, without a file."""
    return source.lab(made or notebook(), Path(NAME) / f"{NAME}.ipynb")
