"""Runs one update at a time, for the latest state only: for controls that several threads answer.

JupyterLab answers a widget in the thread that last sent it a message, beside the cell that runs. So two controls of
one picture may be answered at the same time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class LatestUpdate:
    """Runs `update()`, which reads the current state itself, until no `request` has come since it began.

    `request` returns at once while an update runs: the running thread then updates once more for all meanwhile. So
    `update` never runs twice at a time, and its last run has seen the last state. It may call `request` itself.
    """

    def __init__(self, update: Callable[[], None]):
        self._update = update
        self._guard = threading.Lock()  # held for a few instructions, and never while anything is called
        self._requested = self._busy = False

    def request(self) -> None:
        """Run the update, or leave it to the thread that runs one. Raises what the update raises in this thread."""
        mine = False
        error: Exception | None = None
        try:
            with self._guard:
                self._requested = True
                if not self._busy:
                    mine = self._busy = True  # nothing can break in between these two
            while mine:
                with self._guard:
                    if self._requested:
                        self._requested = False
                    else:
                        mine = self._busy = False
                if mine:
                    try:
                        self._update()
                    except Exception as raised:  # calls that came meanwhile have left their update to this thread
                        error = raised
        finally:
            if mine:  # Ctrl-C
                self._busy = False
        if error is not None:
            raise error
