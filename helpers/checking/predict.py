"""Commit to an answer before the machine gives its own.

`learner_state` says where the learner's answers are kept. What no cell computes, the right answer or why it is right,
stands in the chapter's `predictions.toml`, so that a cell's source doesn't give it away.
"""

from __future__ import annotations

import html
import re
import tomllib
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from helpers.checking import folded, learner_state
from helpers.checking.exercise import book_folder
from helpers.checking.folded import WIDGET_VIEW
from vgpu.base.latest_update import LatestUpdate

if TYPE_CHECKING:
    import ipywidgets

_BOX = (
    "border-left:4px solid {colour};padding:6px 12px;margin:4px 0;max-width:700px;font-size:14px;"
    "background:rgba(127,127,127,.09);border-radius:0 6px 6px 0"
)
PREDICTIONS = "predictions.toml"  # beside a chapter's exercises: a table for each question, with `answer` and `why`
_ASKED: dict[str, Prediction] = {}


def answer(key: str) -> Any:
    """What the learner answered under `key`, or None."""
    return learner_state.entry(learner_state.PREDICTIONS, key).get("said")


@dataclass(frozen=True, eq=False)
class Prediction:
    """A question with its options (or a free number) and a control that keeps the answer."""

    question: str
    key: str
    options: tuple[object, ...] | None = None
    _live: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def answer(self) -> Any:
        """What the learner answered, or None."""
        said = self._live.get("answer", answer(self.key))
        return said if self.options is None or said in self.options else None

    def commit(self, value: object) -> None:
        """Keep `value` as the learner's answer; ValueError when it is not one of the options."""
        if self.options is not None and value not in self.options:
            raise ValueError(f"{value!r} is not one of {', '.join(map(str, self.options))}")
        self._live["answer"] = value
        learner_state.keep(learner_state.PREDICTIONS, self.key, said=value, right=None, on=learner_state.today())

    def __repr__(self) -> str:
        options = "a number" if self.options is None else " / ".join(map(str, self.options))
        return f"{self.question} [{options}]"

    def _static(self) -> str:
        given = (
            "a number" if self.options is None else " &nbsp;·&nbsp; ".join(html.escape(str(o)) for o in self.options)
        )
        return (
            f'<div style="{_BOX.format(colour="#0072b2")}"><b>Predict.</b> {prose(self.question)}'
            f"<br>Your answer: {given}</div>"
        )

    def widget(self) -> ipywidgets.VBox:
        """The control: radio buttons for options, a number field otherwise. Choosing an answer keeps it."""
        import ipywidgets

        said = ipywidgets.HTML(layout=ipywidgets.Layout(height="24px"))
        wide = ipywidgets.Layout(width="auto", max_width="680px")
        if self.options is not None:
            labels = [(str(option), option) for option in self.options]
            control = ipywidgets.RadioButtons(options=labels, value=self.answer, layout=wide)
        else:
            before = self.answer
            control = ipywidgets.Text(
                value="" if before is None else f"{before:g}",
                placeholder="a number, then Enter",
                continuous_update=False,
                layout=ipywidgets.Layout(width="220px"),
            )

        def changed() -> None:
            given = control.value
            value = given if self.options is not None else _number(given)
            if value is None:
                said.value = "Type a number." if given else ""
                return
            self.commit(value)
            said.value = f"Kept: <b>{html.escape(str(value))}</b>. Now run the next cell."

        latest = LatestUpdate(changed)  # so that what is kept and what is said is what the control has
        control.observe(lambda _change: latest.request(), names="value")
        if self.answer is not None:
            said.value = f"Kept: <b>{html.escape(str(self.answer))}</b>."
        question = ipywidgets.HTML(
            f'<div style="{_BOX.format(colour="#0072b2")}"><b>Predict.</b> {prose(self.question)}</div>'
        )
        box = ipywidgets.VBox([question, control, said])
        box.add_class("warpbook-predict")
        return box

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        if "widget" not in self._live:
            self._live["widget"] = self.widget()
        live = self._live["widget"]._repr_mimebundle_()
        return {WIDGET_VIEW: live[WIDGET_VIEW], "text/html": self._static(), "text/plain": repr(self)}


def _number(text: str) -> float | int | None:
    try:
        value = float(str(text).replace(",", "").strip().rstrip("%"))
    except ValueError:
        return None
    return int(value) if value.is_integer() else value


def prose(text: str) -> str:
    """Text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


@dataclass(frozen=True)
class Revealed:
    """The learner's answer beside the result, and why it is so."""

    value: object
    said: object | None
    why: str
    close: bool

    @property
    def verdict(self) -> str:
        """One sentence on the answer given; empty when there is none."""
        if self.said is None:
            return ""
        return f"You said {self.said}: {'that is it.' if self.close else 'look again.'}"

    def __repr__(self) -> str:
        return f"{self.verdict} The answer is {self.value}. {self.why}".strip()

    def _repr_html_(self) -> str:
        colour = "#7a7a7a" if self.said is None else "#009e73" if self.close else "#d55e00"
        result = f"The answer is <b>{html.escape(str(self.value))}</b>. {prose(self.why)}"
        return f'<div style="{_BOX.format(colour=colour)}">{f"{html.escape(self.verdict)} {result}".strip()}</div>'


def predict(question: str, options: Sequence[object] | None = None, *, key: str) -> Prediction:
    """Ask the learner to commit: one of `options`, or a number when there are none.

    `key` names the question over all notebooks ("ch04-stride2"); the answer is kept under it.
    """
    if options is not None and len(options) < 2:
        raise ValueError("a question needs two options or more, or none for a number")
    folded.install()
    prediction = Prediction(question, key, None if options is None else tuple(options))
    _ASKED[key] = prediction
    return prediction


def _said(key: str) -> Any:
    """The answer to a question of this kernel, which may be kept nowhere else; or the one kept earlier."""
    asked = _ASKED.get(key)
    return answer(key) if asked is None else asked.answer


def once_answered(key: str) -> AbstractContextManager[None]:
    """Fold what is shown inside, unless the learner has answered."""
    return folded.folded() if _said(key) is None else nullcontext()


@cache
def _kept(book: str) -> dict[str, dict[str, Any]]:
    path = book_folder(book) / PREDICTIONS
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def reveal(key: str, value: Any = None, *, tolerance: float = 0.0, **figures: object) -> Revealed:
    """Show what the learner answered under `key` beside the result, and why it is so.

    The result is `value`; where no cell computes it, it is the `answer` in the chapter's predictions.toml. That file's
    `why` may have places for `figures`: `{share:.0%}` is filled from `reveal(…, share=0.5)`. Numbers count as right
    within `tolerance` (a share of the result); anything else must be equal. Whether the answer was right is kept beside
    it. Warns where no option is right; ValueError when there is neither a value nor an answer.
    """
    kept = _kept(key.partition("-")[0]).get(key, {})
    value = kept.get("answer") if value is None else value
    if value is None:
        raise ValueError(f"no answer to {key!r}: give it as reveal({key!r}, value), or write it into {PREDICTIONS}")
    why = kept.get("why", "").format(**figures)
    value = value.item() if hasattr(value, "item") else value
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    asked, said = _ASKED.get(key), _said(key)
    close = _alike(said, value, tolerance)
    options = () if asked is None or asked.options is None else asked.options
    if options and not any(_alike(option, value, tolerance) for option in options):
        offered = ", ".join(map(repr, options))
        warnings.warn(f"the answer to {key} is {value!r}, and the options were {offered}", stacklevel=2)
    plain = value if isinstance(value, bool | int | float | str) else str(value)
    learner_state.keep(learner_state.PREDICTIONS, key, answer=plain, right=None if said is None else close)
    return Revealed(value, said, why, close)


def _alike(said: Any, value: Any, tolerance: float) -> bool:
    """Whether an answer counts as right."""
    try:
        return bool(abs(float(said) - float(value)) <= tolerance * abs(float(value)))
    except (TypeError, ValueError):
        return bool(said == value)
