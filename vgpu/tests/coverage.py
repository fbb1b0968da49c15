"""Which instructions the tests execute, of which types, on which engine: recorded while they run.

`python -m pytest vgpu/tests -p vgpu.tests.coverage` writes `vgpu/COVERAGE.md`. A run of some tests only adds the
instructions that the page lacks. What counts is what was executed by the reference interpreter, and what was compiled
into a kernel that a test launched.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

from vgpu import isa
from vgpu.ptx import TYPE_BYTES, Instruction
from vgpu.tests.plugin import whole_engine

TARGET = Path(__file__).resolve().parents[1] / "COVERAGE.md"
HEAD = """# What the virtual GPU runs, and how each instruction is tested

Recorded while the tests ran (`python -m pytest vgpu/tests -p vgpu.tests.coverage`). *Cases* are generated kernels in
which an instruction of the table is applied to edge values and random ones, as vectors, warp-uniform values and
immediates, and both engines must leave the same bits. *Compiled* and *interpreted* are the tests in which the
instruction ran on that engine, compared with NumPy, with the other engine, or with counts derived by hand.

| instruction | types | cases | compiled in tests | interpreted in tests |
|---|---|---:|---:|---:|
"""

# Modifiers that make another operation of an opcode without a row in the table.
OPERATIONS = frozenset((
    "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", "up", "down", "bfly", "idx", "all",
    "any", "uni", "ballot", "popc", "arrive", "sync", "warp", "red", "global", "shared", "shared::cta",
    "shared::cluster", "local", "const", "param", "async", "bulk", "tensor", "commit_group", "wait_group",
    "wait_all", "load", "store", "mma", "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "init", "inval",
    "expect_tx", "complete_tx", "try_wait", "test_wait", "arrive_drop", "trans", "x1", "x2", "x4", "cluster",
    "wait",
))  # fmt: skip
_SHAPE = re.compile(r"m\d+n\d+(k\d+)?")

_compiled: dict[tuple[str, str], set[str]] = defaultdict(set)
_interpreted: dict[tuple[str, str], set[str]] = defaultdict(set)


def key(instruction: Instruction) -> tuple[str, str]:
    """(opcode with the modifier that makes it another operation, types)."""
    words = instruction.modifiers
    types = [w for w in words if w in TYPE_BYTES and w != "pred"] or [w for w in words if w == "pred"]
    found = isa.match(instruction.opcode, words)
    shape = [w for w in words if w in OPERATIONS or _SHAPE.fullmatch(w)]
    name = found.op.name if found else ".".join((instruction.opcode, *dict.fromkeys(w.split("::")[0] for w in shape)))
    if instruction.opcode == "cvt" and len(types) == 2:
        types = [f"{types[0]}←{types[1]}"]
    return name, ", ".join(dict.fromkeys(types)) or "–"


def _test() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]


def pytest_configure(config) -> None:
    from vgpu import reference
    from vgpu.launch import launch

    launching, executing = launch.launch, reference._execute

    def launched(kernel, *args, **named):
        test = _test()
        for function in kernel.module.module.functions.values():
            for statement in function.body or ():
                if isinstance(statement, Instruction):
                    _compiled[key(statement)].add(test)
        return launching(kernel, *args, **named)

    def execute(warp, frame, instruction, mask):
        _interpreted[key(instruction)].add(_test())
        return executing(warp, frame, instruction, mask)

    launch.launch, reference._execute = launched, execute


def pytest_sessionfinish(session, exitstatus) -> None:
    rows = table(_compiled, _interpreted)
    if not whole_engine(session.config):
        rows |= listed()
    TARGET.write_text(HEAD + "".join(f"{rows[name]}\n" for name in sorted(rows)), encoding="utf-8")


def listed() -> dict[str, str]:
    """The rows of the stored page, by instruction."""
    lines = TARGET.read_text(encoding="utf-8").splitlines()
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


def table(compiled, interpreted) -> dict[str, str]:
    """The rows of the page, by instruction."""
    from vgpu.tests import test_isa

    cases: dict[str, int] = {op.name: len(test_isa.cases_of(op)) for op in isa.TABLE}
    rows: dict[str, list] = {}
    for where, column in ((compiled, 1), (interpreted, 2)):
        for (name, types), tests in where.items():
            row = rows.setdefault(name, [set(), set(), set()])
            row[0] |= {types}
            row[column] |= tests
    lines = {}
    for name in rows.keys() | cases.keys():
        types, first, second = rows.get(name, [set(), set(), set()])
        told = " ".join(f"`{t}`" for t in sorted(types - {"–"})) or "–"
        lines[name] = f"| `{name}` | {told} | {cases.get(name, '–')} | {len(first)} | {len(second)} |"
    return lines
