"""The bytes of attention weights that a network keeps for its backward pass."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

NETWORKS = (  # layers, batch, heads, length, bytes an element
    (1, 1, 1, 1, 4), (1, 1, 1, 7, 4), (1, 3, 2, 5, 2), (12, 8, 12, 1024, 2), (2, 5, 3, 100, 4), (24, 64, 16, 512, 2),
)  # fmt: skip


def _case(layers: int, batch: int, heads: int, length: int, itemsize: int) -> Case:
    name = f"{plural(layers, 'layer')}, batch {batch}, {plural(heads, 'head')}, length {length}, {itemsize} bytes each"
    return Case(name, (layers, batch, heads, length, itemsize), expected=layers * batch * heads * length**2 * itemsize)


ALL = "layers * batch * heads * length * length * itemsize"

EXERCISE = Exercise(
    key="ch17.score_bytes",
    title="the bytes of attention weights",
    language="python",
    name="score_bytes",
    cases=lambda: [_case(*row) for row in NETWORKS],
    hints=(
        "Begin with one head of one sequence. How many weights does it have: one for each query and each …?",
        "One head has length · length weights. Every head of every sequence has a matrix of its own.",
        "layers * batch * heads * length * length * itemsize.",
    ),
    solution=f"""
def score_bytes(layers, batch, heads, length, itemsize):
    return {ALL}
""",
    why="Everything grows in proportion but the length, which counts twice. So a batch of half the size makes room for "
    "sequences 1.4 times as long, and no more. The width of a head is in none of this.",
    stretch="how long must the sequence be for the weights to take more bytes than Q, K, V and O of the same layer?",
    mistakes=(
        Mistake(
            "the length counts once",
            "There is a weight for each pair of a query and a key, so the length counts twice.",
            (("length * length", "length"), ("length * length", "2 * length")),
        ),
        Mistake(
            "one head",
            "Each head computes weights of its own: that is what it is there for.",
            (("heads * ", ""),),
        ),
        Mistake(
            "one sequence",
            "The sequences of a batch do not attend to each other; each has matrices of its own.",
            (("batch * ", ""),),
        ),
        Mistake(
            "one layer",
            "Each layer keeps its weights until the backward pass has come back to it.",
            (("layers * ", ""),),
        ),
        Mistake(
            "numbers are not bytes",
            "That is how many weights there are. Each takes `itemsize` bytes.",
            ((" * itemsize", ""),),
        ),
        Mistake(
            "always 4 bytes",
            "A weight takes `itemsize` bytes: 4 in FP32, 2 in FP16 and BF16.",
            (("itemsize\n", "4\n"),),
        ),
        Mistake(
            "only what a causal mask leaves",
            "The matrix is stored whole, masked or not. What the mask hides is stored as zeros.",
            (("length * length", "length * (length + 1) // 2"), ("length * length", "length * length // 2")),
        ),
    ),
)  # fmt: skip
