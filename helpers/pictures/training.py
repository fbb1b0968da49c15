"""A training loop that is watched: a progress bar, curves that grow, and an interrupt that loses nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, SupportsFloat

from helpers.pictures.figures import show
from helpers.pictures.plots.training import Curve, training_curves

if TYPE_CHECKING:
    from types import TracebackType

    from IPython.display import DisplayHandle
    from tqdm.auto import tqdm

SECONDS_BETWEEN = 1.0
"""Before the first drawing of the curves and between two, at least; and twenty times what a drawing takes."""
NOTHING = {"text/plain": "", "text/html": ""}


class training(Mapping):
    """Watch the training in a `with` block: `with training("LeNet", steps=epochs * len(batches)) as run:`.

    `steps`: how often `run.step` will be called, for the progress bar; None where nobody knows. `run.step(loss=…)`
    notes values and counts a step, `run.note(accuracy=…)` notes values between steps; values are numbers or tensors of
    one element. The block leaves the curves as its output, or nothing with `leave=False`, for one of several runs that
    are drawn together afterwards. Interrupted (the ■ of JupyterLab, Ctrl-C), it ends and says
    so; the cells after it go on with what was trained until then, and `run.interrupted` is True. Before the first step
    there is nothing to go on with, and the interrupt stops them too.

    A run is a mapping from the names to `Curve`s, as `plots.training_curves` draws it; `run.last(name)` is the last
    value of one.
    """

    def __init__(
        self, title: str, *, steps: int | None = None, leave: bool = True, clock: Callable[[], float] = time.monotonic
    ):
        self.title, self.steps, self.leave, self.interrupted = title, steps, leave, False
        self.at = 0
        self._curves: dict[str, Curve] = {}
        self._clock = clock
        self._bar: tqdm | None = None
        self._view: DisplayHandle | None = None
        self._next_drawing, self._drawn = 0.0, False

    def __getitem__(self, name: str) -> Curve:
        return self._curves[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {self.last(name):.4g}" for name in self)
        return f"{self.title}: step {self.at:,}" + (f", {told}" if told else "")

    def last(self, name: str) -> float:
        """The value that was noted last under `name`."""
        return self._curves[name].values[-1]

    def step(self, **values: SupportsFloat) -> None:
        """Count a step of training, and note what it gave."""
        self.at += 1
        self.note(**values)
        if self._bar is not None:
            self._bar.update(1)

    def note(self, **values: SupportsFloat) -> None:
        """Note values at the present step, such as an accuracy after an epoch."""
        for name, value in values.items():
            curve = self._curves.setdefault(name, Curve([], []))
            curve.steps.append(self.at)
            curve.values.append(float(value.item() if hasattr(value, "item") else value))
        if self._view is not None and self._clock() >= self._next_drawing:
            self._draw(self._view)

    def __enter__(self) -> training:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=self.steps, desc=self.title, unit=" steps", leave=False)
        if "IPython" in sys.modules:
            from IPython import get_ipython
            from IPython.display import display

            if getattr(get_ipython(), "kernel", None) is not None:
                self._view = display(NOTHING, raw=True, display_id=True)
        self._next_drawing = self._clock() + SECONDS_BETWEEN  # a chart of the first step alone shows nothing
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._bar is not None:
            self._bar.close()
        if self._view is not None:
            self._draw(self._view, self.leave)
        self._bar = self._view = None
        # Before the first step nothing was trained that later cells could go on with: then it is an interrupt as any.
        self.interrupted = self.at > 0 and kind is not None and issubclass(kind, KeyboardInterrupt)
        if self.interrupted:
            of = f" of {self.steps:,}" if self.steps else ""
            print(f"{self.title}: stopped after step {self.at:,}{of}. What was trained until then is kept.")
        return self.interrupted

    def _draw(self, view: DisplayHandle, curves: bool = True) -> None:
        began = self._clock()
        if curves and self:
            view.update(show(training_curves({self.title: self})))
        else:
            view.update(NOTHING, raw=True)
        now = self._clock()
        took = now - began if self._drawn else 0.0  # the first one also loads the library that draws
        self._drawn, self._next_drawing = True, now + max(SECONDS_BETWEEN, 20 * took)
