"""The kernel that students' cells run in: IPython's, without history, start-up files, configuration or debugger."""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import zmq

PORTS = {"shell": 1, "iopub": 2, "stdin": 3, "control": 4, "hb": 5}


def without_debugger() -> None:
    """Let IPython's kernel find no debugger: importing one takes longer than all the rest."""
    if "ipykernel.debugger" not in sys.modules:
        sys.modules["debugpy"] = None  # type: ignore[assignment]  # so that importing it fails
        try:
            importlib.import_module("ipykernel.debugger")
        finally:
            del sys.modules["debugpy"]


without_debugger()

from ipykernel.kernelapp import IPKernelApp  # noqa: E402
from traitlets.config import Config  # noqa: E402


class SandboxedKernel(IPKernelApp):
    """A kernel that reads and writes no files but its sockets."""

    def load_config_file(self, *arguments: Any, **more: Any) -> None:
        pass

    def init_crash_handler(self) -> None:
        pass

    def init_heartbeat(self) -> None:
        pass  # whether the kernel lives is known from its process

    def write_connection_file(self, **more: Any) -> None:
        pass

    def log_connection_info(self) -> None:
        self._ports = dict.fromkeys(PORTS, 0)

    def _try_bind_socket(self, socket: zmq.Socket, port: int) -> int:
        socket.sndhwm = 0  # or a fast writer's messages are dropped, the last one too, which says that it is done
        return super()._try_bind_socket(socket, port)


def serve(place: str, key: str) -> None:
    """Be a kernel whose sockets are files called `place` and a number, until the process ends."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.history_length = 0
    config.InteractiveShell.colors = "nocolor"  # tracebacks go into reports
    # The working folder is the student's: a file there must not take the place of a module.
    config.InteractiveShellApp.ignore_cwd = True
    options = {f"{name}_port": port for name, port in PORTS.items()}
    app = SandboxedKernel.instance(config=config, transport="ipc", ip=place, log_level=50, **options)
    app.session.key = key.encode()
    app.initialize([])
    app.shell.events.register("pre_run_cell", WorkingFolder().make_sure)
    keep_outputs_apart()  # not before: what prints without a thread, as a program does, belongs to the cell that runs
    app.start()


def keep_outputs_apart() -> None:
    """Let a thread print into the cell that started it, also when that cell has ended and another runs."""
    start = threading.Thread.start

    def start_in_context(thread: threading.Thread) -> None:
        context, body = contextvars.copy_context(), thread.run
        thread.run = lambda: context.run(body)  # type: ignore[method-assign]
        return start(thread)

    threading.Thread.start = start_in_context  # type: ignore[assignment, method-assign]  # of every thread, whoever makes it


class WorkingFolder:
    """The folder that the kernel starts in. Python's own functions, compilers too, fail in one that was deleted."""

    def __init__(self) -> None:
        self.first = os.getcwd()

    def make_sure(self, *event: object) -> None:
        """Go back to the first folder, made anew if need be, where the present one is no more."""
        try:
            os.getcwd()
        except OSError:
            with contextlib.suppress(OSError):  # where even that is gone, cells say so themselves
                os.makedirs(self.first, exist_ok=True)
                os.chdir(self.first)
