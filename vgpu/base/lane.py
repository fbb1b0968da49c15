"""One update at a time, and only the latest: for controls that several threads answer.

JupyterLab answers a widget in whichever thread last spoke to it, beside the cell that runs, so two controls of one
picture may be answered at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Lane:
    """Runs `update()`, which looks at the present state itself, until nobody has asked since it began.

    Who asks while it runs returns at once: the thread at work runs it again, once for all that have asked meanwhile.
    So it never runs twice at a time, and its last run has seen the last state. It may itself ask.
    """

    def __init__(self, update: Callable[[], None]):
        self._update = update
        self._guard = threading.Lock()  # held for a few instructions, and never while anything is called
        self._asked = self._busy = False

    def ask(self) -> None:
        """Run the update, or leave it to the thread that is at it. Raises what the update does in this thread."""
        mine, error = False, None
        try:
            with self._guard:
                self._asked = True
                if not self._busy:
                    mine = self._busy = True  # nothing can break in between these two
            while mine:
                with self._guard:
                    if self._asked:
                        self._asked = False
                    else:
                        mine = self._busy = False
                if mine:
                    try:
                        self._update()
                    except Exception as raised:  # who has asked meanwhile has left it to this thread
                        error = raised
        finally:
            if mine:  # Ctrl-C
                self._busy = False
        if error is not None:
            raise error
