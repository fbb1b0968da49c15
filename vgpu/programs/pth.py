"""The `.pth` file that lets Python programs of an environment obey the variable VGPU.

Python runs its line at each start; while the variable isn't set, the line looks it up and does nothing else.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

LINE = 'import os; os.environ.get("VGPU") and __import__("vgpu.programs.startup", fromlist=["begin"]).begin()\n'


def path() -> Path:
    """Where the file is in this Python environment."""
    return Path(sysconfig.get_path("purelib"), "vgpu-startup.pth")


def install() -> Path:
    """Let Python programs of this environment obey VGPU."""
    path().write_text(LINE, encoding="utf-8")
    return path()


def remove() -> Path:
    """Undo `install`."""
    path().unlink(missing_ok=True)
    return path()
