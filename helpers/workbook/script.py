"""A chapter as a plain Python script, for tools that want a program to run: ncu, nsys, compute-sanitizer."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from helpers.workbook.run import EXERCISE, MAY_FAIL, tags

OF_THE_NOTEBOOK = re.compile(r"predict|progress|widgets\.\w+")
"""Calls that a bare expression makes only to be looked at or clicked: left out."""
HEAD = '''"""{title}

The code of {name}, written by `warpbook script`: what cells show is printed; exercises, predictions and explorers
are left out.
"""
'''
ONCE = """
from vgpu.base.profiler import launch_once

launch_once()  # a profiler replays each launch by itself, so benchmark makes one where it would make many
"""
DISPLAY = """
display = print  # which Jupyter brings along
"""


def as_script(path: Path, *, timed: bool = False) -> str:
    """The code cells of the notebook at `path`, in order, as one script that runs without Jupyter.

    `timed`: `benchmark` warms up and repeats as in the notebook; otherwise it launches once.
    """
    import nbformat

    cells = nbformat.read(path, as_version=4).cells
    first = next((match[1] for cell in cells if (match := re.search(r"^# +(.+)$", cell.source, re.M))), path.stem)
    parts = [HEAD.format(title=first, name=path.name)]
    displays = any(re.search(r"\bdisplay\(", cell.source) for cell in cells if cell.cell_type == "code")
    heading = ""
    imported = False
    for cell in cells:
        if cell.cell_type == "markdown":
            titles = re.findall(r"^## +(.+?) *$", cell.source, flags=re.MULTILINE)
            heading = titles[-1] if titles else heading
            continue
        if cell.cell_type != "code" or EXERCISE in tags(cell) or not cell.source.strip():
            continue
        if heading:
            parts.append(f"\n# --- {heading}\n")
            heading = ""
        parts.append("\n" + _plain(cell.source, may_fail=MAY_FAIL in tags(cell)))
        if not imported:
            parts += [ONCE] * (not timed) + [DISPLAY] * displays
        imported = True
    return "".join(parts)


def _written(source: str) -> str:
    """What `%%writefile NAME` does, as Python: the rest of the cell goes into that file, with `-a` at its end."""
    head, _, body = source.partition("\n")
    given = head.split(maxsplit=1)[1].strip()
    name = re.sub(r"\$(\w+)", r"{\1}", given.removeprefix("-a "))
    mode = "a" if given.startswith("-a ") else "w"
    text = repr(body + "\n") if "'''" in body or body.endswith("\\") else f"r'''{body}\n'''"
    return f'with open(f"{name}", "{mode}", encoding="utf-8") as file:\n    file.write({text})\n'


def _plain(source: str, *, may_fail: bool) -> str:
    """One cell without what only a notebook can do, its last value printed."""
    if source.startswith("%%writefile "):
        return _written(source)
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a magic, or a mistake that is meant
        return _commented(source, "no plain Python")
    lines = source.rstrip().splitlines()
    for node, last in reversed([(node, node is body[-1]) for node in body]):
        if not isinstance(node, ast.Expr) or _shares_its_lines(node, body):
            continue
        name = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
        there = slice(node.lineno - 1, node.end_lineno)
        text = "\n".join(lines[there])
        if OF_THE_NOTEBOOK.fullmatch(name):
            lines[there] = _commented(text, "in the notebook").splitlines()
        elif last and name not in ("print", "display") and not text.rstrip().endswith(";"):
            lines[there] = _printed(node, text).splitlines()
    plain = "\n".join(lines) + "\n"
    if may_fail:
        indented = "\n".join(f"    {line}" if line else "" for line in plain.splitlines())
        plain = f"try:\n{indented}\nexcept Exception as error:\n    print(type(error).__name__, error)\n"
    return plain


def _printed(node: ast.Expr, text: str) -> str:
    """`print(…)` of an expression; a tuple is printed as one value, as a notebook shows it."""
    if "#" in text.splitlines()[-1]:
        text += "\n"  # a comment would take the closing bracket along
    inner = f"({text})" if isinstance(node.value, ast.Tuple) and not text.lstrip().startswith("(") else text
    return f"print({inner})"


def _shares_its_lines(node: ast.stmt, body: list[ast.stmt]) -> bool:
    return any(
        other is not node and other.lineno <= (node.end_lineno or 0) and (other.end_lineno or 0) >= node.lineno
        for other in body
    )


def _commented(source: str, why: str) -> str:
    first, *rest = source.rstrip().splitlines()
    return "".join(line.rstrip() + "\n" for line in (f"# {first}  ({why})", *(f"# {line}" for line in rest)))
