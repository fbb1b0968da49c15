"""What a rank sends in a ring all-reduce, where the chunks are not all of one size."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

ROWS = ((1, 5, 0), (8, 2, 0), (8, 2, 1), (12, 4, 3), (10, 4, 0), (10, 4, 2), (3, 4, 1), (1001, 7, 6))  # n, ranks, rank
FIRST = "for step in range(ranks - 1):\n        total += sizes[(rank - step) % ranks]\n"
SECOND = "        total += sizes[(rank + 1 - step) % ranks]\n"
SIZES = "sizes = [elements // ranks + (chunk < elements % ranks) for chunk in range(ranks)]"


def _case(elements: int, ranks: int, rank: int) -> Case:
    sizes = [elements // ranks + (chunk < elements % ranks) for chunk in range(ranks)]
    total = sum(sizes[(rank - step) % ranks] + sizes[(rank + 1 - step) % ranks] for step in range(ranks - 1))
    name = f"{plural(elements, 'element')} on {plural(ranks, 'rank')}, rank {rank}"
    return Case(name, (elements, ranks, rank), expected=4 * total)


EXERCISE = Exercise(
    key="ch22.ring_bytes",
    title="bytes that a rank sends in a ring",
    language="python",
    name="ring_bytes",
    cases=lambda: [_case(*row) for row in ROWS],
    hints=(
        "How long is each chunk? np.array_split makes the first elements % ranks of them one longer than the others.",
        "In the first half a rank sends the chunks rank, rank - 1, …, n - 1 of them; in the second half it begins with "
        "chunk rank + 1.",
        "So it leaves out one chunk in each half: chunk rank + 1 in the first, rank + 2 in the second. Twice all "
        "elements "
        "less these two, times 4 bytes.",
    ),
    solution=f"""
def ring_bytes(elements, ranks, rank):
    {SIZES}
    total = 0
    {FIRST}{SECOND}    return 4 * total
""",
    why="A rank sends every chunk but one in each half, so n - 1 of n chunks twice. Where n divides the message "
    "that is "
    "the formula 2 (n - 1) / n · S. Where it does not, ranks differ by a few elements, which is why libraries do not "
    "care, and why FSDP pads instead. The number of ranks hardly matters: from 8 ranks on it is nearly 2 S.",
    stretch="how many bytes does rank 0 send, and how many receive, where all goes through it?",
    mistakes=(
        Mistake(
            "one half of the ring",
            "A ring all-reduce has two halves: sums are made in the first (reduce-scatter), and handed on in the "
            "second "
            "(all-gather).",
            ((SECOND, ""),),
        ),
        Mistake(
            "one step too many in each half",
            "A chunk needs n - 1 steps to come round: with two ranks one step in each half.",
            (("range(ranks - 1)", "range(ranks)"),),
        ),
        Mistake(
            "elements, not bytes",
            "An element of float32 takes 4 bytes, and bytes are asked for.",
            (("return 4 * total", "return total"),),
        ),
        Mistake(
            "all chunks are counted as equally long",
            "Where n does not divide the number of elements, the first elements % ranks chunks have one more.",
            ((SIZES, "sizes = [elements // ranks for chunk in range(ranks)]"),
             (SIZES, "sizes = [(elements + ranks - 1) // ranks for chunk in range(ranks)]"),
             (SIZES, "sizes = [elements / ranks for chunk in range(ranks)]"),
             "    return 8 * (ranks - 1) * elements // ranks"),
        ),
        Mistake(
            "the whole message at each step",
            "At each step a rank sends one chunk, which is about S / n.",
            ("    return 8 * (ranks - 1) * elements", "    return 4 * (ranks - 1) * elements"),
        ),
        Mistake(
            "the second half begins with the wrong chunk",
            "After the first half rank r holds the whole sum of chunk r + 1: that is what it sends first.",
            (("(rank + 1 - step)", "(rank - step)"), ("(rank + 1 - step)", "(rank + 2 - step)")),
        ),
    ),
)  # fmt: skip
