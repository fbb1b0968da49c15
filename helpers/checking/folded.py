"""A cell that reveals an answer shows everything folded, as long as the learner hasn't given one.

Notebooks say nothing about this. The first `predict` gives IPython an AST transformer, and from then on the body of
each cell that calls `reveal("key", …)` runs inside `once_answered("key")`. What such a cell prints and displays is then
one `<details>` element, which JupyterLab, VS Code and static pages all honour. Chapters are stored without answers, so
what is stored is folded too.
"""

from __future__ import annotations

import ast
import html
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
SUMMARY = "You haven’t answered yet. Open this to see what the cell shows."
_RUN = "import helpers.checking.predict as _predict\nwith _predict.once_answered({key!r}): pass"
_SHOW = "_predict.folded.show()"


class Fold(ast.NodeTransformer):
    """Puts the body of a cell with `reveal("key", …)` under `with once_answered("key")`."""

    def visit_Module(self, module: ast.Module) -> ast.Module:
        keys = [key for line in module.body for key in _revealed(line)]
        if not keys:
            return module
        last = module.body[-1]
        if isinstance(last, ast.Expr):  # what IPython would show as the cell's result
            show = ast.parse(_SHOW, mode="eval").body
            assert isinstance(show, ast.Call)
            show.args = [last.value]
            last.value = ast.copy_location(show, last.value)
        imported, run = ast.parse(_RUN.format(key=keys[0])).body
        assert isinstance(run, ast.With)
        run.body = module.body
        for line in (imported, run):
            ast.copy_location(line, module.body[0])
        return ast.fix_missing_locations(ast.Module([imported, run], module.type_ignores))


def _revealed(line: ast.stmt) -> Iterator[str]:
    match line:
        case ast.Expr(ast.Call(ast.Name("reveal"), [ast.Constant(str(key)), *_])):
            yield key


def install() -> None:
    """Fold cells of this kernel from now on; without IPython there are none."""
    import sys

    if "IPython" not in sys.modules:
        return
    shell: Any = sys.modules["IPython"].get_ipython()
    if shell is not None and not any(isinstance(each, Fold) for each in shell.ast_transformers):
        shell.ast_transformers.append(Fold())


def show(value: object) -> None:
    """Display a cell's result, as IPython does: nothing for None."""
    from IPython.display import display

    if value is not None:
        display(value)


@contextmanager
def folded() -> Iterator[None]:
    """Whatever is printed and displayed in here becomes one element that the reader opens."""
    from IPython.display import display
    from IPython.utils.capture import capture_output

    capture = capture_output(stderr=False)
    try:
        with capture as captured:
            yield
    finally:  # an error leaves what came before it
        printed = [{"text/plain": captured.stdout.rstrip("\n")}] if captured.stdout else []
        if shown := [_forms(data) for data in [*printed, *_latest(captured.outputs)]]:
            inside = "\n".join(form for form, _ in shown)
            whole = f"<details><summary>{SUMMARY}</summary>\n{inside}\n</details>"
            display({"text/html": whole, "text/plain": "\n".join(plain for _, plain in shown)}, raw=True)


def _latest(outputs: list[Any]) -> list[dict[str, str]]:
    """What displays show in the end: their last updates, and no progress bar."""
    latest = {(each.transient or {}).get("display_id", number): each.data for number, each in enumerate(outputs)}
    return [data for data in latest.values() if any(data.values()) and (WIDGET_VIEW not in data or "text/html" in data)]


def _forms(data: dict[str, str]) -> tuple[str, str]:
    """An output as HTML and as plain text."""
    plain = data.get("text/plain", "")
    if "text/html" in data:
        return data["text/html"], plain
    if "image/png" in data:
        return f'<img alt="{html.escape(plain)}" src="data:image/png;base64,{data["image/png"]}">', plain
    return f"<pre>{html.escape(plain)}</pre>", plain
