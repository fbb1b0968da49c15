"""The settings of the modelled allocator, what it does when the driver has no more, its books in PyTorch's format."""

import random

import pytest
import torch
from torch.cuda import _memory_viz

from helpers.results.torch.allocator_parts import next_division, rounded, segment_size
from helpers.results.torch.caching_allocator import MIB, CachingAllocator

APART = [(name, 9) for name in "abcd"]


def filled(sizes, **options) -> CachingAllocator:
    books = CachingAllocator(**options)
    for name, mib in sizes:
        books.allocate(name, mib * MIB)
    return books


def blocks(books) -> list[list[tuple]]:
    return [
        [(piece.nbytes / MIB, piece.owner if piece.mapped else "?") for piece in row.pieces] for row in books.rows()
    ]


def test_the_example_of_pytorchs_documentation_for_divisions():
    # 1200 between 1024 and 2048, in four steps: https://docs.pytorch.org/docs/stable/notes/cuda.html
    assert next_division(1200, 4) == 1280
    assert [rounded(each, 4) for each in (1, 1200, 2048, 2049, 3000, 4096)] == [512, 1536, 2048, 2560, 3072, 4096]
    assert rounded(5 * MIB + 1, 8) == int(5.5 * MIB)
    assert segment_size(rounded(11 * MIB)) == 12 * MIB


def test_memory_can_be_free_and_of_no_use_until_it_is_asked_for_in_another_order():
    books = filled(APART, capacity=40 * MIB)
    books.free("a")
    books.free("c")
    with pytest.raises(torch.OutOfMemoryError, match=r"18.00 MiB is allocated .* 22.00 MiB is reserved"):
        books.allocate("e", 12 * MIB)
    assert (books.largest_free, books.stats()["num_ooms"]) == (9 * MIB, 1)
    books = filled([APART[at] for at in (1, 3, 0, 2)], capacity=40 * MIB)
    books.free("a")
    books.free("c")
    books.allocate("e", 12 * MIB)
    assert blocks(books)[1] == [(12, "e"), (8, None)]


def test_before_it_fails_what_lies_idle_goes_back():
    books = filled([("a", 30)], capacity=40 * MIB)
    books.free("a")
    books.allocate("b", 36 * MIB)
    stats = books.stats()
    assert [stats[name] for name in ("num_alloc_retries", "num_device_alloc", "num_device_free")] == [1, 2, 1]
    assert books.reserved == 36 * MIB


def test_an_expandable_segment_grows_at_its_end_and_gives_back_whole_pages():
    books = filled([("a", 15), ("b", 15)], expandable_segments=True)
    assert (blocks(books), books.reserved) == ([[(15, "a"), (15, "b"), (10, None)]], 40 * MIB)
    books.free("b")
    books.allocate("c", 30 * MIB)  # 25 are free at the end: one page more is enough
    assert (blocks(books), books.reserved) == ([[(15, "a"), (30, "c"), (15, None)]], 60 * MIB)
    books.allocate("d", 5 * MIB)
    books.free("c")
    books.empty_cache()  # of the 30 MiB from 15 to 45, the page from 20 to 40 is whole
    assert blocks(books) == [[(15, "a"), (5, None), (20, "?"), (5, None), (5, "d"), (10, None)]]
    books.allocate("e", 22 * MIB)  # the hole is filled again, from where there was room before it
    assert blocks(books) == [[(15, "a"), (22, "e"), (8, None), (5, "d"), (10, None)]]
    assert books.reserved == 60 * MIB


def test_expandable_segments_of_both_pools_stay_apart():
    books = CachingAllocator(expandable_segments=True)
    books.allocate("small", 600)
    books.allocate("large", 2 * MIB)
    assert (books.reserved, len(books.rows())) == (22 * MIB, 2)
    for name in ("small", "large"):
        books.free(name)
    books.empty_cache()
    assert (books.reserved, books.rows()) == (0, ())


def test_oversize_blocks_are_not_split():
    books = filled([("a", 60)], max_split_size_mb=40, capacity=100 * MIB)
    books.free("a")
    books.allocate("small enough", 12 * MIB)
    assert books.reserved == 72 * MIB  # the cached 60 MiB are not for it
    books.allocate("b", 50 * MIB)
    assert blocks(books)[0] == [(60, "b")]  # nearly as large: given whole
    books.free("b")
    books.allocate("c", 88 * MIB)  # the cached one goes back for it
    assert books.reserved == 100 * MIB


def test_old_segments_are_collected_above_the_threshold():
    books = filled([("old", 12), ("new", 30)], garbage_collection_threshold=0.5, capacity=120 * MIB)
    books.free("old")
    for _ in range(3):
        books.allocate("other", 26 * MIB)
        books.free("other")
    books.free("new")
    books.allocate("wide", 40 * MIB)
    assert [sum(size for size, _ in row) for row in blocks(books)] == [30, 26, 40]
    assert books.stats()["num_alloc_retries"] == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_split_size_mb": 20}, "above 20"),
        ({"roundup_power2_divisions": 3}, "power of two"),
        ({"garbage_collection_threshold": 1.0}, "share"),
    ],
)
def test_what_pytorch_refuses_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        CachingAllocator(**settings)


def test_pytorchs_own_reader_reads_the_snapshot():
    books = filled(APART, capacity=40 * MIB)
    books.free("c")
    seen = books.snapshot()
    assert "total_reserved: 40.0MiB" in _memory_viz.segsum(seen) and "27.0MiB" in _memory_viz.segsum(seen)
    lines = _memory_viz.trace(seen).splitlines()
    assert lines[2].endswith("20.0MiB)") and lines[3] == "b = a[0:9.0MiB]"
    assert _memory_viz.segsum(filled(APART, expandable_segments=True).snapshot()).count("40.0MiB allocated") == 1


@pytest.mark.parametrize("settings", [{}, {"expandable_segments": True}, {"max_split_size_mb": 30}])
def test_the_books_balance_whatever_is_asked(settings):
    dice, books, held = random.Random(1), CachingAllocator(80 * MIB, **settings), []
    for number in range(400):
        if held and dice.random() < 0.5:
            books.free(held.pop(dice.randrange(len(held))))
        else:
            try:
                books.allocate(number, int(10 ** dice.uniform(1, 7.7)))
                held.append(number)
            except torch.OutOfMemoryError:
                books.empty_cache()
        pieces = [piece for row in books.rows() for piece in row.pieces]
        assert books.reserved == sum(piece.nbytes for piece in pieces if piece.mapped) <= 80 * MIB
        assert books.allocated == sum(piece.nbytes for piece in pieces if piece.owner is not None)
        assert sorted(piece.owner for piece in pieces if piece.owner is not None) == sorted(held)
        for row in books.rows():
            for one, other in zip(row.pieces, row.pieces[1:], strict=False):
                assert not (one.owner is other.owner is None and one.mapped == other.mapped), "free neighbours"
    assert books.stats()["num_ooms"]
