"""Sandboxes to try to break out of: opened once for a file of tests, as opening one takes seconds."""

from __future__ import annotations

import os
import sys
from functools import cache

import pytest

from helpers.grading.sandbox import Limits, open_sandbox, tiers

MIB = 1 << 20
SMALL = Limits(
    memory=512 * MIB, scratch=32 * MIB, processes=64, output=4 * MIB, message=2 * MIB, outputs=500, file_size=16 * MIB
)
# How jobs are started: the tier, and whether from a fork server; it is the tier that makes the walls.
WAYS = {
    "bubblewrap-forks": ("bubblewrap", True),
    "bubblewrap-fresh": ("bubblewrap", False),
    "namespaces-forks": ("namespaces", True),
}


@cache
def missing(tier: str) -> str:
    """Why a tier cannot be had here; "" when it can."""
    if not sys.platform.startswith("linux"):
        return "sandboxes are made on Linux only"
    if problem := tiers.try_out(tiers.tier(tier)):
        return (
            f"needs bubblewrap, and namespaces that this user may make (Debian: apt-get install bubblewrap): {problem}"
        )
    return ""


def need(tier: str) -> None:
    """Skip the test where a tier cannot be had; fail on a build machine, which must not turn green for it."""
    if why := missing(tier):
        if os.environ.get("CI"):
            pytest.fail(f"CI is set, and the test {why}", pytrace=False)
        pytest.skip(why)


def opened(way: str, **more):
    tier, forks = WAYS[way]
    need(tier)
    return open_sandbox(tiers.tier(tier), fork_server=forks, **{"limits": SMALL, **more})


TRIED = [pytest.param(way, marks=[] if forks else pytest.mark.exhaustive) for way, (_, forks) in WAYS.items()]


@pytest.fixture(scope="session", params=TRIED)
def any_box(request):
    """A sandbox for a student, made in each way in turn."""
    with opened(request.param) as sandbox:
        assert sandbox.forks == WAYS[request.param][1]
        yield sandbox


@pytest.fixture(scope="session")
def box():
    """A sandbox for a student, as graders have it."""
    with opened("bubblewrap-forks") as sandbox:
        assert sandbox.forks and not sandbox.problem
        yield sandbox


@pytest.fixture
def kernel(any_box):
    with any_box.kernel() as kernel:
        yield kernel
