"""How many kernels a simple compiler makes of a list of operations."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

LISTS = (
    ["pointwise"],
    ["pointwise", "pointwise", "pointwise"],
    ["matmul", "pointwise", "pointwise"],
    ["matmul", "matmul"],
    ["row", "pointwise", "row", "pointwise"],
    ["row", "pointwise", "column"],
    ["pointwise", "column", "pointwise", "row", "row"],
    ["matmul", "pointwise", "row", "pointwise", "matmul", "pointwise", "column", "row"],
)


def _count(kinds: list[str]) -> int:
    kernels, axis, opened = 0, None, False
    for kind in kinds:
        if kind == "matmul":
            kernels, axis, opened = kernels + 1, None, False
            continue
        if not opened or (kind != "pointwise" and axis not in (None, kind)):
            kernels, axis, opened = kernels + 1, None, True
        if kind != "pointwise":
            axis = kind
    return kernels


EXERCISE = Exercise(
    key="ch14.kernels",
    title="the kernels that a compiler makes",
    language="python",
    name="kernels",
    cases=lambda: [Case(", ".join(kinds), (kinds,), expected=_count(kinds)) for kinds in LISTS],
    hints=(
        "Go through the list from left to right, and remember what the kernel at hand holds already. What makes you "
        "begin "
        "a new one?",
        "A matmul ends the kernel at hand. So does a reduction over another axis than the one that the kernel has.",
        "Keep `axis`: None while the kernel has no reduction. For 'row' or 'column': if axis is not None and differs, "
        "count a new kernel. After a matmul the next operation begins a new kernel.",
    ),
    solution="""
def kernels(kinds):
    count = 0
    opened = False
    axis = None
    for kind in kinds:
        if kind == "matmul":
            count += 1
            opened = False
            continue
        other = kind != "pointwise" and axis is not None and kind != axis
        if not opened or other:
            count += 1
            opened = True
            axis = None
        if kind != "pointwise":
            axis = kind
    return count
""",
    why="A pointwise operation goes along with any kernel, because each thread has its element already. A reduction "
    "over "
    "rows fits where a block holds whole rows; a reduction over columns needs another division of the work, so it "
    "starts "
    "anew. And a library's product is a kernel that nobody can write into, unless the library offers an epilogue.",
    stretch="let a matmul take the pointwise operations behind it as its epilogue. By how many kernels does the last "
    "case "
    "shrink?",
    mistakes=(
        Mistake(
            "each operation is a kernel",
            "That is eager execution. Pointwise operations go into the kernel before them.",
            (("if not opened or other:", "if True:"), "def kernels(kinds):\n    return len(kinds)\n"),
        ),
        Mistake(
            "a pointwise operation joins the matmul",
            "Here a matmul is the library's kernel: what follows it begins a kernel of its own.",
            (("            opened = False\n            continue", "            opened = True\n            continue"),),
        ),
        Mistake(
            "all reductions share a kernel",
            "A kernel that reduces rows cannot go on with a reduction over columns: begin a new one.",
            (("if not opened or other:", "if not opened:"),),
        ),
        Mistake(
            "no two reductions share a kernel",
            "Two reductions over the same axis fit into one kernel, as the maximum and the sum of a softmax do.",
            ((' and kind != axis', ''),),
        ),
        Mistake(
            "the matmuls are not counted",
            "A product of the library is a launch too.",
            (('            count += 1\n            opened = False', '            opened = False'),),
        ),
        Mistake(
            "the axis of an earlier kernel is remembered",
            "A new kernel has no reduction yet: forget the axis when you begin one.",
            (("            axis = None\n        if kind", "        if kind"),),
        ),
    ),
)  # fmt: skip
