"""The allocator: alignment, red zones, poison, who owns what, and what is remembered of the freed."""

import gc
import os
import threading

import numpy as np
import pytest

from vgpu.storage import memory


@pytest.mark.parametrize("nbytes", [0, 1, 4, 255, 256, 257, 4096, 1 << 18, (1 << 20) + 3])
def test_alignment_poison_and_size(nbytes):
    allocation = memory.allocate(nbytes, label="x")
    assert allocation.address % 256 == 0
    assert allocation.nbytes == nbytes
    data = np.asarray(allocation)
    assert data.shape == (nbytes,) and (data == 0xFF).all()
    data[...] = 7  # the whole of it can be written
    assert (np.asarray(allocation) == 7).all()


@pytest.mark.parametrize("nbytes", [1, 300, 1 << 18])
def test_live_allocations_are_a_red_zone_apart(nbytes):
    kept = [memory.allocate(nbytes) for _ in range(50)]
    starts, ends = memory.table()
    assert (np.diff(starts.astype(np.int64)) > 0).all()
    assert (starts[1:] - ends[:-1]).min() >= 256
    assert {a.address for a in kept} <= set(starts.tolist())


def test_table_is_exact_cached_and_renewed():
    a = memory.allocate(10)
    starts, ends = memory.table()
    assert starts.dtype == ends.dtype == np.uint64
    assert starts.flags.c_contiguous and ends.flags.c_contiguous
    assert memory.table()[0] is starts
    where = starts.tolist().index(a.address)
    assert ends[where] - starts[where] == 10
    address = a.address
    del a
    assert address not in memory.table()[0].tolist()


def test_the_last_reference_frees_and_a_view_keeps_alive():
    before = memory.usage()
    x = memory.array((4, 8), np.float32, label="x")
    assert memory.usage() == (before[0] + 128, before[1] + 1)
    row = x[1:, ::2].view(np.int32)
    address = x.ctypes.data
    del x
    assert memory.usage()[1] == before[1] + 1
    assert memory.owner(row).address == address
    del row
    assert memory.usage() == before


def test_array_shapes_orders_and_fill():
    x = memory.array((3, 5), np.float32)
    assert x.flags.c_contiguous and np.isnan(x).all()
    y = memory.array((3, 5), np.int32, order="F")
    assert y.flags.f_contiguous and (y == -1).all()
    assert memory.array(7, np.uint8).shape == (7,)
    assert memory.array((), np.float64).shape == ()
    assert memory.array((0, 3), np.float64).shape == (0, 3)
    with pytest.raises(TypeError, match="plain numbers"):
        memory.array(3, object)


def test_view_checks_its_room():
    a = memory.allocate(16)
    part = memory.view(a, (2,), np.float32, offset=8)
    part[...] = 1
    assert np.isnan(memory.view(a, (2,), np.float32)).all()
    with pytest.raises((ValueError, TypeError)):
        memory.view(a, (3,), np.float32, offset=8)


def test_owner():
    x = memory.array(8, np.float32, label="x")
    assert memory.owner(x).label == "x"
    assert memory.owner(x[2:].reshape(2, 3)) is memory.owner(x)
    assert memory.owner(np.zeros(8)) is None
    stranger = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_float * 8).from_address(x.ctypes.data))
    assert memory.owner(stranger) is memory.owner(x)


def test_describe_names_inside_past_the_end_and_freed():
    x = memory.array(10, np.float32, label="x")
    a = memory.owner(x)
    inside = memory.describe(a.address + 12)
    assert (inside.allocation, inside.offset, inside.freed) == (a, 12, False)
    past = memory.describe(a.address + 40)
    assert (past.allocation, past.offset, past.freed) == (a, 40, False)
    address, serial = a.address, a.serial
    del x, a, inside, past
    gone = memory.describe(address + 4)
    assert gone.freed and gone.offset == 4
    assert (gone.allocation.label, gone.allocation.serial, gone.allocation.nbytes) == ("x", serial, 40)
    assert memory.describe(0).allocation is None


def test_freed_addresses_are_not_handed_out_again_at_once():
    address = memory.allocate(64).address
    assert address not in [memory.allocate(64).address for _ in range(memory.REMEMBERED // 2)]
    big = memory.allocate(1 << 20).address
    assert all(memory.allocate(1 << 20).address != big for _ in range(64))


def test_free_by_hand_keeps_the_host_view_readable():
    a = memory.allocate(1 << 20, label="big")
    data = np.asarray(a)
    data[...] = 3
    a.free()
    a.free()
    assert a.freed and memory.describe(a.address).freed
    for _ in range(memory.REMEMBERED + 8):
        memory.allocate(8)
    gc.collect()
    memory.usage()
    assert (data == 3).all()
    assert "freed" in repr(a)


def test_what_is_held_back_is_bounded():
    for _ in range(40):
        memory.allocate(1 << 17)
    for _ in range(8):
        memory.allocate(48 << 20)
    memory.usage()
    assert memory._held_back <= memory.REMEMBERED_BYTES
    assert len(memory._freed) <= memory.REMEMBERED


def test_too_much_says_how_much():
    with pytest.raises(MemoryError, match=r"8388608\.0 GiB requested, .* in use by \d+ arrays"):
        memory.allocate(1 << 53)
    with pytest.raises(ValueError, match="negative"):
        memory.allocate(-1)


def test_a_limit_per_kind():
    memory.set_limit(1000, "test")
    try:
        kept = memory.allocate(900, kind="test")
        with pytest.raises(MemoryError, match="the limit set for this memory is 1000 bytes"):
            memory.allocate(200, kind="test")
        assert memory.usage("test") == (900, 1)
        del kept
        assert memory.allocate(1000, kind="test").nbytes == 1000
    finally:
        memory.set_limit(None, "test")


def test_threads():
    gc.collect()  # of other tests
    before = memory.usage()
    errors = []

    def work(seed):
        sizes = np.random.default_rng(seed).integers(0, 3000, 300)
        kept = []
        for n in sizes:
            kept.append(memory.allocate(int(n)))
            if len(kept) > 20:
                kept.pop(int(n) % 20)
            starts, ends = memory.table()
            if (starts[1:] < ends[:-1]).any():
                errors.append("overlap")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert not errors
    assert memory.usage() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork: nothing to test")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_allocate():
    with memory._lock:  # as another thread might hold it at the moment of the fork
        child = os.fork()
        if child == 0:
            code = 1
            try:
                memory.allocate(100)
                code = 0
            finally:
                os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    "line, group, limit, used",
    [
        ("0::/user/lab", "user/lab", "memory.max", "anon"),
        ("0::/user/lab", "user", "memory.max", "anon"),  # a group further out has the limit
        ("0::/docker/0f3a", "", "memory.max", "anon"),  # the host's path, and the container's own mount
        ("4:memory:/user/lab", "memory/user/lab", "memory.limit_in_bytes", "total_rss"),
        ("4:memory:/docker/0f3a", "memory", "memory.limit_in_bytes", "total_rss"),
    ],
)
def test_limits_of_control_groups_are_known(tmp_path, line, group, limit, used):
    from vgpu.storage.host import allowances

    own = tmp_path / "own"
    own.write_text(f"3:cpuset:/\n{line}\n")
    folder = tmp_path / "groups" / group
    folder.mkdir(parents=True)
    (folder / limit).write_text("5000\n")
    (folder / "memory.stat").write_text(f"file 77\n{used} 1200\n")
    assert list(allowances(tmp_path / "groups", own)) == [3800]
    (folder / limit).write_text("max\n")
    assert list(allowances(tmp_path / "groups", own)) == []
    assert list(allowances(tmp_path / "groups", tmp_path / "missing")) == []
