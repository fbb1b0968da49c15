"""Functions that ask for stream work: what one leaves behind does not meet the next."""

import numpy as np
import pytest

from helpers.checking.check import check
from helpers.checking.exercise import Case, Exercise, Out
from vgpu import operations
from vgpu.standins import cupy as cp

ASKED = Exercise(
    key="here.copy",
    title="a copy",
    language="streams",
    name="copy",
    cases=lambda: [Case("4 numbers", (np.ones(4, np.float32), Out(np.ones(4, np.float32))))],
    hints=("", "", ""),
)


def copy(x, out):
    stream = cp.cuda.Stream()
    room = cp.empty(4, "float32")
    room.set(x, stream)
    room.get(stream, out=out, blocking=False)


def stops_in_a_capture(x, out):
    cp.cuda.Stream().begin_capture()
    raise NameError("name 'grph' is not defined")


def never_ends_its_capture(x, out):
    cp.cuda.Stream().begin_capture()


@pytest.mark.parametrize("earlier", [stops_in_a_capture, never_ends_its_capture])
def test_a_capture_that_an_answer_leaves_open_is_no_fault_of_the_next(earlier):
    assert not check(earlier, ASKED).passed
    assert operations.capturing == []
    assert check(copy, ASKED).passed


def test_a_capture_left_open_by_a_cell_is_no_fault_of_an_answer():
    with pytest.raises(NameError):
        stops_in_a_capture(None, None)
    assert check(copy, ASKED).passed
