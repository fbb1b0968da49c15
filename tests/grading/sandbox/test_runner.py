"""Kernels run in a process of their own for each launch: what comes to harm there is that launch."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.checking.trial import Blank, Trial
from helpers.checking.trial_as_json import seen_of, trial_as_json
from helpers.grading.judging import Launches
from helpers.grading.sandbox import JobFault
from helpers.grading.sandbox.meter import Allowance
from helpers.grading.warm import KERNELS, THREADS
from tests.grading.sandbox.conftest import opened

X = np.arange(THREADS, dtype=np.float32)
KERNEL = {"kernel": [KERNELS[0].as_json()], "variants": [{"count": True, "watch": True}]}


@pytest.fixture(scope="module")
def sandbox():
    with opened("bubblewrap-forks", role="runner") as sandbox:
        yield sandbox


def launch(x=X, **changes) -> dict:
    return {"trial": trial_as_json(Trial((Blank(x.dtype, x.shape), x), (1,), (THREADS,), True)) | changes, "which": 0}


def test_each_launch_has_its_own_inputs_and_hands_out_what_came_of_them(sandbox):
    with Launches(sandbox, Allowance(60.0)) as launches:
        assert launches.ask(KERNEL) == {"ready": True}
        for x in (X, -X, 3 * X):
            seen = seen_of(launches.ask(launch(x))["seen"])
            assert (seen.output == x).all() and not seen.findings
            assert seen.counters["global_load_sectors"] == 8
        assert launches.ask({"resources": "A100", "which": 0})["resources"]["arch"] == "sm_80"


def test_a_launch_that_ends_its_process_costs_nothing_but_itself(sandbox):
    with Launches(sandbox, Allowance(60.0)) as launches:
        launches.ask(KERNEL)
        with pytest.raises(JobFault, match="exit status 1"):
            launches.ask(launch(arguments=[{}]))
        assert (seen_of(launches.ask(launch())["seen"]).output == X).all()


def test_an_error_of_the_kernel_is_an_answer(sandbox):
    with Launches(sandbox, Allowance(60.0)) as launches:
        launches.ask(KERNEL)
        seen = seen_of(launches.ask(launch(X[:16]))["seen"])
    assert type(seen.error).__name__ == "OutOfBounds" and seen.error.thread == (16, 0, 0)


def test_what_is_no_kernel_is_said_to_be_none(sandbox):
    with Launches(sandbox, Allowance(60.0)) as launches:
        assert "entry" in launches.ask({**KERNEL, "kernel": [{**KERNEL["kernel"][0], "entry": "a b"}]})["no_evidence"]
