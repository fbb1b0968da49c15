"""Which of a launch's arrays the source line of an access names: a message prefers them to the nearest array."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vgpu.storage.memory import ArrayInfo

if TYPE_CHECKING:
    from vgpu.faults.scene import Scene

_ASSIGNED = re.compile(r"(?<![=!<>])=(?!=)")  # of +=, too
_INDEXED = re.compile(r"\b(\w+)\s*\[")
_ATOMIC = re.compile(r"\batomic\w*(?:\.\w+)?\s*\(\s*&?\s*(\w+)")  # atomicAdd(&out[i], 1), cuda.atomic.add(out, i, 1)
_FUNCTION = re.compile(r"__(device|global)__")


def arrays(scene: Scene) -> list[ArrayInfo]:
    """The arrays on the line that an access of this kind may be to; none where the line doesn't show it.

    A store is to the array left of the assignment, a load to those indexed elsewhere, an atomic to its first argument.
    A device function of CUDA C has its own names, which aren't those of the arrays.
    """
    text = scene.kernel.line_text(scene.line)
    if not text or _in_device_function(scene):
        return []
    names = _names(text, scene.site.kind)
    return [array for array in scene.arrays if array.name in names]


def unnamed(scene: Scene) -> str:
    """Such as "of `x` ": the array that an access is to, where its line only mentions others.

    A compiler may give a load the line of the store that takes its value.
    """
    words = set(re.findall(r"\w+", scene.kernel.line_text(scene.line) or ""))
    found = next((each for each in scene.arrays if each.holds(scene.fault.address)), None)
    others = {each.name for each in scene.arrays if each is not found}
    if found is None or found.name in words or not others & words or _in_device_function(scene):
        return ""
    return f"of `{found.name}` "


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
    """The start of the `out[…]` at the end of a text; None where it ends with something else."""
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


def _in_device_function(scene: Scene) -> bool:
    """Whether the nearest function that begins above is a device function of CUDA C."""
    above = scene.kernel.source[: max((scene.line or 0) - scene.kernel.first_line + 1, 0)]
    opened = next((found[-1] for line in reversed(above) if (found := _FUNCTION.findall(line))), "global")
    return opened == "device"
