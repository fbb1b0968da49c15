"""A fresh kernel on a learner's own machine, without a sandbox: it runs what its owner wrote, wherever Jupyter runs."""

from __future__ import annotations

import time
from pathlib import Path
from queue import Empty

from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel

from helpers.grading.sandbox import Run

POLL_SECONDS = 0.5
SHOWN = ("display_data", "execute_result", "stream", "error")


class PlainKernel:
    """A kernel that works in `folder`; a context manager that ends it."""

    def __init__(self, folder: Path):
        self._kernel = RunningKernel(CURRENT_ENV_KERNEL_NAME, cwd=str(folder))

    def execute(self, code: str, timeout: float) -> Run:
        """Execute a cell within `timeout` seconds; after "timeout" and "crash" the kernel is dead."""
        started = time.monotonic()
        outputs: list[dict] = []
        sent = self._kernel.execute_cell_input(code, allow_stdin=False)
        while (left := started + timeout - time.monotonic()) > 0:
            try:
                message = self._kernel.get_message("iopub", timeout=min(POLL_SECONDS, left))
            except Empty:
                if self._kernel.is_alive():
                    continue
                return Run(outputs, None, "crash", time.monotonic() - started, "the kernel died")
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != sent:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                error = next((output for output in outputs if output["output_type"] == "error"), None)
                return Run(outputs, error, "error" if error else "ok", time.monotonic() - started)
            if kind in SHOWN:
                outputs.append({"output_type": kind, **content})
        return Run(outputs, None, "timeout", time.monotonic() - started, f"it had not ended after {timeout:g} seconds")

    def __enter__(self) -> PlainKernel:
        return self

    def __exit__(self, *error) -> None:
        self._kernel.stop()
