"""Each feature of the table in `corpus.twins`, seen by each observer: features and observers meet in all pairs."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from vgpu import profile, record, sanitize, scheduled, trace
from vgpu.tests.corpus.twins import FEATURES, Feature, result

EACH = pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
AT_LENGTH = pytest.mark.exhaustive


@functools.cache
def expected(feature: Feature) -> np.ndarray:
    with feature.there():
        found = feature.launch(*feature.make(False))
    assert found.any()
    return found


def last_block(feature: Feature) -> int:
    return int(np.prod(feature.grid)) - 1


@EACH
@pytest.mark.parametrize("seed", (1, pytest.param(2, marks=AT_LENGTH), pytest.param(3, marks=AT_LENGTH)))
def test_random_schedules_change_nothing(feature, seed):
    with feature.there(), scheduled("random", seed):
        np.testing.assert_array_equal(feature.launch(*feature.make(False)), expected(feature))


@EACH
@pytest.mark.check
def test_counting_changes_nothing(feature):
    wanted = expected(feature)
    with feature.there():
        kernel, args = feature.make(False)
        profile(kernel, feature.grid, feature.block, args, **feature.meta)
    np.testing.assert_array_equal(result(args), wanted)


@EACH
@pytest.mark.parametrize("seed", (None, pytest.param(5, marks=AT_LENGTH)))
def test_a_recording_of_the_last_block_sees_its_result(feature, seed):
    """What the block was seen to write last is what a launch leaves there, though nothing stays written."""
    wanted = expected(feature)
    with feature.there(), scheduled("sequential" if seed is None else "random", seed):
        kernel, args = feature.make(False)
        found = record(kernel, feature.grid, feature.block, args, block_index=last_block(feature), **feature.meta)
    assert not result(args).any()
    seen = np.zeros_like(wanted)
    for step in found.steps:
        for touched in step.touched:
            access = touched.access
            if access.array == "out" and access.op != "load":
                for address, value in zip(access.addresses, touched.after, strict=True):
                    if value is not None:
                        values = value if isinstance(value, tuple) else (value,)
                        seen.reshape(-1)[address // 4 : address // 4 + len(values)] = values
    written = seen != 0
    assert written.any()
    if feature.name != "a lock":  # the other block adds its part later
        np.testing.assert_array_equal(seen[written], wanted[written])


@EACH
def test_a_trace_has_the_accesses_of_a_recording(feature):
    with feature.there():
        kernel, args = feature.make(False)
        block = last_block(feature)
        traced = trace(kernel, feature.grid, feature.block, args, block_index=block, **feature.meta)
        recorded = record(kernel, feature.grid, feature.block, args, block_index=block, **feature.meta)

    def known(accesses):  # the grid's own barrier lies elsewhere in each run
        return [access for access in accesses if access.array is not None or access.space != "global"]

    seen = known(touched.access for step in recorded.steps for touched in step.touched)
    assert seen and known(traced.accesses) == seen


@EACH
@pytest.mark.parametrize("seed", (None, 1, pytest.param(2, marks=AT_LENGTH)))
def test_the_sanitizer_blames_nothing(feature, seed):
    wanted = expected(feature)
    with feature.there():
        kernel, args = feature.make(False)
        found = sanitize(
            kernel, feature.grid, feature.block, args, races_in_global=True, seed=seed, **feature.meta
        )  # fmt: skip
    assert not found and found.ran_to_end, repr(found)
    np.testing.assert_array_equal(result(args), wanted)


@EACH
@pytest.mark.parametrize("seed", (None, 1))
def test_the_sanitizer_finds_the_twins_mistake(feature, seed):
    with feature.there():
        kernel, args = feature.make(True)
        found = sanitize(
            kernel, feature.grid, feature.block, args, races_in_global=True, seed=seed, **feature.meta
        )  # fmt: skip
    assert feature.kind in found.kinds, repr(found)
    assert all(finding.line is not None for finding in found)


@pytest.mark.parametrize("feature", FEATURES[:2], ids=lambda feature: feature.name)
def test_several_seeds_at_once(feature):
    with feature.there():
        kernel, args = feature.make(False)
        found = sanitize(
            kernel, feature.grid, feature.block, args, races_in_global=True, seeds=(7, 8), **feature.meta
        )  # fmt: skip
    assert not found and found.seeds == (7, 8), repr(found)
