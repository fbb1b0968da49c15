"""Values go through JSON and come back the same; what is nothing of the kind is refused."""

import json
import math

import numpy as np
import pytest

from helpers import gpus
from helpers.checking.values_as_json import DEEPEST, NotPlain, plain, unplain

VALUES = [
    None, True, 0, -7, 2**70, 1.5, "text", [], [1, [2.5, "x"]], (), (1, (2, 3)), {"a": [1], "tuple": (2,)},
    float("inf"), -math.inf, np.float32(0.1), np.int64(-3), np.bool(True),
]  # fmt: skip


def through(value):
    return unplain(json.loads(json.dumps(plain(value), allow_nan=False)))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_with_its_type(value):
    back = through(value)
    assert back == value and type(back) is type(value)


def test_nan_comes_back():
    assert math.isnan(through(float("nan")))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "?"])
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (1, 2, 2)])
def test_an_array_comes_back_to_the_bit(shape, dtype):
    array = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    back = through(array)
    assert back.dtype == array.dtype and back.shape == array.shape and (back == array).all()


def test_an_array_of_nan_is_still_json():
    assert np.isnan(through(np.array([np.nan, np.inf]))[0])


def test_a_gpu_comes_back_as_its_row():
    assert through(gpus.find("A100")) is gpus.find("A100")


class EqualToAll:
    def __eq__(self, other):
        return True

    __hash__ = None


class Sly(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize(
    "value", [EqualToAll(), Sly(3), object(), {1: 2}, lambda: 1, np.array(["x"]), np.array([object()]), b"bytes"]
)
def test_what_is_no_plain_value_is_refused(value):
    with pytest.raises(NotPlain):
        plain(value)


def test_what_contains_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(NotPlain, match=str(DEEPEST)):
        plain(loop)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"unknown": 1},
        {"tuple": 3},
        {"dict": []},
        {"float": "1e999"},
        {"gpu": "no such card"},
        {"array": "O", "shape": [1], "data": "AAAAAAAAAAA="},
        {"array": "<f4", "shape": [2], "data": "AAAA"},
        {"array": "<f4", "shape": [10**6, 10**6], "data": ""},
        {"array": "<f4", "shape": [-1], "data": ""},
        {"array": "<f4", "shape": ["1"], "data": ""},
        {"array": "<f4", "shape": [1], "data": "?"},
        {"array": ["<f4"], "shape": [1], "data": ""},
        {"array": "<f4"},
    ],
    ids=repr,
)
def test_what_plain_never_makes_is_refused(data):
    with pytest.raises(NotPlain):
        unplain(data)


def test_deep_data_is_refused():
    deep = 1
    for _ in range(DEEPEST + 2):
        deep = [deep]
    with pytest.raises(NotPlain):
        unplain(deep)
