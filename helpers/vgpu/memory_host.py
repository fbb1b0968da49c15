"""What the host can still give: the virtual GPU's memory is a part of the host's."""

from __future__ import annotations


def size_text(nbytes: float) -> str:
    """A size for people: 12.5 GiB, 3.0 MiB, 17 bytes."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= factor:
            return f"{nbytes / factor:.1f} {unit}"
    return f"{int(nbytes)} bytes"


def available() -> int | None:
    """Bytes the host can still give, as far as that can be known."""
    try:
        import psutil
    except ImportError:
        return None
    left = psutil.virtual_memory().available
    try:  # a container may be allowed less than the machine has
        with open("/sys/fs/cgroup/memory.max") as top, open("/sys/fs/cgroup/memory.stat") as now:
            used = dict(line.split() for line in now)
            # What is not anonymous is cache, which the system gives up at need.
            left = min(left, int(top.read()) - int(used["anon"]))
    except (OSError, ValueError, KeyError):
        pass
    return left
