"""The books of a caching allocator, by PyTorch's rules: rounding, segments, reuse, splitting, joining."""

import pytest

from helpers.results.torch.caching_allocator import MIB, CachingAllocator


@pytest.mark.parametrize(
    ("nbytes", "allocated", "reserved"),
    [
        (1, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB - 512, 10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),
        (21 * MIB, 22 * MIB, 22 * MIB),  # the rest of 1 MiB is not split off
    ],
)
def test_sizes_are_rounded_and_come_from_segments(nbytes, allocated, reserved):
    books = CachingAllocator()
    books.allocate("a", nbytes)
    assert (books.allocated, books.reserved) == (allocated, reserved)


def test_what_is_freed_is_kept_and_given_out_again():
    books = CachingAllocator()
    books.allocate("a", 5 * MIB)
    books.free("a")
    assert (books.allocated, books.reserved) == (0, 20 * MIB)
    books.allocate("b", 9 * MIB)
    books.allocate("c", 9 * MIB)
    assert (books.allocated, books.reserved) == (18 * MIB, 20 * MIB)
    books.empty_cache()
    assert books.reserved == 20 * MIB
    books.free("b")
    books.free("c")
    books.empty_cache()
    assert books.reserved == 0


def test_memory_can_be_free_and_of_no_use():
    books = CachingAllocator()
    for name in "abcd":
        books.allocate(name, 5 * MIB)
    assert books.reserved == 20 * MIB
    books.free("a")
    books.free("c")
    books.allocate("e", 9 * MIB)  # 10 MiB are free, in two pieces
    assert books.reserved == 40 * MIB
    books.free("b")  # joins its neighbours: 15 MiB in one piece
    books.allocate("f", 9 * MIB)
    assert books.reserved == 40 * MIB


def test_a_large_block_keeps_a_small_rest():
    books = CachingAllocator()
    books.allocate("a", 20 * MIB)
    books.free("a")
    books.allocate("b", 19 * MIB)  # the rest of 1 MiB is not split off
    assert books.allocated == 20 * MIB


def test_names_are_held_once():
    books = CachingAllocator()
    books.allocate("a", 1)
    with pytest.raises(ValueError, match="free it first"):
        books.allocate("a", 1)
    with pytest.raises(KeyError, match="holds no block"):
        books.free("b")
