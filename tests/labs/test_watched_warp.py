"""Lab 07 counts the waits of one warp: for marks of one that the seed draws."""

import pytest

from helpers.checking.exercise import exercise
from helpers.checking.solutions import built, solution_of
from tests.labs.test_labs import SEEDS, judged

KEY, PART = "lab07.flight", "waits per KiB"
LOOP = "    for (; i < n; i += all) grad[i] += 0.5f * (a[i] + b[i]);\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_batches_in_the_first_warp_alone_get_no_points_for_waits(seed):
    source = solution_of(exercise(KEY))
    body = source[source.index("    // ### BEGIN") : source.index('}"""')]
    sparing = source.replace(body, f"    if (i < 32) {{\n{body}    }} else\n{LOOP}")
    verdict = judged(KEY, built(exercise(KEY), sparing), seed)
    assert verdict["results"]["right"] and not verdict[PART]["right"], verdict


def test_the_warp_that_is_drawn_is_not_always_the_same():
    assert len({exercise(KEY).for_marks(seed).cases()[-1].watched for seed in range(20)}) > 2
