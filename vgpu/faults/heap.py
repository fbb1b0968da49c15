"""Messages for wrong frees; `access` has those for accesses to the heap out of bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.base.errors import InvalidFree, KernelError
from vgpu.storage import heap_words

if TYPE_CHECKING:
    from vgpu.faults.scene import Scene


def _free(scene: Scene) -> KernelError:
    address = scene.fault.address
    what, fix = heap_words.wrong_free(address, scene.kernel)
    named = next((each.name for each in scene.arrays if each.holds(address)), None)
    if named is not None:
        what = f"`{named}`, an array of the host's"
    return InvalidFree(
        f"invalid free: {scene.where()} freed {what}.\n  {scene.at_line(scene.line)}\n  Usual fix: {fix}",
        address=address, **scene.keywords(),
    )  # fmt: skip


BUILDERS = {"free": _free}
