"""What a chain of element-wise operations moves: an array after every operation, or the ends alone."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

GELU = [(("x",), "cube"), (("cube",), "part"), (("x", "part"), "inner"), (("inner",), "t"), (("x", "t"), "y")]
CHAINS = {
    "one operation": ([(("x", "y"), "z")], ["z"], 1),
    "a square": ([(("x", "x"), "z")], ["z"], 1000),
    "a residual block": ([(("x", "bias"), "z"), (("z",), "a"), (("a", "x"), "y")], ["y"], 100),
    "a chain whose middle is wanted": ([(("x", "bias"), "z"), (("z",), "y")], ["z", "y"], 1000),
    "GELU, operation by operation": (GELU, ["y"], 4096),
    "two chains from one input": ([(("x",), "a"), (("x",), "b"), (("a", "b", "w"), "y")], ["a", "y"], 12),
}


def _moved(operations, wanted, elements) -> tuple[int, int]:
    made = {output for _, output in operations}
    read = {name for inputs, _ in operations for name in inputs}
    apart = sum(len(set(inputs)) + 1 for inputs, _ in operations)
    return 4 * elements * apart, 4 * elements * (len(read - made) + len(wanted))


def _case(name: str) -> Case:
    elements = CHAINS[name][2]
    expected = _moved(*CHAINS[name])
    return Case(f"{name}, {plural(elements, 'element')}", CHAINS[name], expected=expected)


EXERCISE = Exercise(
    key="ch14.chain",
    title="the bytes of a chain",
    language="python",
    name="chain_bytes",
    cases=lambda: [_case(name) for name in CHAINS],
    hints=(
        "Take one operation as a kernel of its own. Which arrays does it load, and which does it store?",
        "The fused kernel loads what no operation of the chain makes, each array once. It stores what is wanted.",
        "separate += len(set(inputs)) + 1 for each operation; fused is len(read - made) + len(wanted), with the sets "
        "of all names that are read and of all that are made. A float has 4 bytes.",
    ),
    solution="""
def chain_bytes(operations, wanted, elements):
    made, read = set(), set()
    separate = 0
    for inputs, output in operations:
        separate += len(set(inputs)) + 1
        read.update(inputs)
        made.add(output)
    fused = len(read - made) + len(wanted)
    return 4 * elements * separate, 4 * elements * fused
""",
    why="A separate kernel must load its inputs and store its output, so the bytes grow with the number of operations. "
    "The fused kernel has to touch only what crosses the border of the chain: the arrays that come in, and those that "
    "somebody wants. These are its compulsory bytes. A result that is wanted has to be written even in the middle.",
    stretch="the explorer's operations have vectors and columns too. What would you pass in place of `elements`?",
    mistakes=(
        Mistake(
            "an input that is used twice is loaded twice",
            "x * x loads x once: the thread has its element in a register and uses it twice.",
            (("len(set(inputs)) + 1", "len(inputs) + 1"),),
        ),
        Mistake(
            "the fused kernel is charged like separate ones",
            "The second number is that of a single kernel: it loads what comes from outside, and stores what is "
            "wanted.",
            (("4 * elements * fused", "4 * elements * separate"),
             (("len(set(inputs)) + 1", "len(inputs) + 1"), ("4 * elements * fused", "4 * elements * separate"))),
        ),
        Mistake(
            "nothing is stored by the separate kernels",
            "Each separate kernel stores its output as well: the next one has no other way to get it.",
            (("len(set(inputs)) + 1", "len(set(inputs))"),),
        ),
        Mistake(
            "the fused kernel loads what it has made",
            "What the fused kernel has computed stays in a register. It loads what no operation of the chain makes.",
            (("len(read - made)", "len(read)"),),
        ),
        Mistake(
            "one result only",
            "Everything that is wanted must be stored, also a result in the middle of the chain.",
            (("+ len(wanted)", "+ 1"),),
        ),
        Mistake(
            "the fused kernel stores nothing",
            "The fused kernel must store the results that are wanted, or nobody would have them.",
            (("len(read - made) + len(wanted)", "len(read - made)"),),
        ),
        Mistake(
            "everything that is made is stored",
            "The fused kernel stores only what is wanted. The other results never leave their registers.",
            (("+ len(wanted)", "+ len(made)"),),
        ),
        Mistake(
            "elements are not bytes",
            "Count bytes: each element is a float, which has 4 of them.",
            (("return 4 * elements * separate, 4 * elements * fused", "return elements * separate, elements * fused"),),
        ),
        Mistake(
            "of one element",
            "That is for one element, and every array has `elements` of them.",
            (("return 4 * elements * separate, 4 * elements * fused", "return 4 * separate, 4 * fused"),),
        ),
    ),
)  # fmt: skip
