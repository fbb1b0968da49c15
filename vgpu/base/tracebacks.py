"""Short tracebacks in notebooks: of an engine error, IPython shows the user's frames and none of the engine's.

IPython calls an exception's `_render_traceback_`. The traceback itself stays whole, so plain Python, pytest and
`%debug` see every frame, and `%xmode Verbose` shows them in a notebook too.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
from types import MethodType, TracebackType

from vgpu.base.ours import ours

COLUMNS = 110  # of a message; a laptop's JupyterLab shows 130
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


def render(error: BaseException) -> list[str]:
    """The lines that IPython prints for `error`, which one of its cells has raised."""
    ipython = sys.modules["IPython"]
    formatter = ipython.get_ipython().InteractiveTB
    if formatter.mode == "Verbose":
        return formatter.structured_traceback(type(error), error, error.__traceback__)
    hidden = tuple(folder + os.sep for folder in (*_LIBRARIES, os.path.dirname(str(ipython.__file__))) if folder)
    whole = []
    try:
        for link in _chain(error):
            short = without(link.__traceback__, hidden)
            # An error of another kind behind ours is a bug of this package: its report needs the whole traceback.
            if short is not None and hasattr(link, "_render_traceback_"):
                whole.append((link, link.__traceback__))
                link.__traceback__ = short
        return _wrapped(formatter.structured_traceback(type(error), error, error.__traceback__, tb_offset=0), error)
    finally:
        for link, traceback in whole:
            link.__traceback__ = traceback


def _wrapped(parts: list[str], error: BaseException) -> list[str]:
    """The parts of a traceback with long lines of the message broken between words; JupyterLab breaks within them."""
    name = type(error).__name__
    start = max((at for at, part in enumerate(parts) if name in part), default=len(parts))
    return parts[:start] + ["\n".join(map(_broken, part.split("\n"))) for part in parts[start:]]


def _broken(line: str) -> str:
    if len(line) <= COLUMNS:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def shorten(error: BaseException) -> None:
    """Let IPython show an error that is not of this package, such as a KeyboardInterrupt, as it shows ours."""
    setattr(error, "_render_traceback_", MethodType(render, error))  # noqa: B010  (IPython's name, not BaseException's)


def without(traceback: TracebackType | None, folders: tuple[str, ...]) -> TracebackType | None:
    """A copy of a traceback without the frames of this package and of files in `folders`; None when nothing is left."""
    kept = []
    while traceback is not None:
        frame = traceback.tb_frame
        if not ours(frame.f_globals.get("__name__", "")) and not frame.f_code.co_filename.startswith(folders):
            kept.append(traceback)
        traceback = traceback.tb_next
    short = None
    for entry in reversed(kept):
        short = TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that IPython prints before it."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
