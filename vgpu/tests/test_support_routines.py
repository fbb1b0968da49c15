"""What compilers put behind an expression of C++, against Python, on both engines."""

from __future__ import annotations

import random

import pytest

from vgpu.tests.support import floats, functions, halves, integers

FAMILIES = integers.FAMILIES | floats.FAMILIES | functions.FAMILIES | halves.FAMILIES
# Compiled for many seconds, or for targets whose instructions are almost the same in other families.
LONG = {f"special functions of {name}s" for name in ("float", "double")} | {
    name for name in halves.FAMILIES if not name.endswith("_80")
}


def check(engine, name: str, seed: int, n: int) -> None:
    family = FAMILIES[name]
    found = family.differences(engine, family.inputs(random.Random(seed), n))
    assert not found, f"{len(found)} differ:\n" + "\n".join(found[:40])


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in LONG])
def test_routines_give_what_python_gives(engine, name):
    check(engine, name, 1, 32)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FAMILIES)
def test_routines_give_what_python_gives_at_length(compiled, name):
    check(compiled, name, 2, 8192 if name not in functions.FAMILIES else 1024)
