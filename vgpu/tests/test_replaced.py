"""An attribute of another library is replaced while anyone needs it, and no longer."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from vgpu.base.replaced import Replaced


@pytest.fixture
def library():
    return SimpleNamespace(call=lambda: ["original"])


@pytest.fixture
def replaced(library):
    return Replaced(library, "call", lambda original: lambda: [*original(), "ours"])


def test_it_is_replaced_once_by_all_and_put_back_by_the_last(library, replaced):
    original = library.call
    with replaced:
        with replaced:
            assert library.call() == ["original", "ours"]
        assert library.call() == ["original", "ours"]
    assert library.call is original


def test_threads_share_it(library, replaced):
    original, entered, leave = library.call, threading.Event(), threading.Event()

    def stay():
        with replaced:
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=stay)
    with replaced:
        thread.start()
        assert entered.wait(60)
    assert library.call() == ["original", "ours"]  # the other thread is still inside
    leave.set()
    thread.join()
    assert library.call is original


def test_an_exception_puts_it_back(library, replaced):
    original = library.call
    with pytest.raises(ValueError), replaced:
        raise ValueError
    assert library.call is original


def test_what_another_library_has_wrapped_around_ours_stays(library, replaced):
    with replaced:
        ours = library.call
        library.call = theirs = lambda: [*ours(), "theirs"]
    assert library.call is theirs
    with replaced:
        assert library.call() == ["original", "ours", "theirs", "ours"]
    assert library.call is theirs
