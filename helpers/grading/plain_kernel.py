"""A fresh kernel on a learner's own machine, without a sandbox: it runs what its owner wrote, wherever Jupyter runs."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from queue import Empty

import psutil
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel

from helpers.grading.sandbox import Limits, Run
from helpers.grading.sandbox.limits import threads
from helpers.grading.sandbox.meter import Allowance, Reading, read
from helpers.grading.sandbox.wire import Ended, Late

SHOWN = ("display_data", "execute_result", "stream", "error")


class PlainKernel:
    """A kernel that works in `folder`; a context manager that ends it."""

    def __init__(self, folder: Path):
        before = dict(os.environ)
        os.environ.update(threads())  # as in the grader's sandbox, so that a cell takes as long
        try:
            patient = Limits().start_seconds  # as the grader is
            self._kernel = RunningKernel(CURRENT_ENV_KERNEL_NAME, str(folder), startup_timeout=patient)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def execute(self, code: str, timeout: float) -> Run:
        """Execute a cell within `timeout` seconds, as `sandbox.meter` counts them; raises InfrastructureFault.

        After "timeout" and "crash" the kernel is dead.
        """
        outputs: list[dict] = []
        sent = self._kernel.execute_cell_input(code, allow_stdin=False)
        started, allowance = time.monotonic(), Allowance(timeout, [self._reading])

        def ended(outcome: str, says: str = "", error: dict | None = None) -> Run:
            return Run(outputs, error, outcome, time.monotonic() - started, says, allowance.used)

        while True:
            try:
                message = allowance.receive(self)
            except Late:
                return ended("timeout", f"it had not ended after {timeout:g} seconds")
            except Ended:
                return ended("crash", "the kernel died")
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != sent:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                error = next((output for output in outputs if output["output_type"] == "error"), None)
                return ended("error" if error else "ok", "", error)
            if kind in SHOWN:
                outputs.append({"output_type": kind, **content})

    def receive(self, seconds: float) -> dict:
        """The kernel's next message; raises Late, or Ended where it is dead."""
        try:
            return self._kernel.get_message("iopub", timeout=seconds)
        except Empty:
            raise (Late if self._kernel.is_alive() else Ended)() from None

    def _reading(self) -> Reading:
        """What the kernel's processes have had of the CPU."""
        pid = getattr(getattr(self._kernel.km, "provisioner", None), "pid", None)
        if pid is None:
            return Reading()
        return read(pid) if sys.platform.startswith("linux") else _portable(pid)

    def __enter__(self) -> PlainKernel:
        return self

    def __exit__(self, *error: object) -> None:
        self._kernel.stop()


def _portable(pid: int) -> Reading:
    """A reading where there is no /proc: waiting for a CPU is then known from processes that are ready and get none."""
    cpu, ready = 0.0, False
    with contextlib.suppress(psutil.Error):
        for process in (root := psutil.Process(pid), *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                cpu += times.user + times.system
                ready = ready or process.status() == psutil.STATUS_RUNNING
    # Windows calls every process running that is not suspended: there only the clock says that one sleeps.
    return Reading(cpu, ready=ready and sys.platform != "win32")
