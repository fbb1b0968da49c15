"""The log of a training step: counts that are exact, a comparison with the last kept, ceilings, and what it refuses."""

import numpy as np
import pytest
import torch

from helpers import StepLog, cp, plots, show, widgets

ADD = cp.RawKernel(
    'extern "C" __global__ void add(float* x, const float* y, int n) {'
    "    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y[i]; }",
    "add",
)
N = 1024


def steps_of(launches: int, reads: int = 1, loss: float = 1.0, steps: int = 2):
    """A program of so many launches and reads a step."""

    def program():
        x, y = torch.zeros(N), torch.zeros(N)
        for _ in range(steps):
            cp.from_dlpack(y).set(np.ones(N, np.float32))
            for _ in range(launches):
                ADD((N // 128,), (128,), (cp.from_dlpack(x), cp.from_dlpack(y), np.int32(N)))
            for _ in range(reads):
                cp.from_dlpack(x[:1]).item()
        return [loss] * steps

    return program


def changed_log() -> StepLog:
    log = StepLog(steps=2, gpu="A100")
    log.run("as found", steps_of(40, reads=4))
    log.run("fewer", steps_of(10))
    log.run("wrong", steps_of(10, loss=1.1))
    log.revert("wrong")
    log.run("last", steps_of(2))
    return log


def log_of_one() -> StepLog:
    log = StepLog(steps=2)
    log.run("alone", steps_of(1))
    return log


def test_counts_are_those_of_a_step():
    found = changed_log()["as found"]
    assert (found.a_step(found.launches), found.a_step(found.copied("H2D"))) == (40, 4 * N)
    assert found.copied("H2D", pinned=True) == 0
    assert found.a_step(found.copied("D2H")) == 16
    assert found.a_step(found.waits) == 5  # four reads, and the copy from pageable memory
    assert found.a_step(found.dram_bytes) == 40 * 3 * 4 * N
    assert found.by_kernel() == {"add": 80}
    assert found.tensor_share == 0


def test_each_version_is_compared_with_the_last_that_was_kept():
    log = changed_log()
    assert log.before("last").name == "fewer" and log.before("as found") is None
    assert log.gain("fewer") > 1.5
    assert [log.same_losses(name) for name in log] == [True, True, False, True]
    text = repr(log)
    assert "tensor cores" not in text and "tensor cores" in repr(log_of_one())
    assert "wrong (reverted)" in text and "ANOTHER" in text and "within error" in text


def test_ceilings_take_one_suspect_away():
    found = changed_log()["as found"]
    rows = {row.suspect: row for row in found.ceilings()}
    assert rows["launch overhead"].seconds < rows["copies"].seconds < found.seconds
    assert rows["add (40 launches)"].gain > 2
    assert all(row.seconds <= found.seconds * (1 + 1e-9) for row in rows.values())


def test_a_change_lists_what_it_moved_and_the_loss():
    log = changed_log()
    rows = {row.what: (row.before, row.after) for row in log.change("fewer")}
    assert rows["launches"] == ("40", "10") and rows["waits"] == ("5", "2") and rows["loss"] == ("the same",) * 2
    assert "bytes to the GPU" not in rows and rows["time against the last kept"][1].endswith("faster")
    assert {row.what: row.after for row in log.change("wrong")}["loss"] == "ANOTHER"
    with pytest.raises(ValueError, match="first version"):
        log.change("as found")


def test_filling_counts_blocks_against_sms():
    (row,) = changed_log()["as found"].filling()
    assert (row.kernel, row.launches, row.blocks, row.sms) == ("add", 40, 8, 108)
    assert 0 < row.waves < 0.01 and row.seconds > 0
    assert "108" in repr(changed_log()["fewer"].filling()) and "under 0.01" in repr(changed_log()["fewer"].filling())


def test_another_gpu_gets_other_times_and_the_same_counts():
    here = changed_log()["as found"]
    there = here.on("H100")
    assert there.launches == here.launches and there.gpu.name == "H100"
    assert [row.sms for row in there.filling()] == [132]


def test_what_is_drawn_says_what_changed():
    log = changed_log()
    alt = show(widgets.changes(log).draw("as found", "last")).alt
    assert "launches 40 → 2" in alt and "waits of the host 5 → 2" in alt and "bytes to the GPU" not in alt
    alt = show(plots.change_steps(log)).alt
    assert "4 versions of a step, 1 of them reverted" in alt and "40 launches" in alt


def test_it_refuses_what_it_cannot_compare():
    log = StepLog(steps=3)
    with pytest.raises(ValueError, match="2 losses"):
        log.run("short", steps_of(1))
    with pytest.raises(KeyError, match="no version 'x'"):
        log["x"]
    with pytest.raises(ValueError, match="at least 1"):
        StepLog(steps=0)
    with pytest.raises(ValueError, match="no version yet"):
        plots.change_steps(StepLog())
    with pytest.raises(TypeError, match="StepLog"):
        widgets.changes({"a": 1})
    with pytest.raises(ValueError, match="two versions"):
        widgets.changes(StepLog())
