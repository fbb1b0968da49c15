"""Warpbook in a notebook that a service hosts, such as Colab's or Kaggle's: `%run warpbook/helpers/workbook/hosted.py`.

All packages go into an environment of the course's own, `warpbook/.venv`, and what the service has installed stays as
it is. Then this process becomes a kernel of that environment: the notebook, which is connected to an address and not
to a Python, goes on with it. Kernels run on the virtual GPU, and PyTorch is its build for CPUs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
TORCH = "https://download.pytorch.org/whl/cpu"
REPLY_SECONDS = 1.0


def make() -> None:
    """Make the environment, or bring it up to date; some services' Python can't give it a pip, so theirs does."""
    left_out = ENVIRONMENT / ".without"
    if not left_out.is_file():
        venv.create(ENVIRONMENT)
        into: list[str | Path] = [sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet"]
        subprocess.run([*into, "pip"], check=True)
        subprocess.run([*into, "--constraint", ROOT / "constraints.txt", "--index-url", TORCH, "torch"], check=True)
        left_out.write_text("cupy test\n")
    subprocess.run([PYTHON, "-m", "helpers.workbook.install"], cwd=ROOT, check=True)


def become(connection: str) -> None:
    """Go on as a kernel of the environment, at the same address, once this cell's reply is sent.

    What the service sets for its own Python doesn't hold there.
    """
    for variable in ("PYTHONPATH", "MPLBACKEND"):
        os.environ.pop(variable, None)
    os.environ.setdefault("VGPU_BACKEND", "virtual")
    os.chdir(ROOT / "notebooks")
    command = [str(PYTHON), "-m", "ipykernel_launcher", "-f", connection]
    threading.Timer(REPLY_SECONDS, os.execv, (command[0], command)).start()


if __name__ == "__main__":
    from ipykernel.connect import get_connection_file

    make()
    become(get_connection_file())
    print("Ready. Go on with the chapter's first cell.")
