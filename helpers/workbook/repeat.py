"""`warpbook repeat`: run a chapter's cells with several seeds, and keep what they note for `helpers.repeats`."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

from helpers.results import repeats
from helpers.workbook.script import as_script


def repeat(page: Path, *, seeds: int = 3, into: Path = repeats.FOLDER) -> str:
    """Run the cells of `page` with the seeds 0, 1, …, write `<chapter>.json` and `.npz` into a folder, and say where.

    Raises CalledProcessError where a run fails, and ValueError where the page notes nothing. What was kept before is
    replaced when all runs have succeeded.
    """
    chapter = page.name.partition("_")[0]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, f"{page.stem}.py")
        script.write_text(as_script(page), encoding="utf-8")
        for seed in range(seeds):
            environment = {**os.environ, repeats.SEED: str(seed), repeats.INTO: folder}
            subprocess.run([sys.executable, str(script)], cwd=page.parent, env=environment, check=True)
        noted = {str(seed): Path(folder, f"{seed}.json") for seed in range(seeds)}
        if not all(path.is_file() for path in noted.values()):
            raise ValueError(f"{page.name} notes nothing: it has no call of repeats.note")
        arrays = {path.stem: np.load(path, allow_pickle=False) for path in sorted(Path(folder).glob("*.npy"))}
        stored = {
            "command": f"warpbook repeat {chapter} --seeds {seeds}",
            "date": datetime.date.today().isoformat(),
            "processor": processor(),
            "python": platform.python_version(),
            "torch": version("torch").partition("+")[0],
            "seeds": {seed: json.loads(path.read_text(encoding="utf-8")) for seed, path in noted.items()},
        }
    into.mkdir(exist_ok=True)
    target = into / f"{chapter}.json"
    target.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arrays:
        np.savez_compressed(into / f"{chapter}.npz", **arrays)
    return f"{target}: {seeds} seeds"


def processor() -> str:
    """What this machine computes with, as it calls itself."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return " ".join((found[1] if found else platform.processor() or platform.machine()).split())
