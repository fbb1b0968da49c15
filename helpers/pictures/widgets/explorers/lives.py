"""Where does this variable live? A kernel's source with every name in the colour of its memory."""

from __future__ import annotations

from helpers.pictures.figures import CAPTION_LINE, Drawing
from helpers.pictures.plots.lives import height, lines_needed, where_variables_live
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice
from helpers.pictures.widgets.explorer import Explorer
from vgpu.tools.steps.spaces import VariableSpaces, spaces

CAPTION_LINES = 2


def lives(
    kernel, args: tuple = (), *, grid=1, block=32, shared_bytes: int = 0, variable: str | None = None
) -> Explorer:
    """The memory of every variable of a kernel, read from its PTX, the compiler's report and one recorded warp.

    `kernel`: in Python or CUDA C, or a mapping from short names to kernels, or to (kernel, args), which a slider
    chooses from; args, grid, block, shared_bytes as at a launch, of which nothing stays. `variable`: the name to begin
    with; its slider has all names of the kernel that is shown.
    """
    versions = checked.versions(kernel)
    found: dict[str, VariableSpaces] = {}
    for version, one in versions.items():
        one, given = one if isinstance(one, tuple) else (one, args)
        found[version] = spaces(one, grid, block, checked.arguments(given), shared_bytes=shared_bytes)
        if not found[version].variables:
            raise ValueError(f"{found[version].kernel} declares no variable, so none lives anywhere")
    room = max(map(lines_needed, found.values()))
    first = next(iter(versions))
    names = [each.name for each in found[first].variables]
    if variable is not None:
        found[first][variable]  # KeyError names those that there are
    controls = {"variable": choice("variable", variable or names[0], names)}
    if len(versions) > 1:
        controls = {"version": choice("version", first, versions), **controls}

    def fit() -> None:
        """Offer the names of the version that is shown now, and stay at the same one where it has it."""
        version = controls["version"].value if "version" in controls else first
        control, now = controls["variable"], [each.name for each in found[version].variables]
        if list(control.options) != now:
            kept = control.value if control.value in now else now[0]
            with control.hold_sync():
                control.options = now
                control.value = kept

    def draw(variable: str, version: str = first) -> Drawing:
        known = [each.name for each in found[version].variables]
        return where_variables_live(found[version], variable if variable in known else known[0], lines=room)

    return Explorer("lives", draw, controls, fit=fit, height=round(height(room) + 30 + CAPTION_LINES * CAPTION_LINE))
