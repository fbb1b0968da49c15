"""What happens to honest people, and must not cost them a mark."""

from __future__ import annotations

import copy
import json
from textwrap import dedent

from tests.hostile.case import Case, grade_id
from tests.hostile.lab import LOGSUMEXP, TOTAL

SUMS, ROWS = ("lab05.total",), ("lab05.logsumexp",)


def beside(name: str, tries: str, source: str, after: str = TOTAL, **more) -> Case:
    """A cell of the student's own beside right answers."""
    return Case(name, tries, own=((after, dedent(source)),), **more)


def saved(change):
    """A notebook as some program saves it; `change` gets and may replace the notebook."""

    def file(notebook: dict) -> bytes:
        notebook = copy.deepcopy(notebook)
        return json.dumps(change(notebook) or notebook).encode()

    return file


def each(change):
    def all_of(notebook: dict) -> None:
        for number, cell in enumerate(notebook["cells"]):
            change(number, cell)

    return all_of


def colab(notebook: dict) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"].update(id=f"x{number}", colab={"base_uri": "https://localhost:8080/"}, outputId="7")
        cell.pop("id")
    notebook.update(nbformat_minor=0, metadata={"colab": {"provenance": []}, "widgets": {"x": {"state": {"a": [1]}}}})


def split(notebook: dict) -> None:
    """As JupyterLab splits a cell: both pieces have its metadata."""
    at = next(n for n, cell in enumerate(notebook["cells"]) if grade_id(cell) == TOTAL)
    whole = notebook["cells"][at]
    first = {**copy.deepcopy(whole), "source": "import math\nsteps = 32\n"}
    notebook["cells"][at : at + 1] = [first, {**whole, "id": "piece"}]


def merged(notebook: dict) -> None:
    """Both answers in the first one's cell, the other cell gone."""
    one, other = (next(c for c in notebook["cells"] if grade_id(c) == name) for name in (TOTAL, LOGSUMEXP))
    one["source"] = "".join(one["source"]) + "\n\n" + "".join(other["source"])
    notebook["cells"].remove(other)


def merged_with_checks(notebook: dict) -> None:
    """Answers and what follows them up to the next answer in one cell."""
    kept: list[dict] = []
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade") and kept:
            kept[-1]["source"] = "".join(kept[-1]["source"]) + "\n\n" + "".join(cell["source"])
        else:
            kept.append(cell)
    notebook["cells"] = kept


def shown(number: int, cell: dict) -> None:
    """Outputs of all kinds, with numbers of cells as they were run."""
    if cell["cell_type"] == "code":
        cell["execution_count"] = 99 - number
        view = {"application/vnd.jupyter.widget-view+json": {"model_id": "0" * 32}, "text/html": "<script>1</script>"}
        cell["outputs"] = [
            {"output_type": "display_data", "data": {**view, "image/png": "iVBOR" * 20_000}, "metadata": {}},
            {"output_type": "stream", "name": "stdout", "text": ["x\n"] * 2000},
        ]
    else:
        cell["attachments"] = {"a.png": {"image/png": "iVBOR" * 2000}}


SAVED = (
    ("colab", "was saved by Colab", colab),
    ("vscode", "was saved by VS Code", each(lambda n, c: c["metadata"].update(vscode={"languageId": "python"}))),
    (
        "no-ids",
        "was saved by a program that knows no ids of cells",
        lambda n: {**n, "nbformat_minor": 2, "cells": [{k: v for k, v in c.items() if k != "id"} for c in n["cells"]]},
    ),
    ("one-id", "has cells that were copied with their ids", each(lambda n, c: c.update(id="same"))),
    (
        "line-ends",
        "has cells with the line ends of Windows",
        each(lambda n, c: c.update(source="".join(c["source"]).replace("\n", "\r\n"))),
    ),
    (
        "raw",
        "has turned answers into raw cells",
        each(lambda n, c: c.update(cell_type="raw") if grade_id(c) in (TOTAL, LOGSUMEXP) else None),
    ),
    ("outputs", "has large outputs of all kinds, in no order", each(shown)),
    ("minor", "is of a format that is newer than this one", lambda n: n.update(nbformat_minor=99)),
    ("backwards", "has its cells in the other order", lambda n: n["cells"].reverse()),
    ("split", "has split a cell", split),
    ("merged", "has merged two answers", merged),
    ("merged-checks", "has merged answers with what follows them", merged_with_checks),
    (
        "letters",
        "has a source that is saved letter by letter",
        each(lambda n, c: c.update(source=list("".join(c["source"])))),
    ),
    (
        "spaces",
        "has spaces and tabs at the ends of its lines",
        each(
            lambda n, c: (
                c.update(source="\n".join(line + " \t" for line in "".join(c["source"]).split("\n")))
                if c["cell_type"] == "code"
                else None
            )
        ),
    ),
)

CASES = (
    Case("honest", "does nothing else"),
    beside("honest-warning", "warns", "import warnings\nwarnings.warn('careful')"),
    beside("honest-prints", "prints, also to stderr", "import sys\nprint('x' * 5000)\nprint('oh', file=sys.stderr)"),
    beside("honest-folder", "works in another folder", "import os\nos.makedirs('work')\nos.chdir('work')"),
    beside(
        "honest-folder-gone",
        "works in a folder that it then deletes",
        "import os\nos.mkdir('work')\nos.chdir('work')\nos.rmdir('../work')",
    ),
    beside("honest-input", "asks for input()", "name = input('Your name? ')"),
    beside("honest-slow", "waits a second in a cell of its own", "import time\ntime.sleep(1)"),
    beside("honest-error", "has a cell that fails", "1 / 0"),
    beside("honest-syntax", "has a cell that is no Python", "this is a note to myself"),
    beside(
        "honest-names",
        "uses names of the lab for something else",
        "x, n, out, s, t, seen, key, part, inputs, results, evidence, kernel = range(12)",
    ),
    beside("honest-np", "uses np for something else, once its kernel has run", "np = 'np'", "lab05-logsumexp-results"),
    beside(
        "honest-plots",
        "shows a plot",
        """
        %matplotlib inline
        import matplotlib.pyplot as plt
        plt.plot([1, 2, 3]);
        """,
    ),
    beside("honest-widget", "shows a widget", "import ipywidgets\nipywidgets.IntSlider(3)"),
    beside("honest-bar", "shows a progress bar", "from tqdm.auto import tqdm\nfor _ in tqdm(range(300)):\n    pass"),
    beside("honest-magic", "uses magics", "%timeit -n 1 -r 1 sum(range(100))\n!echo hello\n%env"),
    beside("honest-unknown-magic", "uses a magic that there is not", "%nonsense 1"),
    beside("honest-reload", "loads IPython's autoreload", "%load_ext autoreload\n%autoreload 2"),
    beside(
        "honest-thread",
        "starts a thread that prints for a while",
        """
            import threading, time
            def talk():
                for _ in range(20):
                    time.sleep(0.05)
                    print('still here')
            threading.Thread(target=talk).start()
            """,
    ),
    beside("honest-check", "asks for feedback once more", "from helpers import check\ncheck(total, 'lab05.total')"),
    beside(
        "honest-profile",
        "profiles its kernel",
        """
            from helpers import profile
            x, y = cp.ones(64, dtype='float32'), cp.zeros(1, dtype='float32')
            profile(total, 1, 32, (x, y, np.int32(64)))
            """,
    ),
    beside(
        "honest-wrong-line",
        "has a kernel of its own that fails",
        "@cuda.jit\ndef mine(a):\n    a[cuda.grid(1) + 10**6] = 1\nmine[1, 32](cp.zeros(4))",
    ),
    beside(
        "honest-many-files", "writes some files", "for k in range(50):\n    open(f'notes-{k}.txt', 'w').write('note')"
    ),
    Case(
        "honest-crash-elsewhere",
        "crashes the kernel in one question",
        {TOTAL: "import ctypes\nctypes.string_at(0)"},
        state="student_fault",
        loses=SUMS,
        outcome="crash",
    ),
    Case(
        "honest-typo-elsewhere",
        "has a typing error in one question",
        {TOTAL: "def total(:"},
        loses=SUMS,
        outcome="error",
    ),
    Case(
        "honest-endless-elsewhere",
        "has a loop without end in one question",
        {LOGSUMEXP: "while True: pass"},
        state="student_fault",
        loses=ROWS,
        outcome="timeout",
        stops=1,
    ),
    *(Case(f"honest-{name}", tries, file=saved(change)) for name, tries, change in SAVED),
)
