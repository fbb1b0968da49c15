"""The host's available memory, which the virtual GPU's memory is part of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def size_text(nbytes: float) -> str:
    """A readable size: 12.5 GiB, 3.0 MiB, 17 bytes."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= factor:
            return f"{nbytes / factor:.1f} {unit}"
    return f"{int(nbytes)} bytes"


def available() -> int | None:
    """Bytes that can still be allocated on the host; None where that is not known."""
    try:
        import psutil
    except ImportError:
        return None
    return min([psutil.virtual_memory().available, *allowances()])


# Where a control group has the limit and the use of its processes, by the kernel's version of groups. Memory that isn't
# anonymous is cache, which the system frees when needed.
_GROUPS = {
    "": ("", "memory.max", "anon"),
    "memory": ("memory", "memory.limit_in_bytes", "total_rss"),
}


def allowances(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """Bytes left in each control group around this process: containers and notebook servers set such limits."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            if controller not in _GROUPS:
                continue
            folder, limit, used = _GROUPS[controller]
            top = groups / folder
            here = top / path.lstrip("/")
            # In a container the path may be the host's, but the mounted tree the container's: then only the top exists.
            for group in (here, *(parent for parent in here.parents if parent.is_relative_to(top))):
                left = _left(group, limit, used)
                if left is not None:
                    yield left


def _left(group: Path, limit: str, used: str) -> int | None:
    try:
        figures = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return int((group / limit).read_text()) - int(figures[used])
    except (OSError, ValueError, KeyError):  # no such group, "max", or a kernel that words it differently
        return None
