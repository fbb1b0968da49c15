"""A result that several kernels read: written once, or computed again by each of them."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

PLANS = ((1, 1, 1), (1, 2, 100), (2, 1, 4), (3, 2, 8), (3, 3, 1000), (4, 5, 16), (1, 8, 8))


def _case(inputs: int, consumers: int, elements: int) -> Case:
    stored = inputs + 1 + 2 * consumers
    recomputed = consumers * (inputs + 1)
    name = f"{plural(inputs, 'input')}, {plural(consumers, 'consumer')}, {plural(elements, 'element')}"
    expected = (4 * elements * stored, 4 * elements * recomputed)
    return Case(name, (inputs, consumers, elements), expected=expected)


EXERCISE = Exercise(
    key="ch14.consumers",
    title="store it, or compute it again",
    language="python",
    name="two_plans",
    cases=lambda: [_case(*plan) for plan in PLANS],
    hints=(
        "Write the arrays down that each kernel loads and stores, first for the plan with a kernel that stores the "
        "result.",
        "Stored: the producer loads its inputs and stores one array; each consumer loads that array and stores its "
        "own. "
        "Computed again: each consumer loads all inputs and stores its own array.",
        "stored = inputs + 1 + 2 * consumers, recomputed = consumers * (inputs + 1), each times 4 * elements.",
    ),
    solution="""
def two_plans(inputs, consumers, elements):
    producer = inputs + 1
    consumer = 1 + 1
    stored = producer + consumers * consumer
    recomputed = consumers * (inputs + 1)
    return 4 * elements * stored, 4 * elements * recomputed
""",
    why="With one input the second plan always moves fewer bytes. With three inputs both move the same for two "
    "consumers, "
    "and from three consumers on it is cheaper to store the result. Fusing a producer into each consumer multiplies "
    "its "
    "reads, and its arithmetic as well, by the number of consumers.",
    stretch="if all consumers themselves fit into one kernel, what does that one move?",
    mistakes=(
        Mistake(
            "the producer stores nothing",
            "The first plan's producer has to store its result, or no consumer could load it.",
            (("producer = inputs + 1", "producer = inputs"),),
        ),
        Mistake(
            "the consumers store nothing",
            "Each consumer stores its own result, in both plans.",
            (("consumer = 1 + 1", "consumer = 1"), ("consumers * (inputs + 1)", "consumers * inputs")),
        ),
        Mistake(
            "the inputs are loaded once for all consumers",
            "The consumers are kernels of their own: in the second plan each of them loads the inputs again.",
            (("consumers * (inputs + 1)", "inputs + consumers"),),
        ),
        Mistake(
            "the consumers load the inputs in the first plan",
            "In the first plan a consumer loads the stored result, and not the inputs.",
            (("consumer = 1 + 1", "consumer = inputs + 1"),),
        ),
        Mistake(
            "the plans are swapped",
            "Return the plan that stores first, then the one that computes again.",
            (("return 4 * elements * stored, 4 * elements * recomputed",
              "return 4 * elements * recomputed, 4 * elements * stored"),),
        ),
        Mistake(
            "elements are not bytes",
            "Count bytes: each element is a float, which has 4 of them.",
            (("return 4 * elements * stored, 4 * elements * recomputed",
              "return elements * stored, elements * recomputed"),),
        ),
    ),
)  # fmt: skip
