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
from dataclasses import dataclass
from functools import cache

from helpers.models.growth import Counts, Footprint
from vgpu.hardware.gpus import GPU
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
    kind: str


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
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        return f"({inner(node.left)} {_SIGNS[type(node.op)]} {inner(node.right)})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"(-{inner(node.operand)})"
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return f"{float(node.value)!r}f"
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return f"{FUNCTIONS[node.func.id]}({', '.join(map(inner, node.args))})"
    raise ValueError(
        f"{text!r}: an operation is arithmetic (+ - * /) on names and numbers with the functions "
        f"{', '.join(FUNCTIONS)}; or one of {', '.join(REDUCTIONS)} of one name, and nothing else beside it"
    )


def _parsed(text: str, kinds: dict[str, str]) -> Operation:
    """One statement; `kinds` has the names known so far, and gets the new ones."""
    try:
        body = ast.parse(text.strip()).body
    except SyntaxError as error:
        raise ValueError(f"{text!r} is no operation: write it as 'y = x + bias'") from error
    if len(body) != 1 or not isinstance(body[0], ast.Assign) or not isinstance(body[0].targets[0], ast.Name):
        raise ValueError(f"{text!r} is no operation: write it as 'y = x + bias'")
    name, value = body[0].targets[0].id, body[0].value
    if name in kinds:
        raise ValueError(f"{text!r}: {name} has a value already; give each result a name of its own")
    called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    reduces = called if called in REDUCTIONS else ""
    inner = value.args[0] if reduces and len(value.args) == 1 else value
    code = _code(inner, text)
    functions = {id(node.func) for node in ast.walk(inner) if isinstance(node, ast.Call)}
    found = [node.id for node in ast.walk(inner) if isinstance(node, ast.Name) and id(node) not in functions]
    reads = tuple(dict.fromkeys(found))
    if not reads:
        raise ValueError(f"{text!r} reads nothing")
    for each in (name, *reads):
        if each in RESERVED or each in REDUCTIONS or each in FUNCTIONS:
            raise ValueError(f"{text!r}: the kernels use the name {each} themselves; choose another one")
    for each in reads:
        kinds.setdefault(each, MATRIX)
    wide = any(kinds[each] != COLUMN for each in reads)
    if reduces and not wide:
        raise ValueError(f"{text!r}: {reads[0]} has one value a row already, so there is nothing to reduce")
    kinds[name] = COLUMN if reduces or not wide else MATRIX
    return Operation(name, text.strip(), reads, code, reduces, kinds[name])


@dataclass(frozen=True, eq=False)
class Operations:
    """Operations in their order, the kind of each name, and the names that are wanted at the end."""

    steps: tuple[Operation, ...]
    kinds: dict[str, str]
    wanted: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that no operation makes."""
        made = {step.name for step in self.steps}
        return tuple(name for name in self.kinds if name not in made)

    def groups(self, cuts: Sequence[int]) -> list[Group]:
        """The kernels when the list is cut behind the operations of these numbers."""
        ends = sorted({*cuts, len(self) - 1})
        return [self.group(first, stop + 1) for first, stop in zip([0, *(end + 1 for end in ends)], ends, strict=False)]

    def group(self, first: int, stop: int) -> Group:
        """Operations `first` up to `stop`, which is not among them, as one kernel."""
        inside = self.steps[first:stop]
        made = {step.name for step in inside}
        reads = dict.fromkeys(name for step in inside for name in step.reads if name not in made)
        later = {name for step in self.steps[stop:] for name in step.reads} | set(self.wanted)
        return Group(first, stop, tuple(reads), tuple(step.name for step in inside if step.name in later))

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

    def on(self, group: Group, rows: int, columns: int, gpu: GPU):
        """Occupancy (compiler) and time (modelled) of a group's kernel on so many rows, from what 8 rows count."""
        run = self.counted(group.first, group.stop, columns)
        times = lambda count: count * rows // ROWS_RUN
        total = {key: times(count) for key, count in run.counters.total.items()}
        footprint = Footprint(*self.moved(group, rows, columns))
        counters = run.counters
        counts = Counts(total, footprint, (rows,), counters.block, times(counters.warps), counters.shared_bytes)
        return modelled(run.kernel, counts, gpu)


def operations(statements: Sequence[str], *, vectors: Sequence[str] = (), keep: Sequence[str] = ()) -> Operations:
    """Statements such as "y = x + bias" in the order in which they run.

    Names on the right that no statement makes are inputs: matrices, or vectors with a value for each column where
    `vectors` names them. `max`, `sum` and `mean` of one name go over each row. Wanted at the end is what no statement
    reads, and what `keep` names. ValueError for what is no operation; TypeError for one text in place of a list.
    """
    if isinstance(statements, str):
        raise TypeError("operations are a list of statements, such as ['z = x + bias', 'y = tanh(z)']")
    kinds = dict.fromkeys(vectors, VECTOR)
    steps = tuple(_parsed(text, kinds) for text in statements)
    if not steps:
        raise ValueError("there is no operation: give at least one, such as ['y = x + bias']")
    read = {name for step in steps for name in step.reads}
    made = [step.name for step in steps]
    if lost := [name for name in (*vectors, *keep) if name not in read | set(made)]:
        raise ValueError(f"no operation reads or makes {lost[0]!r}")
    wanted = tuple(name for name in made if name not in read or name in keep)
    return Operations(steps, kinds, wanted)


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
    each = (columns + threads - 1) // threads
    parts = _parts(found.steps[group.first : group.stop])
    wide = lambda name: found.kinds[name] != COLUMN
    used = [[name for step in part for name in step.reads if wide(name)] for part in parts]
    kept = lambda name, at: any(name in later for later in used[at + 1 :])  # needed once more in a later part
    place = {MATRIX: "row * columns + i", VECTOR: "i", COLUMN: "row"}
    lines, there = [], set()
    for name in group.reads:
        if not wide(name):
            lines.append(f"float {name} = in_{name}[row];")
    for at, part in enumerate(parts):
        inside, closing = [], []
        for name in dict.fromkeys(used[at]):
            if name in there:
                inside.append(f"float {name} = kept_{name}[k];")
            elif name in group.reads:
                inside.append(f"float {name} = in_{name}[{place[found.kinds[name]]}];")
        for step in part:
            if step.reduces:
                start, join = REDUCTIONS[step.reduces]
                lines.append(f"float sum_{step.name} = {start};")
                inside.append(f"sum_{step.name} = {join}(sum_{step.name}, {step.code});")
                share = " / columns" if step.reduces == "mean" else ""
                closing.append(f"float {step.name} = all_{step.reduces}(sum_{step.name}, shared){share};")
            elif wide(step.name):
                inside.append(f"float {step.name} = {step.code};")
            else:
                lines.append(f"float {step.name} = {step.code};")
            if step.name in group.writes:
                end = f"out_{step.name}[{place[found.kinds[step.name]]}] = {step.name};"
                if wide(step.name):
                    inside.append(end)
                else:
                    (closing if step.reduces else lines).append(f"if (threadIdx.x == 0) {end}")
        for name in dict.fromkeys([*used[at], *(step.name for step in part if wide(step.name))]):
            if kept(name, at) and name not in there:
                there.add(name)
                lines.append(f"float kept_{name}[{each}];")
                inside.append(f"kept_{name}[k] = {name};")
        if inside:
            lines += ["#pragma unroll", f"for (int k = 0; k < {each}; ++k) {{"]
            lines += [f"    int i = threadIdx.x + {threads} * k;", "    if (i < columns) {"]
            lines += [f"        {line}" for line in inside] + ["    }", "}"]
        lines += closing
    ins = [f"const float* in_{name}" for name in group.reads]
    outs = [f"float* out_{name}" for name in group.writes]
    reduced = {step.reduces for part in parts for step in part if step.reduces}
    head = _HELPERS + "".join(
        _REDUCE.format(name=name, start=REDUCTIONS[name][0], join=REDUCTIONS[name][1]) for name in sorted(reduced)
    )
    shared = ["    __shared__ float shared[32];"] if reduced else []
    body = [f"    {line}" if not line.startswith("#") else line for line in lines]
    signature = f'extern "C" __global__ void group({", ".join([*ins, *outs])}, int columns) {{'
    return "\n".join([head + signature, *shared, "    int row = blockIdx.x;", *body, "}"]) + "\n"


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
