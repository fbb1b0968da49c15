"""The gallery: every classic mistake is found, by name and line, and its correct twin is not blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from vgpu.tests.sanitize import gallery
from vgpu.tools.sanitize import KINDS, Findings

ENTRIES = gallery.entries()
# `activemask()` says who happened to be there, so what it says depends on the schedule.
SCHEDULED = [
    entry for entry in ENTRIES if entry.language in ("CUDA C", "Numba") and entry.kind not in ("activemask", "timeout")
    and entry.run.func is not gallery.run_host
]  # fmt: skip


@pytest.fixture(scope="module")
def page() -> str:
    return Path(__file__).with_name("GALLERY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_mistake_is_found_and_named(entry, page):
    found = entry.run(True)
    assert gallery.kinds_of(found) == {entry.kind}, repr(found)
    assert gallery.named(found) == entry.lines, repr(found)
    if isinstance(found, Findings):
        where = [f for f in found if f.line is not None]
        assert all(f.source and f.thread is not None and f.block is not None and f.count for f in where)
    lines = ", ".join(str(line - entry.first_line + 1) for line in sorted(entry.lines)) or "–"
    assert f"| {entry.name} | {entry.language} | {entry.kind} | {lines} | yes | yes |" in page


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_correct_twin_is_not_blamed(entry):
    found = entry.run(False)
    assert not found and found.ok and getattr(found, "ran_to_end", True), repr(found)


@pytest.mark.parametrize("seed", (1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (2, 3))))
@pytest.mark.parametrize("entry", SCHEDULED, ids=lambda entry: entry.name)
def test_it_does_not_depend_on_the_schedule(entry, seed):
    found = entry.run(True, seed=seed)
    assert gallery.is_found(entry, found), repr(found)
    assert found.seeds == (seed,) and f"seed {seed}" in repr(found)
    assert not entry.run(False, seed=seed)


def test_the_gallery_is_large_and_its_kinds_exist(page):
    assert {entry.kind for entry in ENTRIES} <= set(KINDS) | {"leak"}
    assert len(ENTRIES) >= 70
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)
    rows = [line for line in page.splitlines() if line.endswith("| yes | yes |")]
    assert len(rows) >= len(ENTRIES) and "NO" not in page
