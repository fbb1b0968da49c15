"""Several random schedules of one launch: the findings merged, and whether the results were the same."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vgpu.storage import heap, memory
from vgpu.tools.sanitize.findings import Finding, Findings
from vgpu.tools.sanitize.kinds import KINDS
from vgpu.tools.sanitize.names import plain

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared


class _LaunchMemory:
    """The memory that a launch may change: the allocations of its arrays, and the module's variables."""

    def __init__(self, prepared: Prepared):
        self.homes: dict[int, tuple[int, list[str]]] = {}
        for array in prepared.arrays:
            home = memory.describe(array.address).allocation
            if array.nbytes and home is not None and home.address <= array.address < home.address + home.nbytes:
                self.homes.setdefault(home.address, (home.nbytes, []))[1].append(array.name)
        variables = prepared.kernel.module.variables
        for name, address in variables.addresses.items():
            if variables.nbytes[name]:
                self.homes[address] = variables.nbytes[name], [plain(name) or name]

    def read(self) -> dict[int, bytes]:
        return {address: ctypes.string_at(address, nbytes) for address, (nbytes, _) in self.homes.items()}

    def write(self, contents: dict[int, bytes]) -> None:
        for address, data in contents.items():
            ctypes.memmove(address, data, len(data))

    def differing(self, one: dict[int, bytes], other: dict[int, bytes]) -> list[str]:
        """The names of arrays whose bytes differ."""
        homes = [names for address, (_, names) in self.homes.items() if _differ(one[address], other[address])]
        return list(dict.fromkeys(name for names in homes for name in names))


def _differ(one: bytes, other: bytes) -> bool:
    """Whether bytes differ in more than in pointers into the kernels' heap."""
    area = heap.current()
    if one == other or area is None or len(one) % 8:
        return one != other
    words = [np.frombuffer(data, np.uint64) for data in (one, other)]
    pointers = [word - np.uint64(area.base) < np.uint64(area.nbytes) for word in words]
    return bool(((words[0] != words[1]) & ~(pointers[0] & pointers[1])).any())


def run_all(prepared: Prepared, run_once: Callable[[int], Findings], seeds: Sequence[int]) -> Findings:
    """Run under each seed from the same memory. What the first run wrote stays."""
    touched = _LaunchMemory(prepared)
    before, found, results = touched.read(), [], []
    in_heap, first_heap = heap.save(), None
    for seed in seeds:
        touched.write(before)
        heap.restore(in_heap)
        found.append(run_once(seed))
        results.append(touched.read())
        first_heap = first_heap or heap.save()
    touched.write(results[0])
    heap.restore(first_heap)
    merged: dict[tuple, Finding] = {}
    for each in found:
        for finding in each:
            lines = frozenset((finding.line, finding.other_line))
            merged.setdefault((finding.kind, lines, finding.array, finding.space), finding)
    findings = sorted(merged.values(), key=lambda f: (f.level != "error", f.line or 0, f.other_line or 0))
    if all(each.ran_to_end for each in found):
        findings += _varying(touched, seeds, results)
    to_end = all(each.ran_to_end for each in found)
    return Findings(found[0].kernel, tuple(findings), to_end, tuple(seeds), found[0].races_in_global)


def _varying(touched: _LaunchMemory, seeds: Sequence[int], results: list[dict[int, bytes]]) -> list[Finding]:
    for seed, result in zip(seeds[1:], results[1:], strict=True):
        names = touched.differing(results[0], result)
        if names:
            listed = ", ".join(f"`{name}`" for name in names)
            verb = "differs" if len(names) == 1 else "differ"
            what = f"{listed} {verb} between seed {seeds[0]} and seed {seed}."
            return [Finding("schedule", None, "", what, KINDS["schedule"].fix, array=names[0], space="global")]
    return []
