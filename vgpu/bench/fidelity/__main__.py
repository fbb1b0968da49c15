"""Run published CUDA programs on the virtual GPU, and write what became of each of their kernels.

Fetches the repositories that the manifest lists, runs its programs one after another, and writes the results as JSON
and as a page. Without --sources it only writes the page.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from vgpu.bench.fidelity import results
from vgpu.bench.fidelity.manifest import MANIFEST, programs, published
from vgpu.bench.fidelity.outcome import outcome
from vgpu.bench.fidelity.page import page
from vgpu.bench.fidelity.published import compared
from vgpu.bench.fidelity.sources import ORIGIN, fetched

PAGE = Path(__file__).parents[2] / "FIDELITY.md"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vgpu.bench.fidelity", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="where the repositories are, or are fetched to")
    parser.add_argument(
        "--from", dest="origin", default=ORIGIN, metavar="URL",
        help="where to fetch from, with {owner} and {name}; a local path works, too",
    )  # fmt: skip
    parser.add_argument("--only", default="", metavar="REGEX", help="run what has this in its repository and file")
    parser.add_argument("--missing", action="store_true", help="run only what has no result yet")
    parser.add_argument("--manifest", type=Path, default=MANIFEST, metavar="FILE")
    parser.add_argument("--results", type=Path, default=results.RESULTS, metavar="FILE")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    return parser


def main(given: Sequence[str] | None = None) -> int:
    """Run what is asked for and write the page. What isn't run keeps its result."""
    options = _parser().parse_args(given)
    listed, figures = programs(options.manifest), published(options.manifest)
    found = results.read(options.results, listed, figures)
    wanted = re.compile(options.only)
    for program in listed if options.sources else ():
        if not wanted.search(program.path) or (options.missing and program.key in found.programs):
            continue
        became = outcome(program, fetched(program.source, options.sources, options.origin))
        found.programs[program.key] = became
        print(
            f"{program.path}: {became.result}, {len(became.kernels)} kernels, {became.seconds} s {became.reason}",
            flush=True,
        )
        results.write(options.results, found, listed, figures)
    for each in figures if options.sources else ():
        if not wanted.search(each.program.path) or (options.missing and each.key in found.published):
            continue
        ours = compared(each, fetched(each.program.source, options.sources, options.origin))
        found.published[each.key] = ours
        print(f"{each.program.path} {each.kernel}: published {dict(each.figures)}, ours {ours}", flush=True)
        results.write(options.results, found, listed, figures)
    options.page.write_text(page(found, listed, figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
