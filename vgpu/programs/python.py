"""Run a Python script or module as `python` does, with the virtual GPU under the names that it imports."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from vgpu.base.tracebacks import without


def run_python(target: str, arguments: Sequence[str], *, module: bool = False) -> int:
    """Run a script, or with `module` a module by its name, and return its exit status.

    An exception is printed as Python prints it, without the frames of this package, and the status is 1.
    """
    on_virtual_gpu()
    sys.argv = [target, *arguments]
    sys.path.insert(0, os.getcwd() if module else str(Path(target).resolve().parent))
    try:
        if module:
            runpy.run_module(target, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(target, run_name="__main__")
    except SystemExit as end:
        return _status(end.code)
    except Exception as error:
        short = without(error.__traceback__, ("<frozen runpy>",))
        traceback.print_exception(error.with_traceback(short))
        return 1
    return 0


def on_virtual_gpu() -> None:
    """Let this process use the virtual GPU, whatever it imports and whether there is a GPU or not."""
    from vgpu.standins import own_names

    os.environ["VGPU_BACKEND"] = "virtual"
    own_names.install()


def _status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1
