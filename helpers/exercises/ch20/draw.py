"""A letter drawn from the scores of a network, at a temperature."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # scores, temperature, a number from 0 to 1
    ([0.0], 1.0, 0.5), ([0.0, 0.0], 1.0, 0.25), ([0.0, 0.0], 1.0, 0.5), ([0.0, 0.0], 1.0, 0.75),
    ([2.0, 1.0, 0.5], 1.0, 0.0), ([2.0, 1.0, 0.5], 1.0, 0.8), ([2.0, 1.0, 0.5], 1.0, 0.99),
    ([2.0, 1.0, 0.5], 0.5, 0.8), ([2.0, 1.0, 0.5], 0.01, 0.99), ([2.0, 1.0, 0.5], 3.0, 0.5),
    ([-1.0, -3.0, -2.0, -1.5], 1.0, 0.6), ([900.0, 901.0, 899.0], 1.0, 0.3), ([900.0, 901.0, 899.0], 1.0, 0.95),
    ([-900.0, -901.0], 0.5, 0.9), ([0.0, 900.0], 1.0, 0.5), ([1.0, 3.0, 2.0], 1.0, 0.05),
)  # fmt: skip


def _drawn(scores: list[float], temperature: float, number: float) -> int:
    parts = [math.exp((score - max(scores)) / temperature) for score in scores]
    reached = 0.0
    for index, part in enumerate(parts):
        reached += part / sum(parts)
        if number < reached:
            return index
    return len(scores) - 1


def _case(scores: list[float], temperature: float, number: float) -> Case:
    name = f"scores {', '.join(f'{score:g}' for score in scores)}, temperature {temperature:g}, number {number:g}"
    return Case(name, (scores, temperature, number), expected=_drawn(scores, temperature, number))


PART = "math.exp((score - largest) / temperature)"

EXERCISE = Exercise(
    key="ch20.draw",
    title="a letter drawn at a temperature",
    language="python",
    name="draw",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Lay the probabilities end to end on a line from 0 to 1. In which of them does `number` fall?",
        "exp(900) is too large for a float. A softmax stays the same if you take the largest score from all first.",
        "Add up part / total letter by letter. Return the first index whose sum exceeds `number`, else the last.",
    ),
    solution="""
import math

def draw(scores, temperature, number):
    largest = max(scores)
    parts = [math.exp((score - largest) / temperature) for score in scores]
    total = sum(parts)
    reached = 0.0
    for index in range(len(scores) - 1):
        reached += parts[index] / total
        if number < reached:
            return index
    return len(scores) - 1
""",
    why="The probabilities fill the line from 0 to 1, each as much of it as it is likely, so a random number falls "
    "into each as often as it should. The largest score is taken away for the reason that chapter 15 gives: without it "
    "a large score overflows.",
    stretch="`top_k`: let only the k best scores take part. What does that keep the network from?",
    mistakes=(
        Mistake(
            "the likeliest letter, always",
            "That leaves nothing to chance. `number` decides: it falls into one of the probabilities laid end to end.",
            (("    reached = 0.0\n", "    return scores.index(largest)\n    reached = 0.0\n"),),
        ),
        Mistake(
            "the scores overflow",
            "exp(900) is more than a float can hold. Take the largest score away from all of them first.",
            (("(score - largest)", "score"),),
        ),
        Mistake(
            "the temperature is left out",
            "The scores are divided by the temperature, before exp. Dividing the probabilities changes nothing.",
            ((PART, "math.exp(score - largest)"), (PART, "math.exp(score - largest) / temperature")),
        ),
        Mistake(
            "the temperature multiplies",
            "A low temperature makes differences larger: divide by it.",
            (("largest) / temperature", "largest) * temperature"),),
        ),
        Mistake(
            "the parts do not add up to 1",
            "Divide each part by the sum of all, so that together they fill the line from 0 to 1.",
            (("parts[index] / total", "parts[index]"),),
        ),
        Mistake(
            "each letter alone",
            "Lay the probabilities end to end: compare `number` with the sum so far, and not with one of them.",
            (("reached +=", "reached ="),),
        ),
        Mistake(
            "one letter too early or too late",
            "A number below the first probability draws letter 0: return the first index whose sum exceeds the number.",
            (("            return index", "            return index + 1"),
             ("            return index", "            return max(0, index - 1)")),
        ),
    ),
    equivalent=(
        (("len(scores) - 1)", "len(scores) + 1)"), "with the last one the sum is 1"),
        (("len(scores) - 1)", "len(scores) - 0)"), "with the last one the sum is 1"),
    ),
)  # fmt: skip
