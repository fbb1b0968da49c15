"""The reference pages, from docstrings and from the tables of counters: `python -m vgpu.tests.pages` writes them.

`vgpu/API.md` has what `import vgpu` gives, `vgpu/COUNTERS.md` each counter and metric beside Nsight Compute's name.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import inspect
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import vgpu
from vgpu.launch.counters import COUNTERS
from vgpu.programs.command import VERBS, parser
from vgpu.tools.counter_sums import COUNTER_SUMS
from vgpu.tools.profile_table import METRICS

FOLDER = Path(vgpu.__file__).parent
MADE = "<!-- Made by `python -m vgpu.tests.pages`: edit the docstrings and tables instead. -->"
SECTIONS = {
    "Run kernels": (
        "cp", "cupyx", "cuda", "triton", "cute", "tensor_map", "im2col_map", "fp8_accumulation",
        "cute_options", "Launch",
    ),
    "Count and model": ("profile", "compare", "roofline", "occupancy", "sass"),
    "Find bugs": ("sanitize", "scheduled"),
    "Go step by step": (
        "record", "trace", "dataflow", "spaces", "barrier_phases", "copy_groups", "touched", "turns", "walked",
    ),
    "See streams": ("streams", "calls"),
    "Choose the modelled GPU": ("device", "real_gpu", "gpus", "cpus", "interconnects"),
}  # fmt: skip
"""All names of `vgpu`, by what they are for."""
STAND_INS = {
    "cp": "vgpu.standins.cupy",
    "cupyx": "vgpu.standins.cupyx",
    "cuda": "vgpu.standins.numba_cuda",
    "triton": "vgpu.standins.triton",
    "cute": "vgpu.standins.cute",
}


# ---------------------------------------------------------------- the API


def api() -> str:
    """The page of the API: sections, names, signatures, docstrings, and the classes of results."""
    parts = [f"# The API of vgpu\n\n{MADE}\n\n{_doc(vgpu)}"]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}")
        for name in names:
            parts += _of_name(name)
    parts += ["## Command line", _commands()]
    return "\n\n".join(parts) + "\n"


def _of_name(name: str) -> Iterator[str]:
    if name in STAND_INS:
        yield f"### {name}\n\n{_doc(importlib.import_module(STAND_INS[name]))}"
        return
    thing = getattr(vgpu, name)
    if not isinstance(thing, ModuleType):
        yield from of_callable(name, thing)
        return
    yield f"### {name}\n\n{_doc(thing)}"
    for inner, value in public(thing):
        yield from of_callable(f"{name}.{inner}", value)


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a module: those of `__all__`, or all that it defines."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    for name in names:
        value = getattr(module, name)
        if callable(value) and (hasattr(module, "__all__") or value.__module__ == module.__name__):
            yield name, value


def of_callable(name: str, thing: Any) -> Iterator[str]:
    if inspect.isclass(thing):
        yield _of_class(name, thing)
        return
    yield f"### {name}\n\n```python\n{name}{signature(thing)}\n```\n\n{_doc(thing)}"
    result = _result(thing)
    if result is not None:
        yield _of_class(result.__name__, result, "#### ")


def _of_class(name: str, kind: type, level: str = "### ") -> str:
    lines = [f"{level}{name}\n\n{_doc(kind)}"]
    rows = [f"- `{field.name}`: `{field.type}`" for field in _fields(kind)]
    for key, value in vars(kind).items():
        if key.startswith("_") or key in {field.name for field in _fields(kind)}:
            continue
        member = value.func if hasattr(value, "func") else value.fget if isinstance(value, property) else value
        if inspect.isfunction(member):
            is_property = member is not value and not isinstance(value, (classmethod, staticmethod))
            words = _doc(member).replace("\n", "\n  ")
            rows.append(f"- `{key}{'' if is_property else signature(member)}`{': ' + words if words else ''}")
    return "\n\n".join([*lines, *(["\n".join(rows)] if rows else [])])


def _fields(kind: type) -> tuple[dataclasses.Field, ...]:
    shown = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return tuple(field for field in shown if not field.name.startswith("_"))


def _doc(thing: Any) -> str:
    """The docstring; that which a dataclass has by itself is none."""
    found = inspect.getdoc(thing) or ""
    return "" if inspect.isclass(thing) and found.startswith(f"{thing.__name__}(") else found


def signature(function: Any) -> str:
    """A function's parameters and its result, as its source has them; a default that differs by machine is `...`."""
    parameters = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    words, keywords = [], False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not keywords:
            words.append("*")
        keywords = keywords or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        typed = "" if each.annotation is each.empty else f": {each.annotation}"
        shown = "..." if isinstance(each.default, Path) else repr(each.default)
        default = "" if each.default is each.empty else f"{' = ' if typed else '='}{shown}"
        words.append(f"{star}{each.name}{typed}{default}")
    result = inspect.signature(function).return_annotation
    return f"({', '.join(words)})" + ("" if result in (None, inspect.Signature.empty, "None") else f" -> {result}")


def _result(function: Any) -> type | None:
    """The engine's class that a function returns, which its module may import for its annotations only."""
    module, name = importlib.import_module(function.__module__), str(inspect.signature(function).return_annotation)
    name = name.removesuffix(" | None")
    found = getattr(module, name, None)
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.module and name in {each.name for each in node.names}:
            found = found or getattr(importlib.import_module(node.module), name, None)
    return found if inspect.isclass(found) and found.__module__.startswith("vgpu.") else None


def _commands() -> str:
    lines = ["`python -m vgpu COMMAND [options] PROGRAM [arguments]`", ""]
    lines += [f"- `{name}`: {verb.help}" for name, verb in VERBS.items()]
    lines += ["", "| option | |", "|---|---|"]
    options: dict[str, str] = {}
    for action in itertools.chain.from_iterable(each._actions for each in _subparsers()):
        if action.option_strings and action.dest != "help":
            options.setdefault(f"{', '.join(action.option_strings)} {action.metavar or ''}".strip(), action.help or "")
    return "\n".join([*lines, *(f"| `{key}` | {text} |" for key, text in options.items())])


def _subparsers() -> Iterable[argparse.ArgumentParser]:
    (found,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    return [found.choices[name] for name in VERBS]


# ---------------------------------------------------------------- the counters


def counters() -> str:
    """The page of the counters: what is counted, sums of it, and what follows from a profile."""
    rows = [f"| `{each.key}` | {_code(each.nsight)} | {each.plain} | {each.unit} | {each.note} |" for each in COUNTERS]
    sums = {each.key for each in COUNTER_SUMS}
    derived = [
        f"| `{each.key}` | {_code(each.nsight)} | {each.plain} | {each.origin} |"
        for each in METRICS
        if each.key not in sums
    ]
    summed = [f"| `{each.key}` | {each.plain} | {_weights(each.weights)} |" for each in COUNTER_SUMS]
    return COUNTERS_PAGE.format(
        made=MADE, counters="\n".join(rows), derived="\n".join(derived), sums="\n".join(summed), total=len(COUNTERS)
    )


def _code(name: str | None) -> str:
    return f"`{name}`" if name else ""


def _weights(weights: Any) -> str:
    return " + ".join(f"`{key}`" if weight == 1 else f"`{key}` × {weight:g}" for key, weight in weights.items())


COUNTERS_PAGE = """# Counters and metrics

{made}

`vgpu.profile` counts everything here in one run of the kernel, exactly, for each source line. `profile[name]` takes the
key or Nsight Compute's name, `profile.metrics()` has them all. Where the second column is empty, hardware has no such
counter.

What is modelled and what isn't: counters are of PTX. For ordinary loads and stores of global memory a GPU counts the
same requests and sectors. The assembler may merge accesses to shared memory, keep local arrays in registers and turn
constants into operands; a profile says where it did. Instructions and branches of the machine code are others, usually
fewer. There are no caches, so no hit rates and no bytes of L2 or DRAM as hardware counts them: `l2_bytes` and
`footprint_bytes` are what all requests ask for, and what no cache can avoid. There are no cycles, stalls, clocks or
power: times are modelled, and say so. The [README](README.md#what-is-modelled-and-what-is-not) has the rest.

## Counted, by source line

{total} counters.

| key | Nsight Compute | what | unit | note |
|---|---|---|---|---|
{counters}

## Sums of counters

Budgets of the pytest plugin take these, too.

| key | what | sum |
|---|---|---|
{sums}

## Metrics of a whole launch

*Counted* ones follow from the counters, the *compiler's* from its registers and shared memory, *modelled* ones from a
model.

| key | Nsight Compute | what | origin |
|---|---|---|---|
{derived}
"""
PAGES = {"API.md": api, "COUNTERS.md": counters}


def main() -> None:
    """Write the pages."""
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
        print(f"vgpu/{name} is written.")


if __name__ == "__main__":
    main()
