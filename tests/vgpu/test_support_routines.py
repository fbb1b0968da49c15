"""What compilers put behind an expression of C++, against Python, on both engines."""

from __future__ import annotations

import random

import pytest

from tests.vgpu.support import floats, integers

FAMILIES = integers.FAMILIES | floats.FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_routines_give_what_python_gives(engine, name):
    family = FAMILIES[name]
    found = family.differences(engine, family.inputs(random.Random(1), 64))
    assert not found, f"{len(found)}:\n" + "\n".join(found[:40])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FAMILIES)
def test_routines_give_what_python_gives_at_length(compiled, name):
    family = FAMILIES[name]
    found = family.differences(compiled, family.inputs(random.Random(2), 8192))
    assert not found, f"{len(found)}:\n" + "\n".join(found[:40])
