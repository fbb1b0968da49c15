"""The stored table of what is tested names every instruction there is, and each has run on both engines."""

from __future__ import annotations

import pytest

from vgpu import isa
from vgpu.tests import coverage

# What 99 % of the kernels in NVIDIA's public CUDA samples are made of, and what Numba adds, by base opcode.
COMMON = """
    ret ld mov cvta st add setp mul bra shl mad cvt and shr bar sub shfl barrier or selp div fma not vote neg atom rem
    min tex xor max membar call redux abs clz rcp bfi brev nanosleep popc wmma shf red ex2 cp bmsk exit bfind rsqrt sust
    sqrt trap activemask mbarrier match lg2 cos sin copysign suld fence vabsdiff4 madc isspacep
"""


def rows() -> dict[str, list[str]]:
    cells = {name: [c.strip() for c in line.strip("|").split("|")] for name, line in coverage.listed().items()}
    return {name: row[1:] for name, row in cells.items()}


@pytest.mark.parametrize("opcode", COMMON.split())
def test_what_kernels_are_made_of_runs_on_both_engines(opcode):
    found = [row for name, row in rows().items() if name.split(".")[0] == opcode]
    assert found, f"{coverage.TARGET.name} is stale: python -m pytest vgpu/tests -p vgpu.tests.coverage"
    compiled, interpreted = (max(int(row[column]) for row in found) for column in (2, 3))
    assert compiled and interpreted, f"{opcode} ran on one engine only"


def test_every_row_of_the_table_is_listed_with_its_cases():
    listed = rows()
    assert {op.name for op in isa.TABLE} <= set(listed), "renew it: python -m pytest vgpu/tests -p vgpu.tests.coverage"
    assert all(int(listed[op.name][1]) > 0 for op in isa.TABLE)
