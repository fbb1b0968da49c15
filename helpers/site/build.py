"""Build the site: `warpbook site` writes it into build/site."""

from __future__ import annotations

import concurrent.futures
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from helpers.site import sources
from helpers.site.states import MOST
from helpers.workbook.chapters import PAGES
from helpers.workbook.command import UsageProblem
from helpers.workbook.run import ROOT

HERE = Path(__file__).resolve().parent
STAMP = "made-from.txt"  # beside the states of a chapter: what they were drawn from


def build(target: Path, chapters: Iterable[str] | None = None, most: int | None = None) -> Path:
    """Write the site into a folder; its front page.

    chapters: those whose explorers are drawn (numbers, such as "04"; None: all), unless they were drawn before from
    the same notebook; `most`: states of each at most (`MOST`). UsageProblem where Sphinx isn't installed or warns.
    """
    if importlib.util.find_spec("sphinx") is None:
        raise UsageProblem("The site is made by Sphinx: pip install -c constraints.txt -e .[test]")
    source, states, pages = target / "source", target / "states", target / "pages"
    sources.write(source)
    options = ["--quiet", "--fail-on-warning", "--keep-going", "-j", "auto", "-b", "html", "-c", str(HERE)]
    command = [sys.executable, "-m", "sphinx", *options, "-d", str(target / "doctrees"), str(source), str(pages)]
    if subprocess.run(command, cwd=ROOT).returncode:
        raise UsageProblem("Sphinx found something wrong with the pages; see above.")
    draw(states, chapters, most or MOST)
    shutil.copytree(states, pages / sources.STATES, ignore=shutil.ignore_patterns(STAMP), dirs_exist_ok=True)
    return pages / "index.html"


def draw(states: Path, chapters: Iterable[str] | None, most: int) -> None:
    """Draw the explorers of chapters whose states aren't there, or were drawn from another notebook."""
    states.mkdir(parents=True, exist_ok=True)
    waiting, common = [], hashlib.sha256(str(most).encode())
    for path in [HERE / "states.py", *sorted((ROOT / "helpers" / "pictures").rglob("*.py"))]:
        common.update(path.read_bytes())
    for path in sorted((ROOT / "notebooks").glob(PAGES)):
        digest, folder = common.copy(), states / path.stem
        digest.update(path.read_bytes())
        made_from, stamp = digest.hexdigest(), folder / STAMP
        wanted = chapters is None or path.name.partition("_")[0] in chapters
        if wanted and not (stamp.is_file() and stamp.read_text() == made_from):
            waiting.append((path, folder, made_from))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        drawn = [pool.submit(_draw, path, folder, made_from, most) for path, folder, made_from in waiting]
    for drawing in drawn:
        drawing.result()


def _draw(path: Path, folder: Path, made_from: str, most: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "helpers.site.states", str(path), str(folder.parent), str(most)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise UsageProblem(f"the explorers of {path.name} couldn't be drawn:\n{done.stderr.strip()}")
    folder.mkdir(exist_ok=True)
    (folder / STAMP).write_text(made_from)
    print(done.stdout.strip(), flush=True)
