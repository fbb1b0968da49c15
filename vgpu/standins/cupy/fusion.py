"""`cp.fuse`: a function of arrays, traced once and run as one kernel, or one per reduction and one more.

    @cp.fuse
    def gelu(x, bias):
        z = x + bias
        return 0.5 * z * (1 + cp.tanh(0.79788456 * (z + 0.044715 * z * z * z)))

Element-wise work becomes one ElementwiseKernel, however long it is. A final reduction becomes one ReductionKernel with
the element-wise work before it, and after it if that needs only the result. Where later work needs inputs too, such as
the division of a softmax, each reduction is a separate kernel and its inputs are recomputed; CuPy makes one kernel of
such functions, whose blocks wait for one another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vgpu.standins.cupy.codegen import C_TYPES
from vgpu.standins.cupy.convert import mixing
from vgpu.standins.cupy.creation import empty
from vgpu.standins.cupy.elementwise import ElementwiseKernel
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.reduction import ReductionKernel
from vgpu.standins.cupy.traced import EXPRESSIONS, PREAMBLE, REDUCTIONS, Kind, Node, Traced, argument

_HALF = np.dtype("float16")


def fuse(*args: Callable, **kwargs: str) -> Any:
    """Decorator: the function becomes one kernel. `@cp.fuse`, `@cp.fuse()` or `@cp.fuse(kernel_name="…")`."""
    unknown = set(kwargs) - {"kernel_name"}
    if unknown:
        raise TypeError(f"fuse() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    if args:
        return Fusion(args[0], **kwargs)
    return lambda function: Fusion(function, **kwargs)


class Fusion:
    """A fused function. It takes arrays on the device and numbers, by position, and is traced for each set of types."""

    def __init__(self, function: Callable, kernel_name: str | None = None):
        functools.update_wrapper(self, function)
        # A function may have the name of one of CUDA's, such as norm; a kernel may not.
        self.func, self.name = function, kernel_name or f"fused_{function.__name__}"
        self.clear_cache()

    def clear_cache(self) -> None:
        """Forget what was traced."""
        self._plans: dict[tuple, _FusedFunction] = {}

    def __call__(self, *args: Any) -> Any:
        for arg in args:
            if isinstance(arg, np.ndarray):
                raise mixing(arg, f"the fused function {self.name}")
        if not any(isinstance(arg, ndarray) for arg in args):
            return self.func(*args)  # plain numbers, or inside another fused function
        key = tuple((getattr(arg, "dtype", type(arg)), getattr(arg, "shape", None)) for arg in args)
        if key not in self._plans:
            self._plans[key] = _fused(self.func, args, self.name)
        return self._plans[key].run(args)

    def __repr__(self) -> str:
        return f"<fused function {self.name!r}>"


@dataclass
class _FusedKernel:
    """One kernel: the leaves that it takes, its results, and for each the number of the argument it is written to."""

    kernel: ElementwiseKernel | ReductionKernel
    leaves: list[Node]
    gives: list[Node]
    into: list[int | None]
    options: dict[str, Any]  # of the call


@dataclass
class _FusedFunction:
    """The kernels of a function, in order, and the results that it returns: a node, a tuple of nodes, or None."""

    kernels: list[_FusedKernel] = field(default_factory=list)
    returned: Node | tuple[Node, ...] | None = None

    def run(self, args: tuple) -> Any:
        known: dict[Node, Any] = {}
        value = lambda node: args[node.detail] if node.what == "argument" else known[node]
        for each in self.kernels:
            given = [value(leaf) for leaf in each.leaves]
            outs = []
            if any(number is not None for number in each.into):  # a kernel takes all its outputs or none
                outs = [
                    empty(node.shape, node.dtype) if number is None else args[number]
                    for node, number in zip(each.gives, each.into, strict=True)
                ]
            found = each.kernel(*given, *outs, **each.options)
            known |= zip(each.gives, found if isinstance(found, tuple) else (found,), strict=True)
        if isinstance(self.returned, tuple):
            return tuple(known[node] for node in self.returned)
        return None if self.returned is None else known[self.returned]


Goal = tuple[Node, int | None]  # a result, and the number of the argument that it is written to


def _fused(function: Callable, args: tuple, name: str) -> _FusedFunction:
    starts = [argument(number, arg) for number, arg in enumerate(args)]
    values = [Traced(node) for node in starts]
    returned = function(*values)
    results = list(returned) if isinstance(returned, (tuple, list)) else [] if returned is None else [returned]
    for each in results:
        if not isinstance(each, Traced):
            raise TypeError(f"a fused function returns what it computes, and {type(each).__name__} is none of it")
    # A result that is a bare argument, or is returned twice, is copied: each result has its own memory.
    nodes = [Node("positive", each.dtype, each.node.shape, (each.node,), (each.dtype,)) for each in results]
    written = {number: value.node for number, value in enumerate(values) if value.node is not starts[number]}
    plan = _FusedFunction(returned=tuple(nodes) if isinstance(returned, (tuple, list)) else nodes[0] if nodes else None)
    goals: list[Goal] = [(node, None) for node in nodes]
    goals += [(node, number) for number, node in written.items()]
    reductions = _reductions([node for node, _ in goals])
    names = _names(name, len(reductions), goals)
    if len(reductions) == 1 and all(_leaves([goal]) == reductions and number is None for goal, number in goals):
        plan.kernels.append(_reduce(reductions[0], [goal for goal, _ in goals], names[0]))
        return plan
    for node in reductions:
        plan.kernels.append(_reduce(node, [node], names[len(plan.kernels)]))
    by_shape: dict[tuple[int, ...], list[Goal]] = {}
    for goal in goals:
        by_shape.setdefault(goal[0].shape, []).append(goal)
    # Kernels that write to an argument come last: others may read its present value.
    for group in sorted(by_shape.values(), key=lambda group: any(number is not None for _, number in group)):
        plan.kernels.append(_elementwise(group, names[len(plan.kernels)]))
    return plan


def _names(name: str, reductions: int, goals: list[Goal]) -> list[str]:
    """The kernels' names: that of the function, with numbers where there are several."""
    many = reductions + len(goals)
    return [name] if many == 1 else [name, *(f"{name}_{number}" for number in range(2, many + 1))]


def _reductions(nodes: list[Node]) -> list[Node]:
    """All reductions that these nodes depend on, each after those that it depends on."""
    found: list[Node] = []

    def walk(node: Node) -> None:
        for each in node.inputs:
            walk(each)
        if node.what in REDUCTIONS and node not in found:
            found.append(node)

    for node in nodes:
        walk(node)
    return found


def _leaves(nodes: list[Node]) -> list[Node]:
    """The arguments and reductions that these nodes are computed from, element by element."""
    found: list[Node] = []

    def walk(node: Node) -> None:
        if node.what in ("argument", *REDUCTIONS):
            if node not in found:
                found.append(node)
            return
        for each in node.inputs:
            walk(each)

    for node in nodes:
        walk(node)
    return found


class _Code:
    """Statements of C that compute nodes, each once; `leaves` has the names of nodes that are available already."""

    def __init__(self, leaves: dict[Node, str]):
        self.names = dict(leaves)
        self.lines: list[str] = []

    def value(self, node: Node) -> str:
        """The name of a variable that holds the node."""
        if node in self.names:
            return self.names[node]
        if node.what == "constant":
            return repr(node.detail)  # each use casts it
        inputs = [self.cast(each, kind) for each, kind in zip(node.inputs, node.loop, strict=True)]
        if node.what == "cast":
            text = inputs[0]
        elif node.what == "where":
            text = "{} ? {} : {}".format(*inputs)
        else:
            text = EXPRESSIONS[node.what].format(*inputs)
        self.names[node] = f"v{len(self.lines)}"
        self.lines.append(f"const {c_name(node.dtype)} {self.names[node]} = {_rounded(text, node.dtype)};")
        return self.names[node]

    def cast(self, node: Node, kind: np.dtype) -> str:
        """The node as an expression of that dtype."""
        if node.what == "constant":
            return _literal(node.detail, kind)
        text = self.value(node)
        return text if node.dtype == kind and kind != _HALF else f"static_cast<{c_name(kind)}>({text})"


def c_name(dtype: Kind) -> str:
    """C's type for arithmetic on a dtype: float for halves, which are rounded after each operation."""
    kind = np.dtype(dtype)
    return "float" if kind == _HALF else C_TYPES[kind.name]


def _rounded(text: str, dtype: Kind) -> str:
    if np.dtype(dtype) == _HALF:
        return f"static_cast<float>(static_cast<__half>({text}))"
    return f"static_cast<{c_name(dtype)}>({text})"


def _literal(value: Any, kind: np.dtype) -> str:
    """A number in C, as that dtype."""
    number = np.asarray(value).astype(kind)[()]
    if kind.kind == "c":
        return f"{c_name(kind)}({number.real!r}, {number.imag!r})".replace("np.float32", "").replace("np.float64", "")
    if kind.kind == "b":
        return "true" if number else "false"
    if kind.kind == "f" and not np.isfinite(number):
        bits = "0x7fffffff" if np.isnan(number) else "0xff800000" if number < 0 else "0x7f800000"
        return f"static_cast<{c_name(kind)}>(__int_as_float({bits}))"  # NVRTC has no INFINITY
    return f"static_cast<{c_name(kind)}>({number.item()!r})"


def _params(leaves: list[Node], prefix: str) -> tuple[str, dict[Node, str]]:
    """The parameter list for these leaves, and their names in it."""
    names = {leaf: f"{prefix}{number}" for number, leaf in enumerate(leaves)}
    return ", ".join(f"{np.dtype(leaf.dtype).name} {name}" for leaf, name in names.items()), names


def _elementwise(goals: list[Goal], name: str) -> _FusedKernel:
    """One kernel for results of one shape."""
    nodes = [node for node, _ in goals]
    leaves = _leaves(nodes)
    ins, names = _params(leaves, "in")
    code = _Code(names)
    ends = [f"out{number} = {code.value(node)};" for number, node in enumerate(nodes)]
    outs = ", ".join(f"{np.dtype(node.dtype).name} out{number}" for number, node in enumerate(nodes))
    kernel = ElementwiseKernel(ins, outs, "\n    ".join([*code.lines, *ends]), name, preamble=PREAMBLE)
    return _FusedKernel(kernel, leaves, nodes, [number for _, number in goals], {})


def _reduce(node: Node, goals: list[Node], name: str) -> _FusedKernel:
    """One kernel for a reduction with the work before it; `goals` are results that need only the reduction."""
    leaves = _leaves(list(node.inputs))
    ins, names = _params(leaves, "in")
    kind = c_name(node.dtype)
    before = _Code(names)
    mapped = before.cast(node.inputs[0], np.dtype(node.dtype))
    combine, identity = REDUCTIONS[node.what]
    after = _Code({node: "a"})
    ends = [f"out{number} = {after.value(goal)};" for number, goal in enumerate(goals)]
    kernel = ReductionKernel(
        ins,
        ", ".join(f"{np.dtype(goal.dtype).name} out{number}" for number, goal in enumerate(goals)),
        f"[&] {{ {' '.join(before.lines)} return {mapped}; }}()",
        combine,
        "\n      ".join([*after.lines, *ends]),
        identity,
        name,
        reduce_type=kind,
        preamble=PREAMBLE,
    )
    axes, keepdims = node.detail
    return _FusedKernel(kernel, leaves, goals, [None] * len(goals), {"axis": axes, "keepdims": keepdims})
