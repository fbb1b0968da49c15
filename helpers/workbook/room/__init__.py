"""The room that `warpbook lab` opens: JupyterLab on this machine, furnished for a learner or, on demand, a teacher.

A learner has one page at a time, as wide as the window, and none of what only teachers and developers need. All of
that is JupyterLab's own settings, which lie in the folder `learner` and are put before those of the machine, so that
what a person has set for themselves still counts. The folder `extensions` adds what JupyterLab has not, for both:
colours for CUDA C in strings, lines of a readable length, figures that follow the theme, and names of controls for
screen readers.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from helpers.workbook.command import UsageProblem
from helpers.workbook.progress import LABS, WHOLE, progress
from helpers.workbook.run import QUIET

LEARNER = Path(__file__).parent / "learner"
"""A folder of Jupyter's configuration."""
EXTENSIONS = Path(__file__).parent / "extensions"
"""A folder of JupyterLab's extensions."""


def command(
    root: Path,
    page: Path,
    *,
    port: int | None = None,
    no_browser: bool = False,
    teacher: bool = False,
    is_root: bool | None = None,
    has_display: bool | None = None,
) -> list[str]:
    """The command line that starts JupyterLab at `page`, a file somewhere under `root`.

    `is_root` and `has_display` describe the machine and are found out when not given.
    """
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0 if is_root is None else is_root
    has_display = display_present() if has_display is None else has_display
    view = "lab" if teacher else "doc"  # JupyterLab's two ways to show a page: among panels and tabs, or by itself
    line = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    line += [f"--LabApp.default_url=/{view}/tree/{page.relative_to(root).as_posix()}"]
    line += [f"--LabApp.extra_labextensions_path={EXTENSIONS}"]
    line += [f"--port={port}"] if port else []
    line += ["--allow-root"] if is_root else []  # Jupyter refuses to run as root otherwise, as in a container
    line += ["--no-browser"] if no_browser or not has_display else []
    return line


def environment(*, teacher: bool = False) -> dict[str, str]:
    """This process's environment, and in it where JupyterLab finds the room's settings."""
    variables = QUIET | os.environ
    if teacher:
        return variables
    before = os.environ.get("JUPYTER_CONFIG_PATH", "")
    return {**variables, "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, [str(LEARNER), before]))}


def page(notebooks: Path, track: str = WHOLE) -> Path:
    """Where to go on, as `warpbook progress` says of a track; its last chapter when all is done.

    Raises UsageProblem where there is no chapter, or no such track.
    """
    try:
        so_far = progress(notebooks, track)
    except ValueError as problem:
        raise UsageProblem(str(problem)) from None
    chapters = [row for row in so_far.rows if row.chapter.path.parent == notebooks.resolve()]
    if not chapters and track != LABS:
        raise UsageProblem(f"There is no chapter in {notebooks}. `git checkout -- notebooks` brings the course's back.")
    return (so_far.next or [*so_far.rows, *chapters][-1]).chapter.path


def display_present(platform: str = sys.platform, variables: dict[str, str] | None = None) -> bool:
    """Whether a browser window can be opened: always on Windows and macOS, by environment on Linux."""
    variables = dict(os.environ) if variables is None else variables
    if platform in ("win32", "darwin"):
        return True
    return bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))
