"""Lab 16: plans that leave out what they are about, with the right result."""

from helpers.checking.examine import examine
from helpers.checking.exercise import exercise
from helpers.checking.solutions import built, patched

ALONE = (
    ("            rank.all_reduce()\n", ""),
    ("np.array_split(whole, rank.size)[rank.number]", "whole"),
    ("weight=rank.size * len(few)", "weight=len(few)"),
)


def test_ranks_that_each_take_every_sample_have_not_saved_an_all_reduce():
    task = exercise("lab16.train")
    seen = examine(built(task, patched(task, ALONE)), task.for_marks(5))
    assert seen.right
    assert {spent.label: spent.ok for spent in seen.budgets}["all-reduces per update"] is False
