"""Operations on the rows of a matrix, grouped into kernels: launches and bytes from shapes, and what the kernels count.

    steps = operations(["z = x + bias", "m = max(z)", "e = exp(z - m)", "s = sum(e)", "y = e / s"], vectors=["bias"])
    steps.kernel(0, 5)          # all of it as one kernel, in CUDA C
    steps.counted(0, 5, 1024)   # its profile on a few rows of 1,024 columns

A group of neighbouring operations becomes one kernel, a block to a row: it reads each array that comes from outside
once, keeps the row in registers, and writes what somebody outside needs. Each name is a matrix, a vector (one value a
column, the same for all rows) or a column (one value a row: the result of a reduction).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from vgpu.hardware.gpus import GPU
from vgpu.hardware.occupancy import Occupancy
from vgpu.hardware.time_model import Model
from vgpu.launch.counters import Footprint
from vgpu.tools.profile import Profile, modelled

ITEM = 4
"""Bytes of a float."""
ROWS_RUN = 8
"""Rows on which a kernel is counted: the values of a column then fill a sector."""
MOST_THREADS = 256
MATRIX, VECTOR, COLUMN = "matrix", "vector", "column"
REDUCTIONS = {"max": ("__int_as_float(0xff800000)", "fmaxf"), "sum": ("0.0f", "joined"), "mean": ("0.0f", "joined")}
FUNCTIONS = {
    "abs": "fabsf", "cos": "cosf", "erf": "erff", "exp": "expf", "log": "logf", "maximum": "fmaxf", "minimum": "fminf",
    "rsqrt": "rsqrtf", "sigmoid": "sigmoid", "sin": "sinf", "sqrt": "sqrtf", "tanh": "tanhf",
}  # fmt: skip
RESERVED = {"i", "k", "row", "columns", "shared", "float", "int", "if", "for", "group"}
"""Names that the kernels use themselves."""
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


@dataclass(frozen=True)
class Operation:
    """One operation: `name = text`. `code` is its right side in C, `reduces` the reduction that it is, or ""."""

    name: str
    text: str
    reads: tuple[str, ...]
    code: str
    reduces: str


@dataclass(frozen=True)
class Group:
    """What one kernel of neighbouring operations moves: names read from memory, and names written to it."""

    first: int
    stop: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def _code(node: ast.expr, text: str) -> str:
    """C of an expression. ValueError for what is no arithmetic on names and numbers."""
    inner = lambda each: _code(each, text)
    match node:
        case ast.BinOp(left, op, right) if type(op) in _SIGNS:
            return f"({inner(left)} {_SIGNS[type(op)]} {inner(right)})"
        case ast.UnaryOp(ast.USub(), operand):
            return f"(-{inner(operand)})"
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return f"{float(value)!r}f"
        case ast.Name(name) if name not in FUNCTIONS:
            return name
        case ast.Call(ast.Name(name), args) if name in FUNCTIONS:
            return f"{FUNCTIONS[name]}({', '.join(map(inner, args))})"
    raise ValueError(
        f"{text!r}: an operation is arithmetic (+ - * /) on names and numbers with the functions "
        f"{', '.join(FUNCTIONS)}; or one of {', '.join(REDUCTIONS)} of one value, and nothing else beside it"
    )


def _parsed(text: str, kinds: dict[str, str]) -> Operation:
    """One statement; `kinds` has the names known so far, and gets the new ones."""
    try:
        (statement,) = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        statement = None
    match statement:
        case ast.Assign([ast.Name(name)], value):
            pass
        case _:
            raise ValueError(f"{text!r} is no operation: write it as 'y = x + bias'")
    if name in kinds:
        raise ValueError(f"{text!r}: {name} has a value already; give each result a name of its own")
    reduces = ""
    match value:
        case ast.Call(ast.Name(called), [inner]) if called in REDUCTIONS:
            reduces, value = called, inner
    code = _code(value, text)
    names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
    reads = tuple(dict.fromkeys(name for name in names if name not in FUNCTIONS))
    if not reads:
        raise ValueError(f"{text!r} reads nothing")
    if taken := {name, *reads} & {*RESERVED, *REDUCTIONS, *FUNCTIONS}:
        raise ValueError(f"{text!r}: the kernels use the name {min(taken)} themselves; choose another one")
    wide = {kinds.setdefault(each, MATRIX) for each in reads} != {COLUMN}
    if reduces and not wide:
        raise ValueError(f"{text!r}: {reads[0]} has one value a row already, so there is nothing to reduce")
    kinds[name] = COLUMN if reduces or not wide else MATRIX
    return Operation(name, text.strip(), reads, code, reduces)


@dataclass(frozen=True, eq=False)
class Operations:
    """Operations in their order, and the kind of each name."""

    steps: tuple[Operation, ...]
    kinds: dict[str, str]

    def __len__(self) -> int:
        return len(self.steps)

    def wide(self, name: str) -> bool:
        """Whether a name has a value for each column."""
        return self.kinds[name] != COLUMN

    def place(self, name: str) -> str:
        """The element of a name in C, at row `row` and column `i`."""
        return f"{name}[{ {MATRIX: 'row * columns + i', VECTOR: 'i', COLUMN: 'row'}[self.kinds[name]] }]"

    def groups(self, cuts: Sequence[int]) -> list[Group]:
        """The kernels when the list is cut behind the operations of these numbers."""
        ends = sorted({*cuts, len(self) - 1})
        return [self.group(first, stop + 1) for first, stop in zip([0, *(end + 1 for end in ends)], ends, strict=False)]

    def group(self, first: int, stop: int) -> Group:
        """Operations `first` up to `stop`, which is not among them, as one kernel."""
        inside = self.steps[first:stop]
        made = dict.fromkeys(step.name for step in inside)
        reads = dict.fromkeys(name for step in inside for name in step.reads if name not in made)
        later, read = ({name for step in steps for name in step.reads} for steps in (self.steps[stop:], self.steps))
        writes = tuple(name for name in made if name in later or name not in read)
        return Group(first, stop, tuple(reads), writes)

    def elements(self, name: str, rows: int, columns: int) -> int:
        """How many numbers a name stands for."""
        return {MATRIX: rows * columns, VECTOR: columns, COLUMN: rows}[self.kinds[name]]

    def moved(self, group: Group, rows: int, columns: int) -> tuple[int, int]:
        """Bytes that the kernel of a group must read, and write."""
        count = lambda names: ITEM * sum(self.elements(name, rows, columns) for name in names)
        return count(group.reads), count(group.writes)

    def kernel(self, first: int, stop: int, columns: int) -> str:
        """CUDA C of the kernel of a group, for rows of that length."""
        return _source(self, self.group(first, stop), columns)

    def counted(self, first: int, stop: int, columns: int) -> Profile:
        """The kernel of a group, run and counted on 8 rows of that length."""
        return _counted(self, first, stop, columns)

    def on(self, group: Group, rows: int, columns: int, gpu: GPU) -> tuple[Occupancy, Model]:
        """Occupancy (compiler) and time (modelled) of a group's kernel on so many rows, from what 8 rows count."""
        run = self.counted(group.first, group.stop, columns)
        times = lambda count: count * rows // ROWS_RUN
        total = {key: times(count) for key, count in run.counters.total.items()}
        footprint = Footprint(*self.moved(group, rows, columns))
        warps = times(run.counters.warps)
        counters = replace(run.counters, total=total, footprint=footprint, grid=(rows, 1, 1), warps=warps)
        return modelled(run.kernel, counters, gpu)


def operations(statements: Sequence[str], *, vectors: Sequence[str] = ()) -> Operations:
    """Statements such as "y = x + bias" in the order in which they run.

    Names on the right that no statement makes are inputs: matrices, or vectors with a value for each column where
    `vectors` names them. `max`, `sum` and `mean` of one value go over each row. What no statement reads is the result.
    ValueError for what is no operation; TypeError for one text in place of a list.
    """
    if isinstance(statements, str):
        raise TypeError("operations are a list of statements, such as ['z = x + bias', 'y = tanh(z)']")
    kinds = dict.fromkeys(vectors, VECTOR)
    steps = tuple(_parsed(text, kinds) for text in statements)
    if not steps:
        raise ValueError("there is no operation: give at least one, such as ['y = x + bias']")
    if lost := set(vectors) - {name for step in steps for name in step.reads}:
        raise ValueError(f"no operation reads {min(lost)!r}")
    return Operations(steps, kinds)


# --- the kernel of a group -------------------------------------------------------------------------------------------

_HELPERS = """\
__device__ float joined(float a, float b) { return a + b; }
__device__ float sigmoid(float a) { return 1.0f / (1.0f + expf(-a)); }
"""
_REDUCE = """\
__device__ float all_{name}(float value, float* shared) {{       // over all threads of the block
    for (int step = 16; step > 0; step /= 2) value = {join}(value, __shfl_xor_sync(0xffffffff, value, step));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < blockDim.x / 32 ? shared[threadIdx.x % 32] : {start};
    for (int step = 16; step > 0; step /= 2) value = {join}(value, __shfl_xor_sync(0xffffffff, value, step));
    __syncthreads();
    return value;
}}
"""


def threads_for(columns: int) -> int:
    """Threads of a block for rows of that length: whole warps, 256 at most."""
    return min(MOST_THREADS, 32 * ((columns + 31) // 32))


def _parts(steps: Sequence[Operation]) -> list[list[Operation]]:
    """The operations of a kernel in parts: each ends with a reduction, for which all threads wait."""
    parts: list[list[Operation]] = [[]]
    for step in steps:
        parts[-1].append(step)
        if step.reduces:
            parts.append([])
    return [part for part in parts if part]


def _source(found: Operations, group: Group, columns: int) -> str:
    threads = threads_for(columns)
    each = -(-columns // threads)
    steps = found.steps[group.first : group.stop]
    lines = [f"float {name} = in_{name}[row];" for name in group.reads if not found.wide(name)]
    parts, kept = _parts(steps), set[str]()
    while parts:
        part, *parts = parts
        later = {name for other in parts for step in other for name in step.reads}
        before, inside, after = _part(found, group, part, kept)
        known = dict.fromkeys(name for step in part for name in step.reads) | dict.fromkeys(step.name for step in part)
        for name in known:
            if found.wide(name) and name in later - kept:
                kept.add(name)
                before.append(f"float kept_{name}[{each}];")
                inside.append(f"kept_{name}[k] = {name};")
        loop = ["#pragma unroll", f"for (int k = 0; k < {each}; ++k) {{", f"    int i = threadIdx.x + {threads} * k;"]
        loop += ["    if (i < columns) {", *(f"        {line}" for line in inside), "    }", "}"]
        lines += [*before, *(loop if inside else []), *after]
    reduced = sorted({step.reduces for step in steps} - {""})
    head = "".join(_REDUCE.format(name=each, start=REDUCTIONS[each][0], join=REDUCTIONS[each][1]) for each in reduced)
    params = [*(f"const float* in_{name}" for name in group.reads), *(f"float* out_{name}" for name in group.writes)]
    shared = ["    __shared__ float shared[32];"] if reduced else []
    body = [f"    {line}" if not line.startswith("#") else line for line in lines]
    signature = f'extern "C" __global__ void group({", ".join(params)}, int columns) {{'
    return "\n".join([_HELPERS + head + signature, *shared, "    int row = blockIdx.x;", *body, "}"]) + "\n"


def _part(found: Operations, group: Group, part: list[Operation], kept: set[str]) -> tuple[list, list, list]:
    """Lines before the loop over a row, in it, and after it. kept: the names whose row is in registers."""
    before, inside, after = [], [], []
    for name in dict.fromkeys(name for step in part for name in step.reads if found.wide(name)):
        if name in kept or name in group.reads:
            inside.append(f"float {name} = {f'kept_{name}[k]' if name in kept else f'in_{found.place(name)}'};")
    for step in part:
        name, wide = step.name, found.wide(step.name)
        if step.reduces:
            start, join = REDUCTIONS[step.reduces]
            share = " / columns" if step.reduces == "mean" else ""
            before.append(f"float sum_{name} = {start};")
            inside.append(f"sum_{name} = {join}(sum_{name}, {step.code});")
            after.append(f"float {name} = all_{step.reduces}(sum_{name}, shared){share};")
        else:
            (inside if wide else before).append(f"float {name} = {step.code};")
        if name in group.writes:
            lines = inside if wide else after if step.reduces else before
            lines.append(f"{'' if wide else 'if (threadIdx.x == 0) '}out_{found.place(name)} = {name};")
    return before, inside, after


@cache
def _counted(found: Operations, first: int, stop: int, columns: int) -> Profile:
    import numpy as np

    from vgpu.standins import cupy  # counted on the virtual GPU, wherever the notebook runs
    from vgpu.tools.profile import profile

    group = found.group(first, stop)
    dice = np.random.default_rng(0)
    shape = lambda name: found.elements(name, ROWS_RUN, columns)
    ins = [cupy.asarray((0.5 + dice.random(shape(name))).astype(np.float32)) for name in group.reads]
    outs = [cupy.empty(shape(name), np.float32) for name in group.writes]
    kernel = cupy.RawKernel(_source(found, group, columns), "group")
    return profile(kernel, (ROWS_RUN,), (threads_for(columns),), (*ins, *outs, np.int32(columns)))
