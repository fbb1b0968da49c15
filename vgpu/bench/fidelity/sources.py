"""Fetch the repositories of the manifest, each at its commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from vgpu.bench.fidelity.manifest import Source

ORIGIN = "https://github.com/{owner}/{name}"


class WrongCommit(Exception):
    """A folder has another commit than the manifest's; the message says what to do."""


def fetched(source: Source, folder: Path, origin: str = ORIGIN) -> Path:
    """Where a repository lies below `folder`: fetched from `origin`, if it isn't there.

    origin: a URL or a path, with {owner} and {name} of the repository. What's there already is used as it is. Raises
    WrongCommit if that is another commit, and CalledProcessError where git fails.
    """
    path = folder / source.repository
    if not path.exists():
        path.mkdir(parents=True)
        owner, name = source.repository.split("/")
        _git(path, "init", "--quiet")
        _git(path, "fetch", "--quiet", "--depth", "1", origin.format(owner=owner, name=name), source.commit)
        _git(path, "checkout", "--quiet", "FETCH_HEAD")
    if (has := _git(path, "rev-parse", "HEAD").strip()) != source.commit:
        raise WrongCommit(f"{path} is at {has}, and the manifest says {source.commit}: check it out, or move it away.")
    return path


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout
