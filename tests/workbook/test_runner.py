"""The notebook runner fails what a reader would call broken: a broken cell each."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat.v4 import new_output

from helpers.workbook import run as notebooks
from tests.workbook.made import code, notebook, text, written

HTML = "from IPython.display import HTML\n"
FIGURE = HTML + """HTML('<figure role="img" aria-label="a line rises"><svg></svg></figure>')"""
NAMELESS = HTML + "HTML('<figure><svg></svg></figure>')"
PIXEL = (
    "from IPython.display import Image\nimport base64\n"
    "Image(base64.b64decode('R0lGODlhAQABAAAAACwAAAAAAQABAAACAUwAOw=='), format='gif')"
)
WIDGET = "import ipywidgets\nipywidgets.HTML('<figure><svg></svg></figure>')"

BROKEN = (
    ("an error", code("1 / 0"), {"error"}),
    ("an error that was to come and did not", code("x = 1", "raises-exception"), {"error"}),
    ("a warning", code("import warnings; warnings.warn('old')"), {"noise"}),
    ("a line on stderr", code("import sys; print('hm', file=sys.stderr)"), {"noise"}),
    ("an unknown line magic", code("%no_such_magic 3"), {"unknown magic"}),
    ("an unknown cell magic", code("%%no_such_magic\n1"), {"unknown magic"}),
    ("a figure without a label", code(NAMELESS), {"alt text", "missing output"}),
    ("a bare image", code(PIXEL), {"alt text", "missing output"}),
    ("a widget's figure without a label", code(WIDGET), set()),  # it is in no output, but in the notebook's state
    ("an output that is not stored", code("1 + 1"), {"missing output"}),
    (
        "PyTorch's profiler, which says on some builds that it starts",
        code("import torch\nfrom torch.profiler import profile\nwith profile():\n    torch.ones(3).sum()"),
        set(),
    ),
    ("an address in memory", code("print(object())"), {"machine", "missing output"}),
)


def test_what_is_broken_is_told_of_each_cell(tmp_path):
    path = written(tmp_path, *(cell for _, cell, _ in BROKEN))
    report = notebooks.run(path).report()
    told = {
        what: set(re.findall(rf"^ *cell {number}: (.*?):", report, re.MULTILINE))
        for number, (what, _, _) in enumerate(BROKEN, 1)
    }
    assert told == {what: rules for what, _, rules in BROKEN}
    assert re.findall(r"^ *notebook: (.*?):", report, re.MULTILINE) == ["alt text"]


def test_a_kernel_that_dies_is_an_error(tmp_path):
    result = notebooks.run(written(tmp_path, text("# A title"), code("import os; os._exit(1)")), budget=30)
    assert [problem.rule for problem in result.problems] == ["error"] and "error" in result.report()


def test_a_slow_cell_is_stopped_at_the_budget(tmp_path):
    path = written(tmp_path, code("import time; time.sleep(60)"), code("x = 1"))
    result = notebooks.run(path, budget=2)
    assert [problem.rule for problem in result.problems] == ["budget"]


def test_many_cells_share_the_budget(tmp_path):
    ticks = iter((0.0, 61.0))
    result = notebooks.run(written(tmp_path, code("x = 1")), budget=60, clock=lambda: next(ticks))
    assert [problem.rule for problem in result.problems] == ["budget"]
    assert "61 s" in result.report()


def test_a_good_notebook_passes_and_is_stored_the_same_each_time(tmp_path):
    path = written(
        tmp_path,
        text("# Good"),
        code("import ipywidgets"),
        code("for n in range(3):\n    print(n, flush=True)"),
        code(FIGURE),
        code("print(object())", notebooks.NOT_STORED),
        code("raise ValueError('meant')", "raises-exception"),
        code("ipywidgets.IntSlider(description='stride')"),
        code("6 * 7"),
    )
    first = notebooks.run(path, stored=False)
    assert not first.problems, first.report()
    notebooks.store(first, path)
    stored = path.read_bytes()

    again = notebooks.run(path)
    assert not again.problems, again.report()
    notebooks.store(again, path)
    assert path.read_bytes() == stored

    cells = nbformat.read(path, as_version=4).cells
    assert [cell.execution_count for cell in cells[1:]] == [1, 2, 3, 4, 5, 6, 7]
    shown = [[output.output_type for output in cell.outputs] for cell in cells[1:]]
    assert shown == [[], ["stream"], ["execute_result"], [], ["error"], [], ["execute_result"]]
    assert cells[2].outputs[0].text == "0\n1\n2\n"
    assert cells[5].outputs[0].traceback == ["ValueError: meant"]
    assert cells[7].outputs[0].data["text/plain"] == "42"


def test_it_runs_in_the_notebook_s_folder(tmp_path):
    (tmp_path / "beside.txt").write_text("here")
    path = written(tmp_path, code("assert open('beside.txt').read() == 'here'"))
    assert not notebooks.run(path).problems


PICTURES = (
    ('<figure role="img" aria-label="a line rises"><svg><path d="M0"/></svg></figure>', 0),
    ('<div><figure role="img" aria-label="x"><img src="a.png"></figure><img src="b.png" alt="b"></div>', 0),
    ('<svg aria-hidden="true"></svg>', 0),
    ('<svg role="img" aria-label="x"/>', 0),
    ("<p>no picture</p>", 0),
    ('<figure role="img"><svg></svg></figure>', 1),
    ('<figure role="img" aria-label=" "></figure>', 1),
    ('<figure aria-label="x"></figure>', 1),
    ('<img src="a.png">', 1),
    ('<img src="a.png" alt="">', 1),
    ("<svg></svg><canvas></canvas>", 2),
    ('<figure role="img" aria-label="x"></figure><svg></svg>', 1),
)


@pytest.mark.parametrize(("html", "count"), PICTURES, ids=[row[0] for row in PICTURES])
def test_pictures_without_a_name(html, count):
    assert len(notebooks.unnamed_pictures(html)) == count


def test_a_widget_s_view_is_not_stored_but_what_stands_beside_it_is():
    view = {notebooks.WIDGET_VIEW: {"model_id": "1"}, "text/plain": "IntSlider()"}
    outputs = [
        new_output("display_data", view),
        new_output("display_data", {**view, "text/html": "<p>frame</p>"}),
    ]
    (kept,) = notebooks.keep(outputs)
    assert dict(kept.data) == {"text/plain": "IntSlider()", "text/html": "<p>frame</p>"}
    assert notebooks.WIDGET_VIEW in outputs[0].data, "the executed notebook itself stays as it was"


def test_tidy_forgets_the_machine():
    made = notebook(code("1", count=7), text("words"), code(""), code("2", count=9))
    made.metadata["widgets"] = {}
    made.metadata["language_info"] = {"name": "python", "version": "3.99.1"}
    made.cells[0].metadata["execution"] = {"iopub.status.busy": "now"}
    tidy = notebooks.tidy(made)
    assert tidy.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert [cell.execution_count for cell in tidy.cells if cell.cell_type == "code"] == [1, None, 2]
    assert tidy.cells[0].metadata == {}


def test_of_an_exercise_only_the_verdict_is_stored():
    shown = {"text/plain": "✗ a sum: not yet — no guard.\n  ✗ 1 element: stopped", "text/html": "<b>no guard</b>"}
    said = new_output("stream", text="as in PyTorch: False\n")
    outputs = [new_output("execute_result", shown), said]
    exercise, other = notebooks.tidy(
        notebook(code("check(x)", "exercise", outputs=outputs), code("check(x)", outputs=outputs))
    ).cells
    assert [dict(each.get("data", {})) for each in exercise.outputs] == [{"text/plain": "✗ a sum: not yet"}, {}]
    assert exercise.outputs[1] == said
    assert dict(other.outputs[0].data) == shown
