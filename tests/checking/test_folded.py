"""A cell that reveals an answer is folded until there is one, and shows all it would show otherwise."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from helpers.checking import predict as predictions

ASK = "from helpers.checking.predict import predict, reveal\nquestion = predict('?', [1, 2], key='t-fold')"
RUN = """\
from IPython.display import HTML
print("printed <first>")
display(HTML("<b>shown</b>"))
found = 1 + 1
reveal("t-fold", found)"""


class Cells:
    """Runs cells as a kernel does, and returns what each publishes."""

    def __init__(self):
        self.shell = InteractiveShell.instance()
        self.shell.display_pub = CapturingDisplayPublisher()

    def run(self, source):
        self.shell.display_pub.outputs.clear()
        printed, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(printed), redirect_stderr(errors):
            result = self.shell.run_cell(source)
        return printed.getvalue(), [each["data"] for each in self.shell.display_pub.outputs], result


@pytest.fixture
def cells(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(DisplayHook, "quiet", lambda self: True)
    shell = Cells()
    shell.run(ASK)
    yield shell
    predictions._ASKED.pop("t-fold")
    InteractiveShell.clear_instance()


def test_without_an_answer_everything_is_in_one_element_to_be_opened(cells):
    printed, shown, _ = cells.run(RUN)
    (data,) = shown
    assert printed == ""
    assert data["text/html"].startswith("<details><summary>") and data["text/html"].endswith("</details>")
    order = [
        data["text/html"].index(text) for text in ("printed &lt;first&gt;", "<b>shown</b>", "The answer is <b>2</b>")
    ]
    assert order == sorted(order)
    assert data["text/plain"].startswith("printed <first>\n")


def test_with_an_answer_nothing_is_folded(cells):
    cells.run("question.commit(2)")
    printed, shown, _ = cells.run(RUN)
    assert printed.startswith("printed <first>\n")
    assert [data.get("text/html", "")[:4] for data in shown] == ["<b>s", "<div"]
    assert not any("<details>" in data.get("text/html", "") for data in shown)


def test_an_answer_that_is_kept_nowhere_counts_too(cells, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", "off")
    cells.run("question.commit(2)")
    assert cells.run(RUN)[0]


def test_names_and_errors_are_those_of_the_cell(cells):
    assert cells.run(RUN)[2].success and cells.shell.user_ns["found"] == 2
    result = cells.run("print('so far')\n1 / 0\nreveal('t-fold', 1)")
    assert isinstance(result[2].error_in_exec, ZeroDivisionError)
    assert "so far" in result[1][0]["text/html"]


def test_other_cells_are_left_alone(cells):
    printed, shown, _ = cells.run("print('plain')\nx = 'reveal(1)'")
    assert (printed, shown) == ("plain\n", [])


def test_a_picture_is_shown_inside(cells):
    source = "display({'image/png': 'AAAA', 'text/plain': 'a <curve>'}, raw=True)\nreveal('t-fold', 2)"
    assert '<img alt="a &lt;curve&gt;" src="data:image/png;base64,AAAA">' in cells.run(source)[1][0]["text/html"]


def test_a_display_that_was_updated_is_shown_as_it_ended_and_progress_bars_are_not(cells):
    view = "application/vnd.jupyter.widget-view+json"
    source = f"""\
bar = display({{"{view}": {{}}, "text/plain": "0 %"}}, raw=True)
curve = display({{"text/plain": "begun"}}, raw=True, display_id=True)
curve.update({{"text/plain": "ended"}}, raw=True)
reveal("t-fold", 2)"""
    plain = cells.run(source)[1][0]["text/plain"]
    assert plain == "ended\nThe answer is 2."
