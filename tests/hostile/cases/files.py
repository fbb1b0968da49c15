"""Files that are no notebooks of this lab, or notebooks that are not what they seem. Nothing of them is executed."""

from __future__ import annotations

import copy
import gzip
import io
import json
import os
import zipfile

from helpers.grading.release import as_bytes
from tests.hostile.case import TOKEN, Case, grade_id
from tests.hostile.lab import TOTAL

SUMS = ("lab05.total",)


def rejected(name: str, tries: str, file) -> Case:
    return Case(name, tries, file=file, state="rejected", loses=SUMS)


def changed(name: str, tries: str, change, **more) -> Case:
    """A notebook that `change` has been at; it is written as JSON without a look."""

    def file(notebook: dict) -> bytes:
        notebook = copy.deepcopy(notebook)
        notebook = change(notebook) or notebook
        return json.dumps(notebook).encode()

    return Case(name, tries, file=file, **more)


def cells(change, only: str = ""):
    """Do something to every cell, or to those of a kind: "graded", "solution", or a cell's id."""

    def all_of(notebook: dict) -> None:
        for cell in notebook["cells"]:
            marks = cell["metadata"].get("nbgrader", {})
            kind = "graded" if marks.get("grade") else "solution" if marks.get("solution") else ""
            if not only or only in (kind, marks.get("grade_id")):
                change(cell)

    return all_of


def without(kind: str):
    def change(notebook: dict) -> None:
        flag = "grade" if kind == "graded" else "solution"
        notebook["cells"] = [c for c in notebook["cells"] if not c["metadata"].get("nbgrader", {}).get(flag)]

    return change


def put(place, value):
    """Set a field of the notebook: `place` is a path of keys."""

    def change(notebook: dict) -> None:
        *path, last = place
        found = notebook
        for key in path:
            found = found[key]
        found[last] = value

    return change


def source_is(text):
    return lambda cell: cell.update(source=text)


def forged_points(cell: dict) -> None:
    cell["metadata"].setdefault("nbgrader", {}).update(points=1000)
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "PASSED 10/10"}]
    cell["execution_count"] = 1


def twice(notebook: dict) -> None:
    """A wrong answer, and after it a right one under the same id."""
    at = next(n for n, cell in enumerate(notebook["cells"]) if grade_id(cell) == TOTAL)
    wrong = copy.deepcopy(notebook["cells"][at])
    wrong["source"] = "total = None"
    notebook["cells"].insert(at, wrong)


def odd_metadata(notebook: dict) -> None:
    notebook["metadata"] = {"kernelspec": [1], "x": {"y": None}}
    tags = ["nbval-skip", "raises-exception", "skip"]
    cells(lambda cell: cell["metadata"].update(tags=tags, trusted=True))(notebook)


def solved_in_checks(notebook: dict) -> None:
    cells(source_is("total = logsumexp = None"), "graded")(notebook)
    cells(source_is(""), "solution")(notebook)


def another_lab(notebook: dict) -> None:
    cell = notebook["cells"][1]
    notebook["cells"] = [{**cell, "metadata": {"nbgrader": {"grade_id": "lab99-x"}}, "id": "other"}]


def archive(*members: tuple[str, bytes | None]):
    """An archive of files by their names; None makes a link to /etc/passwd."""

    def zipped(notebook: dict) -> bytes:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in members:
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_DEFLATED
                if data is None:
                    info.external_attr = 0o120777 << 16
                file.writestr(info, b"/etc/passwd" if data is None else data or as_bytes(notebook))
        return held.getvalue()

    return zipped


def as_archive(name: str, tries: str, *members, **more) -> Case:
    make = archive(*members)
    return Case(name, tries, file=lambda notebook: {f"{name}.zip": make(notebook)}, **more)


def beside(name: str, tries: str, files: dict[str, bytes | None], **more) -> Case:
    """A folder with the notebook and other files; None is a link to the machine's root."""
    return Case(
        name,
        tries,
        file=lambda notebook: {
            f"{name}/lab.ipynb": as_bytes(notebook),
            **{f"{name}/{file}": data for file, data in files.items()},
        },
        **more,
    )


OLD = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "metadata": {}}]}).encode()
NOT_UTF_8 = "m\\xfcller"


EVIL = b"raise SystemExit(0)\n"

CASES = (
    rejected("file-empty", "is empty", lambda notebook: b""),
    rejected("file-junk", "is binary junk", lambda notebook: bytes(range(256)) * 100),
    rejected("file-cut-off", "is cut off", lambda notebook: as_bytes(notebook)[:-200]),
    rejected("file-large", "has 100 MB", lambda notebook: as_bytes(notebook) + b" " * 100_000_000),
    rejected("file-deep", "has a million brackets", lambda notebook: b"[" * 1_000_000),
    rejected(
        "file-bomb-number",
        "has a number of four million digits, and no cells",
        lambda notebook: b'{"nbformat": 4, "x": ' + b"9" * 4_000_000 + b"}",
    ),
    rejected("file-utf-16", "is UTF-16", lambda notebook: as_bytes(notebook).decode().encode("utf-16")),
    rejected("file-list", "is JSON, but a list", lambda notebook: b"[1, 2]"),
    rejected("file-python", "is a program", lambda notebook: EVIL),
    rejected(
        "file-twice-cells",
        "says its cells twice",
        lambda notebook: as_bytes(notebook).rstrip()[:-1] + b', "cells": []}',
    ),
    rejected(
        "file-many-cells",
        "has a hundred thousand cells",
        lambda notebook: json.dumps(
            {
                **notebook,
                "cells": notebook["cells"] * 100 + [{"cell_type": "raw", "metadata": {}, "source": ""}] * 40_000,
            }
        ).encode(),
    ),
    changed("file-format-3", "is of format 3", put(["nbformat"], 3), state="rejected", loses=SUMS),
    changed("file-no-cells", "has no cells", put(["cells"], []), state="rejected", loses=SUMS),
    changed("file-odd-cells", "has cells that are none", put(["cells"], [1, None, "x"]), state="rejected", loses=SUMS),
    changed("file-odd-source", "has a number for a source", cells(source_is(5)), state="rejected", loses=SUMS),
    changed(
        "file-wrong-lab",
        "is another lab's notebook",
        another_lab,
        state="rejected",
        loses=SUMS,
    ),
    changed(
        "file-long-cell",
        "has 5 MB of code in a cell",
        cells(source_is("# " + "x" * 4_900_000), TOTAL),
        state="rejected",
        loses=SUMS,
    ),
    changed(
        "file-kernelspec",
        "names a kernel of its own",
        lambda n: n["metadata"].update(
            kernelspec={"name": "../../evil", "display_name": "x", "language": "bash", "argv": ["/bin/sh"]},
            language_info={"name": "bash"},
        ),
    ),
    changed(
        "file-metadata",
        "has metadata of odd types",
        odd_metadata,
    ),
    changed(
        "file-forged-points", "gives its cells a thousand points, and outputs that say PASSED", cells(forged_points)
    ),
    changed(
        "file-forged-outputs",
        "has outputs of 3 MB and of odd types",
        cells(lambda c: c.update(outputs=[{"output_type": 7}, "x", None, {"data": "x" * 300_000}])),
    ),
    changed("file-checks-edited", "has edited the graded cells", cells(source_is("print('PASSED')"), "graded")),
    changed("file-checks-deleted", "has deleted the graded cells", without("graded")),
    changed(
        "file-checks-solve",
        "has put its solutions into graded cells, and nothing into the others",
        solved_in_checks,
        loses=SUMS,
        outcome="missing",
    ),
    changed(
        "file-checks-retyped",
        "has turned the graded cells into text",
        cells(lambda c: c.update(cell_type="raw"), "graded"),
    ),
    changed("file-answers-deleted", "has deleted its answers", without("solution"), loses=SUMS, outcome="missing"),
    changed(
        "file-answers-as-text",
        "has turned its answers into text",
        cells(lambda c: c.update(cell_type="markdown"), "solution"),
    ),
    changed("file-answers-twice", "has two answers in one place, of which the second is right", twice, loses=()),
    changed("file-ids-gone", "has lost all metadata", cells(lambda c: c.update(metadata={}))),
    changed(
        "file-ids-taken",
        "gives all cells one id",
        cells(lambda c: c.update(id="run-0", metadata={"nbgrader": {"grade_id": TOTAL, "solution": True}})),
    ),
    changed(
        "file-null-bytes",
        "has null bytes in its source",
        cells(source_is("total = 1\0\n"), TOTAL),
        loses=SUMS,
        outcome="error",
    ),
    changed(
        "file-surrogates",
        "has halves of characters in its source",
        cells(lambda c: c.update(source=c["source"] + "\n# \ud800 \udfff"), TOTAL),
    ),
    changed(
        "file-bidi",
        "has signs that turn the direction of text, so that code reads as a comment",
        cells(
            lambda c: c.update(source=c["source"] + "\n# \u202e }\u2066 total = None\u2069 \u2066\n\u200b# x"), TOTAL
        ),
        state="",
        loses=SUMS,
    ),
    changed(
        "file-controls",
        "has control signs, ANSI and HTML in its source and errors",
        cells(source_is("raise ValueError('<img src=x onerror=alert(1)>\x1b[2J\x1b]0;x\x07\\r\\n=cmd|x')"), TOTAL),
        loses=SUMS,
        outcome="error",
    ),
    changed(
        "file-magic-cell",
        "begins an answer with a magic that takes the cell away",
        cells(lambda c: c.update(source="%%script cat\n" + c["source"]), TOTAL),
        loses=SUMS,
    ),
    changed(
        "file-many-own-cells",
        "has eight hundred cells of its own",
        lambda n: n["cells"].extend(
            {
                "cell_type": "code",
                "id": f"mine-{k}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": "pass",
            }
            for k in range(800)
        ),
    ),
    beside(
        "beside-conftest",
        "lays conftest.py, pytest.ini, sitecustomize.py and numpy.py beside its notebook",
        {
            "conftest.py": EVIL,
            "pytest.ini": b"[pytest]\naddopts = --collect-only\n",
            "sitecustomize.py": EVIL,
            "numpy.py": EVIL,
            "helpers/__init__.py": EVIL,
            "tox.ini": EVIL,
            "setup.cfg": b"[tool:pytest]\naddopts = -x\n",
        },
    ),
    beside("beside-link", "lays links to the machine's root beside it", {"root": None, "a.ipynb": None}),
    beside(
        "beside-names",
        "lays files with names of 250 bytes, formulas and new lines beside it",
        {"x" * 240 + ".py": EVIL, "=cmd|' '!A1.py": EVIL, "a\nb.py": EVIL, "\u202etxt.py": EVIL},
    ),
    Case("=HYPERLINK(x)", "has a formula for a name"),
    Case("-rf", "has a name that is an option"),
    Case("<script>alert(1)<", "has HTML for a name", file=lambda n: {"<script>alert(1)<.ipynb": as_bytes(n)}),
    Case("\u202eseman", "has a name that turns the direction of text"),
    Case("\x1b[2Jansi", "has a name that clears the screen"),
    Case("n" * 240, "has a name of 240 bytes"),
    Case(
        "file-link",
        "is a link to another's work",
        file=lambda n: {"file-link.ipynb": None},
        state="rejected",
        loses=SUMS,
    ),
    as_archive("archive-honest", "is an archive", ("lab.ipynb", b"")),
    as_archive(
        "archive-up",
        "is an archive whose files lie above it",
        (f"../{TOKEN}.ipynb", b""),
        ("../../../tmp/" + TOKEN, EVIL),
        state="rejected",
        loses=SUMS,
    ),
    as_archive(
        "archive-absolute",
        "is an archive of absolute paths",
        (f"/tmp/{TOKEN}.ipynb", b""),
        state="rejected",
        loses=SUMS,
    ),
    as_archive("archive-links", "is an archive of links", ("lab.ipynb", None), state="rejected", loses=SUMS),
    Case(
        "archive-tar",
        "is an archive of another kind",
        state="rejected",
        loses=SUMS,
        file=lambda notebook: {"archive-tar.tar.gz": gzip.compress(as_bytes(notebook))},
    ),
    as_archive(
        "archive-bomb",
        "is an archive that unpacks to 1 GB",
        ("lab.ipynb", b" " * 1_000_000_000),
        state="rejected",
        loses=SUMS,
    ),
    as_archive("archive-no-notebook", "is an archive without a notebook", ("a.py", EVIL), state="rejected", loses=SUMS),
    beside("beside-folder.ipynb", "is a folder whose name ends like a notebook's", {"empty.ipynb/a.txt": b""}),
    Case("Double", "differs from another by capitals only"),
    Case("double", "differs from another by capitals only"),
    Case(" double", "differs from another by a space"),
    Case("d\u043euble", "differs from another by a letter of another alphabet"),
    Case("CON", "has the name of a device"),
    Case("a\nb,\"c\";'d'", "has a name with a new line, quotes and commas"),
    Case("]]>&lt;x&amp;", "has a name that ends a section of XML"),
    Case("[a](javascript:x)|`b`", "has Markdown for a name"),
    Case(NOT_UTF_8, "has a name that is no UTF-8", file=lambda n: {os.fsdecode(b"m\xfcller.ipynb"): as_bytes(n)}),
    as_archive(
        "archive-again", "is an archive to which the file was added again", ("./lab.ipynb", OLD), ("lab.ipynb", b"")
    ),
    as_archive(
        "archive-names",
        "is an archive of names with new lines and three hundred signs",
        ("a\nb\u202e\x1b[2J/" + "x" * 300 + ".ipynb", b""),
    ),
    as_archive("archive-nested", "is an archive in an archive", ("a.zip", b"PK"), state="rejected", loses=SUMS),
    rejected(
        "file-conflict",
        "was merged by git, with marks of a conflict",
        lambda n: as_bytes(n).replace(b'"cells"', b'<<<<<<< HEAD\n"cells"', 1),
    ),
    rejected("file-zeros", "ends in zeros, as after a crash of the machine", lambda n: as_bytes(n) + bytes(4096)),
    rejected(
        "file-latin-1",
        "is saved in Latin-1",
        lambda n: json.dumps({**n, "metadata": {"author": "M\xfcller"}}, ensure_ascii=False).encode(
            "cp1252", "replace"
        ),
    ),
    rejected(
        "file-surrogate-key", "has no cells but a half of a character", lambda n: b'{"nbformat": 4, "\\ud800": []}'
    ),
    Case(
        "file-mark",
        "begins with a byte order mark, and has the line ends of Windows",
        file=lambda n: b"\xef\xbb\xbf" + as_bytes(n).replace(b"\n", b"\r\n"),
    ),
    Case(
        "file-numbers",
        "has numbers that JSON does not know",
        file=lambda n: as_bytes(n).replace(b'"nbformat"', b'"x": [1e999, NaN, -Infinity, 1e-999], "nbformat"', 1),
    ),
)
