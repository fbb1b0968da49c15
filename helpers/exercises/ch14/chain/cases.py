from __future__ import annotations

from helpers.checking.exercise import Case, plural

Operations = list[tuple[tuple[str, ...], str]]
GELU: Operations = [
    (("x",), "cube"),
    (("cube",), "part"),
    (("x", "part"), "inner"),
    (("inner",), "t"),
    (("x", "t"), "y"),
]
CHAINS: dict[str, tuple[Operations, list[str], int]] = {
    "one operation": ([(("x", "y"), "z")], ["z"], 1),
    "a square": ([(("x", "x"), "z")], ["z"], 1000),
    "a residual block": ([(("x", "bias"), "z"), (("z",), "a"), (("a", "x"), "y")], ["y"], 100),
    "a chain whose middle is wanted": ([(("x", "bias"), "z"), (("z",), "y")], ["z", "y"], 1000),
    "GELU, operation by operation": (GELU, ["y"], 4096),
    "two chains from one input": ([(("x",), "a"), (("x",), "b"), (("a", "b", "w"), "y")], ["a", "y"], 12),
}


def _moved(operations: Operations, wanted: list[str], elements: int) -> tuple[int, int]:
    made = {output for _, output in operations}
    read = {name for inputs, _ in operations for name in inputs}
    apart = sum(len(set(inputs)) + 1 for inputs, _ in operations)
    return 4 * elements * apart, 4 * elements * (len(read - made) + len(wanted))


def _case(name: str) -> Case:
    elements = CHAINS[name][2]
    expected = _moved(*CHAINS[name])
    return Case(f"{name}, {plural(elements, 'element')}", CHAINS[name], expected=expected)


def cases() -> list[Case]:
    return [_case(name) for name in CHAINS]
