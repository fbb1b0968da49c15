"""Triton's refusals: each names the user's line and says what usually fixes it; Triton's own pages are left out."""

import importlib.util
import os
import sys

import numpy as np
import pytest

from vgpu.base.errors import ArgumentError, CompileError, LaunchError, OutOfBounds

if importlib.util.find_spec("triton") is None:
    assert not (os.environ.get("CI") and sys.platform == "linux"), "python -m pip install -c constraints.txt triton"
    pytest.skip("Triton is published for Linux", allow_module_level=True)

import torch

from vgpu.standins import triton as stand_in

triton = stand_in.activate()

import triton.language as tl  # noqa: E402

from vgpu.standins.triton.lines import user_lines  # noqa: E402

WIDTH = 3


def plain(value):
    return value


@triton.jit
def nothing(at):
    return tl.arrange(0, 4)


@triton.jit
def right(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0, mask=at < n)


# Each kernel holds one mistake, on the line marked HERE; the words are those that the message must hold.
CASES = []


def case(*words):
    return lambda function: CASES.append((triton.jit(function), words)) or function


@case("no power of two", "triton.next_power_of_2(n)")
def odd_length(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, 100), 1.0)  # HERE


@case("not known when the kernel is compiled", "BLOCK: tl.constexpr")
def no_constant(x_ptr, n, BLOCK):
    tl.store(x_ptr + tl.arange(0, n), 1.0)  # HERE


@case("there is no `tl.arrange`", "was `tl.arange` meant?")
def misspelt(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arrange(0, BLOCK)  # HERE
    tl.store(x_ptr + at, 1.0)


@case("there is no `tl.arrange`")
def misspelt_in_a_function(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, nothing(n))  # HERE


@case("the name `unknown` is not defined")
def undefined(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, unknown)  # noqa: F821  HERE


@case("the global `WIDTH` is no constant", "WIDTH = tl.constexpr(WIDTH)")
def global_number(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, WIDTH)  # HERE


@case("a block of 256 values meets a block of 64")
def lengths(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK) + tl.arange(0, 64)  # HERE
    tl.store(x_ptr + at, 1.0)


@case("`tl.load` is given values, not addresses")
def values_for_addresses(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(at))  # HERE


@case("given a whole block", "tl.where")
def condition_of_a_block(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if at < n:  # HERE
        tl.store(x_ptr + at, 1.0)


@case("one address meets a block of values", "x_ptr + offsets")
def one_address(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.arange(0, BLOCK))  # HERE


@case("a construct of Python that Triton does not have (Dict)")
def dictionary(x_ptr, n, BLOCK: tl.constexpr):
    table = {1: 2}  # HERE
    tl.store(x_ptr, table[1])


@case("A pointer is no array")
def pointer_as_array(x_ptr, n, BLOCK: tl.constexpr):
    x_ptr[n] = 1.0  # HERE


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Compile what is tested, and leave the user's cache alone."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("kernel, words", CASES, ids=[kernel.__name__ for kernel, _ in CASES])
def test_message(kernel, words):
    with pytest.raises(CompileError) as raised:
        kernel[(1,)](torch.zeros(256), 256, BLOCK=256)
    message = str(raised.value)
    assert all(word in message for word in words), message
    with open(__file__) as file:
        text = file.read().splitlines()[raised.value.line - 1]
    assert "HERE" in text and text.strip().split("  #")[0] in message
    assert raised.value.__cause__ is None and raised.value.__context__ is None


def test_an_ordinary_function():
    @triton.jit
    def calls(x_ptr, n, BLOCK: tl.constexpr):
        tl.store(x_ptr, plain(n))

    with pytest.raises(CompileError, match=r"`plain` is an ordinary Python function\s+Put `@triton\.jit`"):
        calls[(1,)](torch.zeros(4), 4, BLOCK=4)


@pytest.mark.parametrize(
    "launch, error, words",
    [
        (lambda x: right[(1,)](x, 4), ArgumentError, "`BLOCK` is a constant .* `right.grid.\\(…, BLOCK=256\\)`"),
        (lambda x: right[(1,)](x, BLOCK=4), ArgumentError, r"missing .*'n'. Its parameters are \(x_ptr, n, BLOCK\)"),
        (lambda x: right[(1,)](x, 4, 4, 4), ArgumentError, "takes 3 positional arguments but 4 were given"),
        (lambda x: right[4](x, 4, BLOCK=4), ArgumentError, "the grid is a tuple"),
        (lambda x: right[(1,)]([1.0], 4, BLOCK=4), ArgumentError, "argument `x_ptr` is a list"),
        (lambda x: right[(1,)](np.ones(4), 4, BLOCK=4), ArgumentError, "`x_ptr` is a NumPy array"),
        (lambda x: right(x, 4, BLOCK=4), LaunchError, r"Write right\[\(programs,\)\]"),
    ],
)
def test_a_launch_that_does_not_fit(launch, error, words):
    with pytest.raises(error, match=words):
        launch(torch.zeros(4))


def test_other_errors_of_python_pass():
    def grid(meta):
        raise TypeError("the user's own")

    with pytest.raises(TypeError, match="the user's own") as raised:
        right[grid](torch.zeros(4), 4, BLOCK=4)
    assert type(raised.value) is TypeError


def test_ptx_of_an_earlier_session_has_the_lines_of_this_one():
    ptx = (
        ".loc\t1 2 0  // old.py:2:0\n.loc\t2 9 1  // lib.py:9:1 @[ old.py:4:3 ]\n"
        '\t.file\t1 "/before/old.py"\n\t.file\t2 "/lib.py"\n'
    )
    found = user_lines(ptx, "/now/new.py")
    assert '.file\t1 "/now/new.py"' in found and '.file\t2 "/lib.py"' in found
    assert ".loc\t1 4 3" in found


def test_a_fault_names_its_line_when_the_ptx_came_from_the_cache(tmp_path):
    source = (
        "import triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\ndef past(x_ptr):\n    tl.store(x_ptr + 99, 1.0)\n"
    )
    for folder in ("before", "now"):  # the same cell in two sessions
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / f"{folder}.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(folder, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with pytest.raises(OutOfBounds, match=r"line 7: tl\.store\(x_ptr \+ 99, 1\.0\)") as caught:
            module.past[(1,)](torch.zeros(4))
        assert "such as `tl.store(pointer + offsets, value, mask=offsets < n)`" in str(caught.value)
