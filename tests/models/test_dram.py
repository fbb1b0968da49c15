"""DRAM bytes of programs, launch by launch, and what two small runs extrapolate."""

import pytest

from helpers import cp, dram, dram_at, fusion_table

scale = cp.ElementwiseKernel("float32 x, float32 w", "float32 y", "y = x * w", "scale")


def program(rows):
    scale(scale(cp.zeros((rows, 64), "float32"), cp.zeros(64, "float32")), 2)


def test_each_launch_is_charged_for_distinct_bytes():
    found = dram(program, 4)
    assert (found.launches, found.read_bytes, found.written_bytes) == (2, 2 * 4 * 256 + 256, 2 * 4 * 256)
    assert found.flops == 2 * 4 * 64
    assert "scale          2 " in repr(found)


def test_two_small_runs_extrapolate_a_large_one():
    extrapolated, counted = dram_at(program, (4, 8), 16), dram(program, 16)
    assert (extrapolated.nbytes, extrapolated.flops) == (counted.nbytes, counted.flops)
    assert [launch.counts.grid for launch in extrapolated.each] == [launch.counts.grid for launch in counted.each]
    table = repr(fusion_table({"both": extrapolated}, gpu="A100", published={"both": "3 µs (somebody)"}))
    assert "modelled, A100" in table and "3 µs (somebody)" in table and f"{counted.nbytes:,}" in table


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="no kernel that is counted"):
        dram(lambda: None)
    with pytest.raises(ValueError, match="launch other kernels"):
        dram_at(lambda rows: [program(1) for _ in range(rows)], (1, 2), 4)
    with pytest.raises(ValueError, match="no row is called"):
        fusion_table({"both": dram(program, 1)}, gpu="A100", published={"neither": ""})
