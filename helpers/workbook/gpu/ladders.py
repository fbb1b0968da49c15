"""The course's ladders on the GPU: versions of a kernel timed beside the libraries, and the bandwidth of a copy.

A chapter whose cell tagged `clock` fills the dictionary `timings` has a ladder. Only the statements that this
dictionary needs are run, so no chapter has to run as a whole, and Jupyter isn't needed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.workbook.chapters import PAGES
from helpers.workbook.gpu.needed import needed
from helpers.workbook.gpu.outcome import Outcome
from vgpu.base.words import plural

if TYPE_CHECKING:
    from helpers.results.timing import Timing

TIMINGS = re.compile(r"^timings = ", re.MULTILINE)
LIBRARIES = {
    "torch.matmul": "cuBLAS", "F.linear": "cuBLAS", "F.conv2d": "cuDNN", "torch.sum": "PyTorch", "with_cub": "CUB",
    "softmax, PyTorch": "PyTorch", "layer norm, PyTorch": "PyTorch", "PyTorch FLASH_ATTENTION": "FlashAttention",
    "PyTorch MATH": "PyTorch", "copy": "CUDA",
}  # fmt: skip
"""The rungs that are a library's, with its name."""
COPY = """
from helpers import benchmark, cp, real_gpu
source = cp.ones(2**26 if real_gpu() else 2**16, "float32")  # 256 MiB: more than the L2 of any GPU
target = cp.empty_like(source)
timings = {"copy": benchmark(lambda: cp.copyto(target, source), bytes=2 * source.nbytes)}
"""
LONGEST = 900  # seconds


def programs(folder: Path) -> Iterator[tuple[str, str]]:
    """Each ladder's name and program: the copy's, then those of the chapters in a folder."""
    yield "copy", COPY
    for path in sorted(folder.glob(PAGES)):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = []
        for cell in cells:
            tags, source = cell["metadata"].get("tags", ()), "".join(cell["source"])
            if cell["cell_type"] == "code" and "exercise" not in tags:
                sources.append(source)
                if "clock" in tags and TIMINGS.search(source):
                    yield path.stem, needed("timings", sources)


def run(root: Path) -> Outcome:
    """Time every ladder, each in a process of its own."""
    found, failed = {}, []
    for name, program in programs(root / "notebooks"):
        try:
            found[name] = measured(program, root)
            print(f"  {name}: {len(found[name])} versions", flush=True)
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            failed.append(f"{name}: {error}")
            print(f"  {failed[-1]}", flush=True)
    return Outcome(f"{plural(len(found), 'ladder')} timed, {len(failed)} failed", tuple(failed), {"ladders": found})


def measured(program: str, root: Path) -> dict[str, dict[str, Any]]:
    """The timings that a program leaves in `timings`, by name. Raises ValueError with the last line of its errors."""
    with tempfile.TemporaryDirectory() as folder:
        script, target = Path(folder, "ladder.py"), Path(folder, "timings.json")
        script.write_text(
            f"{program}\nfrom helpers.workbook.gpu.ladders import write\n\nwrite(timings, {str(target)!r})\n"
        )
        path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [sys.executable, str(script)], cwd=root / "notebooks", env={**os.environ, "PYTHONPATH": path},
            capture_output=True, text=True, timeout=LONGEST,
        )  # fmt: skip
        if done.returncode:
            raise ValueError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
        return json.loads(target.read_text(encoding="utf-8"))


def write(timings: Mapping[str, Timing], target: str) -> None:
    """Write timings as JSON: seconds, their spread, and the rates where bytes or FLOPs were stated."""
    rows = {
        name: {
            "seconds": timing.median, "quartiles": timing.quartiles, "runs": len(timing.samples),
            "GB/s": timing.bandwidth, "GFLOP/s": timing.gflops, "clock": timing.clock,
        }
        for name, timing in timings.items()
    }  # fmt: skip
    Path(target).write_text(json.dumps(rows), encoding="utf-8")
