"""Which of a launch's arrays the line of an access names: they come before those that merely lie near the address."""

from __future__ import annotations

import re

from vgpu.storage.memory import ArrayInfo

_ASSIGNED = re.compile(r"(?<![=!<>])=(?!=)")  # of +=, too
_INDEXED = re.compile(r"\b(\w+)\s*\[")
_ATOMIC = re.compile(r"\batomic\w*(?:\.\w+)?\s*\(\s*&?\s*(\w+)")  # atomicAdd(&out[i], 1), cuda.atomic.add(out, i, 1)
_FUNCTION = re.compile(r"__(device|global)__")


def arrays(scene) -> list[ArrayInfo]:
    """The arrays that an access of its kind may mean on its line; none where the line does not tell.

    A store means what stands left of the assignment, a load what is indexed elsewhere, an atomic its first argument.
    In a device function of CUDA C names are its own, and tell nothing.
    """
    text = scene.kernel.line_text(scene.line)
    if not text or _in_device_function(scene):
        return []
    names = _names(text, scene.site.kind)
    return [array for array in scene.arrays if array.name in names]


def _names(text: str, kind: str) -> set[str]:
    if kind == "atomic":
        return set(_ATOMIC.findall(text))
    for assigned in _ASSIGNED.finditer(text):
        left = text[: assigned.start()].rstrip()
        changed = left.rstrip("+-*/%&|^<> ")
        if (begin := _target(changed)) is not None:
            name = set(_INDEXED.findall(changed[begin:])[:1])
            if kind == "store":
                return name
            indices = changed[changed.index("[", begin) :]
            others = set(_INDEXED.findall(f"{text[:begin]} {indices} {text[assigned.end() :]}"))
            return others | name if changed != left else others
    return set(_INDEXED.findall(text))


def _target(left: str) -> int | None:
    """Where the `out[…]` begins that a text ends with; None where it ends with something else."""
    end = left
    while end.endswith("]"):
        depth = 0
        for at in range(len(end) - 1, -1, -1):
            depth += (end[at] == "]") - (end[at] == "[")
            if depth == 0:
                break
        end = end[:at].rstrip()
    begin = re.search(r"\w+$", end)
    return begin.start() if begin and end != left else None


def _in_device_function(scene) -> bool:
    """Whether the nearest line above that opens a function in CUDA C opens one of the device."""
    above = scene.kernel.source[: max(scene.line - scene.kernel.first_line + 1, 0)]
    opened = next((found[-1] for line in reversed(above) if (found := _FUNCTION.findall(line))), "global")
    return opened == "device"
