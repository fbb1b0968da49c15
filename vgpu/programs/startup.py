"""The environment variable VGPU: while it is set, Python programs use the virtual GPU, once `pth.install` was called.

`VGPU=1 python program.py` is `python -m vgpu run program.py`. VGPU=profile, sanitize, trace, sass or occupancy print
that report to stderr at the end.
"""

from __future__ import annotations

import atexit
import os
import sys

OFF = ("0", "off")


def begin() -> None:
    """What the line in the `.pth` file calls when VGPU is set. An unknown value ends the program."""
    from vgpu.programs.command import VERBS, parse

    chosen = os.environ["VGPU"].lower()
    if chosen in OFF:
        return
    from vgpu.programs.python import on_virtual_gpu

    on_virtual_gpu()
    if chosen in ("1", "run"):
        return
    if chosen not in VERBS:
        # An exception here would be shown as a broken Python.
        print(f"VGPU is {chosen!r}; it may be 1, {', '.join(VERBS)}, {' or '.join(OFF)}.", file=sys.stderr)
        os._exit(2)
    context = VERBS[chosen].around(parse([chosen, "program"]))
    finish = context.__enter__()

    def end() -> None:
        context.__exit__(None, None, None)
        if finish is not None:
            print(finish().text(), file=sys.stderr)

    atexit.register(end)
