"""What authors begin with: `warpbook new exercise` and `warpbook new chapter` write files that run, full of TODOs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.checking import books

if TYPE_CHECKING:
    from nbformat import NotebookNode

LANGUAGES = ("numba", "cuda", "python")
OF_A_LAB = "lab"
IN = {"numba": "in Numba", "cuda": "in CUDA C", "python": "in Python"}
SOLUTIONS = {
    "numba": """\
@cuda.jit
def NAME(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]
""",
    "cuda": """\
extern "C" __global__ void NAME(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
""",
    "python": """\
def NAME(x):
    return 2 * x
""",
}
CASES_OF_A_KERNEL = """\
from __future__ import annotations

from helpers.checking.exercise import Case, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import loaded_for_needed

BLOCK = 128
thread_of = thread_1d


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(plural(n, "element"), (x, Out(2 * x)SIZE), (cover(n, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 127, 128, 129, 1000)]


def measured() -> Case:
    return _case(4096)


MEASURES = {"bytes loaded per byte needed": loaded_for_needed}
"""
CASES_OF_A_FUNCTION = """\
from __future__ import annotations

from helpers.checking.exercise import Case


def _case(x: int) -> Case:
    return Case(f"NAME({x})", (x,), expected=2 * x)


def cases() -> list[Case]:
    return [_case(x) for x in (0, 1, -3, 1000)]
"""
DRAWN = '''

def drawn(dice: np.random.Generator) -> list[Case]:
    """Cases as a seed draws them; costs are counted on the last one."""
    return [_case(int(n)) for n in dice.integers(1, 5000, 3)]
'''
SHEET = '''\
title = "TODO: what is asked, LANGUAGE"
language = "KEY"
name = "NAME"
hints = [
    "TODO: a nudge, as a question.",
    "TODO: the idea.",
    "TODO: nearly the answer.",
]
why = """
TODO: why the solution is a good one. Lines may break anywhere: a line break is a space."""
stretch = "TODO: what to try next."
BUDGET
[[mistakes]]
name = "TODO: copied only"
teach = "TODO: what is wrong, and what to look at. The ways below are patches of the solution: [old, new]."
ways = [["2 * x", "x"]]

[[mistakes]]
name = "TODO: doubled twice"
teach = "TODO: what is wrong. A whole program can be a way, too: its file in wrong/, by its name."
ways = [["2 * x", "4 * x"]]

[[mistakes]]
name = "TODO: one too many"
teach = "TODO: what is wrong. A way of several patches is a list of them: [[old, new], [old, new]]."
ways = [["2 * x", "1 + 2 * x"]]

[[mistakes]]
name = "TODO: three times"
teach = "TODO: what is wrong. Four mistakes at least, and eight at most, each with all of its ways."
ways = [["2 * x", "3 * x"]]

[[right]]
name = "TODO: added to itself"
way = ["2 * x", "-2 * -x"]

[[right]]
name = "TODO: another route, as a patch or as a file in right/"
way = ["2 * x", "(1 + 1) * x"]
'''
BUDGET = """
[[budgets]]
label = "bytes loaded per byte needed"
at_most = 1.1
teach = "TODO: what costs too much, and how it is avoided. Its measure is in MEASURES of cases.py, by its label."
"""


def exercise(root: Path, key: str, language: str) -> str:
    """Write the folder of a new exercise, put it last in its book, and say what comes next."""
    book, _, name = key.partition(".")
    course = re.fullmatch(r"(ch|lab)\d\d", book) is not None
    if not (course or re.fullmatch(r"(?!(ch|lab)\d)[a-z][a-z0-9_]*", book)) or not name.isidentifier():
        raise ValueError(f"an exercise is called ch07.name or lab07.name, or mine.name outside the course, not {key!r}")
    folder = (root / "helpers" / "exercises" if course else root / books.FOLDER) / book / name
    if folder.exists():
        raise ValueError(f"{folder} is there already")
    folder.mkdir(parents=True)
    for path, text in _files(book, name, language):
        (folder / path).write_text(text, encoding="utf-8")
    _append_to_order(folder.parent / "__init__.py", book, name)
    asked_in = f"labs/source/{book}_*/*.ipynb" if book.startswith(OF_A_LAB) else f"notebooks/{book[2:]}_*.ipynb"
    source = next((path.relative_to(root) for path in root.glob(asked_in)), f"{asked_in}, which isn't there yet")
    begun = f"{folder.relative_to(root)} is there, full of TODOs. It asks for doubled numbers until you change it."
    if not course:
        place = f"labs/source/{book}_…/" if book.startswith(OF_A_LAB) else f"a notebook beside {books.FOLDER}/ or below"
        return f"""\
{begun}

1. Write its cases, its solution and its words, and replace every TODO.
2. python -m helpers.checking.renew {key}
3. Ask it in {place}, in a cell that ends in
       check({name}, "{key}")"""
    return f"""\
{begun}

1. Write its cases, its solution and its words, and replace every TODO.
2. .venv/bin/python -m helpers.checking.renew {key}
3. .venv/bin/python -m pytest --tier all tests/exercises tests/labs/test_right_routes.py -k {key}
4. Ask it in {source}, in a cell tagged `exercise` that ends in
       check({name}, "{key}")"""


def _files(book: str, name: str, language: str) -> Iterator[tuple[str, str]]:
    kernel, lab = language != "python", book.startswith(OF_A_LAB)
    sheet = SHEET.replace("LANGUAGE", IN[language]).replace("KEY", language).replace("NAME", name)
    yield "exercise.toml", sheet.replace("BUDGET\n", f"{BUDGET}\n" if kernel else "\n")
    cases = (CASES_OF_A_KERNEL if kernel else CASES_OF_A_FUNCTION).replace("NAME", name)
    cases = cases.replace("SIZE", ", np.int32(n)" if language == "cuda" else "")
    if lab or language == "cuda":
        cases = cases.replace("annotations\n", "annotations\n\nimport numpy as np\n", 1)
    before, marker, after = cases.partition("\n\nMEASURES")
    yield "cases.py", before + (DRAWN if lab else "") + marker + after
    if not lab:
        yield f"solution.{'cu' if language == 'cuda' else 'py'}", SOLUTIONS[language].replace("NAME", name)


def _append_to_order(path: Path, book: str, name: str) -> None:
    """Make an exercise the last of its book; the book where there is none yet."""
    if not path.exists():
        path.write_text(
            f'"""TODO: what the exercises of {book} are about, in a line."""\n\nORDER = ()\n', encoding="utf-8"
        )
    text = path.read_text(encoding="utf-8")
    (order,) = (node for node in ast.parse(text).body if isinstance(node, ast.Assign))
    names = (*ast.literal_eval(order.value), name)
    quoted = [f'"{each}"' for each in names]
    one = f"ORDER = ({', '.join(quoted)}{',' * (len(names) == 1)})"
    row = one if len(one) <= 120 else "ORDER = (\n" + "".join(f"    {each},\n" for each in quoted) + ")"
    lines = text.splitlines()
    lines[order.lineno - 1 : order.end_lineno] = [row]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# -- chapters ----------------------------------------------------------------------------------------------------------

OPENING = """\
# {title}

TODO: what this chapter is about, and why it matters for training a network.

**Goals.** By the end you can

- TODO: at most four things that a learner can do.

**You need** chapter 02. **Minutes:** 60."""
TOPIC = """\
## TODO: topic {n}

TODO: name the thing, say what it does, then why it matters."""
KERNEL = """\
@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


x = cp.full(1024, {n}, dtype="float32")
out = cp.zeros(1024, dtype="float32")
double[8, 128](x, out)
out.get()[:3]"""
PREDICT = 'predict("TODO: a question. How many threads ran?", ["128", "1024", "8"], key="{key}")'
REVEAL = 'reveal("{key}")'
OF_A_PREDICTION = """\
[{key}]
answer = "1024"
why = "TODO: why it is so, in a sentence."
"""
DISCUSSION = """\
<details><summary>Discussion</summary>

TODO: why it is so, at length.

</details>"""
SUMMARY = """\
## Summary

1. TODO: what to remember."""
LINKS = """\
## Links, and the exercises

{line}

- Exercises: TODO: links to their headings, such as [1](#Exercise-1:-a-title)"""


def chapter(root: Path, number: int, title: str) -> str:
    """Write the notebook of a new chapter, link it, and say what comes next."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    from helpers.checking.predict import PREDICTIONS
    from helpers.workbook import style

    folder = root / "notebooks"
    slug = "_".join(re.findall(r"[a-z0-9]+", title.lower()))
    path = folder / f"{number:02d}_{slug}.ipynb"
    if taken := sorted(folder.glob(f"{number:02d}_*.ipynb")):
        raise ValueError(f"chapter {number:02d} is there already: {taken[0].name}")

    def text(name: str, source: str) -> tuple[str, NotebookNode]:
        return name, new_markdown_cell(source)

    def code(name: str, source: str, *tags: str) -> tuple[str, NotebookNode]:
        return name, new_code_cell(source, metadata={"tags": list(tags)} if tags else {})

    cells = [
        text("title", OPENING.format(title=title)),
        code("imports", "from helpers import cp, cuda, predict, reveal"),
    ]
    predictions = ["# The right answers to the predictions of this chapter, and why.\n"]
    for n in (1, 2, 3):
        key = f"ch{number:02d}-topic-{n}"
        cells += [
            text(f"topic-{n}", TOPIC.format(n=n)),
            code(f"kernel-{n}", KERNEL.format(n=n)),
            text(f"words-{n}", "TODO: what was seen, and what to predict next."),
            code(f"predict-{n}", PREDICT.format(key=key), "predict"),
            code(f"run-{n}", REVEAL.format(key=key), "run", "explain"),
            text(f"explain-{n}", DISCUSSION),
        ]
        predictions.append(OF_A_PREDICTION.format(key=key))
    cells += [text("summary", SUMMARY), text("links", LINKS)]
    for name, cell in cells:
        cell["id"] = name
    made = new_notebook(cells=[cell for _, cell in cells])
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(made, path)
    kept = root / "helpers" / "exercises" / f"ch{number:02d}" / PREDICTIONS
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("\n".join(predictions), encoding="utf-8")
    page = style.open_page(path)
    line = style.navigation_line(page)
    page.cells[0].source += f"\n\n{line}"
    page.cells[-1].source = LINKS.format(line=line)
    nbformat.write(page.notebook, path)
    before, after = page.neighbours
    for neighbour, word in ((before, "next"), (after, "previous")):
        if neighbour:
            _lead_to(folder / neighbour, f"{word}: [{title[0].lower()}{title[1:]}]({path.name})")
    _list(folder / style.CONTENTS, number, f"| {number:02d} | [{title}]({path.name}) | 60 | TODO: in a line | |\n")
    return f"""\
{path.relative_to(root)} is there, full of TODOs, and its neighbours lead to it.

1. Write its row in notebooks/README.md.
2. Write it: .venv/bin/warpbook lab {path.relative_to(root)}, and its answers: {kept.relative_to(root)}
3. .venv/bin/warpbook new exercise ch{number:02d}.name
4. .venv/bin/python -m helpers.workbook.glossary {path.relative_to(root)}
5. .venv/bin/warpbook notebooks --store {path.relative_to(root)}
6. .venv/bin/python -m pytest tests/workbook/test_chapters.py -k {path.stem}"""


def _list(contents: Path, number: int, row: str) -> None:
    """Put a chapter's row below those of the chapters before it."""
    lines = contents.read_text(encoding="utf-8").splitlines(keepends=True)
    before = [at for at, line in enumerate(lines) if re.match(r"\| \d\d[b-z]? \|", line) and int(line[2:4]) < number]
    lines.insert(before[-1] + 1, row)
    contents.write_text("".join(lines), encoding="utf-8")


def _lead_to(path: Path, step: str) -> None:
    """Let a chapter lead to its new neighbour by `step`, in its first and last cell."""
    import nbformat

    from helpers.workbook import style

    notebook = style.open_page(path).notebook
    word = step.partition(":")[0]
    for cell in (notebook.cells[0], notebook.cells[-1]):
        if re.search(rf" · {word}: ", cell.source):
            cell.source = re.sub(rf"(?<= · ){word}: \[[^]]*\]\([^)]*\)", step, cell.source)
        else:
            beside = r"(?<=\[Contents\]\(README\.md\))" if word == "previous" else r"(?= · \[glossary\])"
            cell.source = re.sub(beside, f" · {step}", cell.source, count=1)
    nbformat.write(notebook, path)
