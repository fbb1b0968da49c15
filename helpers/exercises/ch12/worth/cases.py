from __future__ import annotations

from helpers.checking.exercise import Case

KERNEL, TO_GPU, BACK = "add(int, float *, float *)", "[CUDA memcpy Unified H2D]", "[CUDA memcpy Unified D2H]"
FAULTS = f"""\
Time (%) Time (ns) Instances  Category    Operation
-------- --------- --------- ----------- ----------------------
   79.6 4,514,384      1      CUDA_KERNEL {KERNEL}
   14.2   807,245     64      MEMORY_OPER {TO_GPU}
    6.2   353,201     24      MEMORY_OPER {BACK}
"""
PREFETCHED = f"""\
Time (%) Time (ns) Instances  Category    Operation
-------- --------- --------- -----------  ----------------------
   63.2   690,043     4     MEMORY_OPER  {TO_GPU}
   32.4   353,647    24     MEMORY_OPER  {BACK}
    4.4    47,520     1     CUDA_KERNEL  {KERNEL}
"""
"""What Nsight Systems printed for https://developer.nvidia.com/blog/even-easier-introduction-cuda/."""

# name, rows (operation, total ns, instances), by how many times each could be made faster
GIVEN: tuple[tuple[str, list[tuple[str, int, int]], dict[str, float]], ...] = (
    (
        "the largest row is as fast as it can be",
        [("gemm", 700_000, 10), ("softmax", 300_000, 40)],
        {"gemm": 1, "softmax": 3},
    ),
    (
        "a little from much, much from little",
        [("gemm", 900_000, 5), ("dropout", 60_000, 5), ("copy", 40_000, 90)],
        {"gemm": 1.125, "dropout": 20, "copy": 40},
    ),
    (
        "the greatest factor saves least",
        [("norm", 400_000, 8), ("gelu(float *)", 350_000, 8), ("fill", 10_000, 99)],
        {"norm": 1.25, "gelu(float *)": 5, "fill": 10},
    ),
    (
        "many short ones",
        [("attention", 500_000, 1), ("add_", 300_000, 600), ("mul_", 200_000, 600)],
        {"attention": 1.25, "add_": 6, "mul_": 4},
    ),
)


def _printed(rows: list[tuple[str, int, int]]) -> str:
    """The same as Nsight Systems prints it."""
    whole = sum(total for _, total, _ in rows)
    lines = [f"{100 * total / whole:7.1f} {total:9,} {count:6}      CUDA_KERNEL {name}" for name, total, count in rows]
    return "\n".join([*FAULTS.splitlines()[:2], *lines]) + "\n"


def _case(name: str, table: str, factors: dict[str, float]) -> Case:
    times = {}
    for line in table.splitlines()[2:]:
        _, total, _, _, operation = line.split(maxsplit=4)
        times[operation] = int(total.replace(",", ""))
    whole = sum(times.values())
    saved = {operation: total - total / factors[operation] for operation, total in times.items()}
    best = max(saved, key=saved.__getitem__)
    return Case(name, (table, factors), expected=(best, round(whole / (whole - saved[best]), 2)))


def cases() -> list[Case]:
    published = (
        ("NVIDIA's kernel, with page faults", FAULTS, {KERNEL: 95, TO_GPU: 1.25, BACK: 1}),
        ("the same with a prefetch", PREFETCHED, {KERNEL: 1.25, TO_GPU: 1.5, BACK: 4}),
    )
    made = ((name, _printed(rows), factors) for name, rows, factors in GIVEN)
    return [_case(*each) for each in (*published, *made)]
