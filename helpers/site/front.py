"""The front page: one kernel, its picture and its counts, and the contents of the site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from helpers.workbook.run import ROOT

_PART = re.compile(r"^\| \| \*\*(?P<part>.+?)\*\* \|")
_CHAPTER = re.compile(r"\]\((?P<file>\d\d\w?_\w+)\.ipynb\)")
ENGINE = (
    "vgpu/README", "vgpu/API", "vgpu/COUNTERS", "vgpu/COVERAGE", "vgpu/hardware/TIME_MODEL", "vgpu/tools/SASS",
    "vgpu/bench/SPEED", "vgpu/FIDELITY", "vgpu/tests/FUZZING", "examples/README",
)  # fmt: skip
KERNEL = """
@cuda.jit
def copy(source, target, stride):
    i = cuda.grid(1)
    target[i] = source[i * stride]
"""


def page() -> str:
    """The front page in MyST Markdown."""
    template = (Path(__file__).parent / "front.md").read_text(encoding="utf-8")
    return template.replace("{example}", _example()).replace("{contents}", _contents())


def _example() -> str:
    """The kernel as it is run for the page: a warp's request with two strides, and what it costs."""
    import numpy as np

    from helpers import cuda, plots, profile, trace
    from helpers.pictures.figures import show

    names: dict[str, object] = {"cuda": cuda}
    exec(compile(KERNEL, "<front page>", "exec"), names)  # a name that no file has, since Numba reads the source
    copy = names["copy"]
    source, target = cuda.to_device(np.arange(1 << 12, dtype=np.float32)), cuda.device_array(128, np.float32)
    requests, rows = {}, []
    for stride in (1, 8):
        name, arguments = f"stride {stride}", (source, target, stride)
        requests[name] = trace(copy, 1, 32, arguments).accesses[0]
        counted = profile(copy, 4, 32, arguments)
        rows.append(
            f"| {name} | {counted['global_load_requests']} | {counted['global_load_sectors']} | "
            f"{counted['sectors_per_load_request']:g} | {32 * counted['global_load_sectors']:,} B |"
        )
    picture = show(plots.sector_panels(requests)).html(inline=True)
    table = "\n".join(
        ["| counted | requests | sectors | sectors per request | moved |", "|---|---:|---:|---:|---:|", *rows]
    )
    return f"```python{KERNEL}```\n\n```{{raw}} html\n{picture}\n```\n\n{table}"


def _contents() -> str:
    """The trees of the site's pages, by the parts that the course's table of contents has."""
    parts: dict[str, list[str]] = {}
    course = (ROOT / "notebooks/README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    for line in course.splitlines():
        if found := _PART.match(line):
            part = parts.setdefault(found["part"], [])
        elif line.startswith("| ") and (chapter := _CHAPTER.search(line)):
            part.append(f"notebooks/{chapter['file']}")
    labs = [f"labs/{page}" for page in ("README", "TEACHING", "YOUR_OWN")]
    labs += sorted(f"labs/{path.parent.name}/{path.stem}" for path in ROOT.glob("labs/lab*/*.ipynb"))
    trees = {"The course": ["notebooks/README"], "Try it": ["notebooks/your_own_kernel"], **parts,
             "Look up": ["notebooks/glossary", "helpers/API"], "Labs": labs, "The virtual GPU": ENGINE,
             "The project": ["README", "CONTRIBUTING"]}  # fmt: skip
    return "\n\n".join(_tree(caption, documents) for caption, documents in trees.items())


def _tree(caption: str, documents: Sequence[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *documents, "```"])
