"""Messages for errors of texture reads and surface accesses: the handle, or the coordinates of a surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.base.errors import KernelError, Misaligned, OutOfBounds
from vgpu.storage import textures
from vgpu.storage.textures import SURFACE_CALLS, Resource

if TYPE_CHECKING:
    from vgpu.faults.scene import Scene


class BadHandle(KernelError, ValueError):
    """A kernel used a handle of no texture or surface, or of one of another kind."""


def error(scene: Scene) -> KernelError:
    """The exception for a fault whose `address` is the handle and whose `detail` are the lane's x, y, z."""
    site, handle = scene.site, scene.fault.address & (2**64 - 1)  # the slot holds it signed
    at = f"\n  {scene.at_line(scene.line)}\n  Usual fix: "
    if site.kind == "texture_query":
        return _bad(scene, *_query_complaint(handle, site.instruction.opcode == "suq"), at)
    surface = site.kind != "texture"
    floats = None if surface else site.instruction.modifiers[-2] == "f32"
    wrong = textures.complaint(handle, site.space, surface, floats)
    if wrong is not None:
        return _bad(scene, *wrong, at)
    bound = textures.lookup(handle)
    assert bound is not None, "`complaint` reports every handle without memory"
    resource = bound.resource
    if not surface:
        what = f"tex2Dgather was called for a texture of {resource.format}"
        return _bad(scene, what, "gather from a texture that gives floats.", at)
    x, y, z = scene.fault.detail
    row_bytes = resource.width * resource.format.nbytes
    verb = "read" if site.kind == "surface_load" else "wrote"
    call = SURFACE_CALLS[resource.geometry] + verb
    position = _coordinates(resource, x, y, z)
    inside = 0 <= x <= row_bytes - site.nbytes and 0 <= y < resource.height and 0 <= z < resource.depth
    if inside:
        return Misaligned(
            f"misaligned: {scene.where()} {verb} {site.nbytes} bytes of a surface {position}, and byte {x} is no "
            f"multiple of {site.nbytes}.{at}give x in bytes: column * sizeof(type).",
            **scene.keywords(),
        )
    return OutOfBounds(
        f"out of bounds: {scene.where()} {verb} {site.nbytes} bytes of a surface {position}, but the array has "
        f"{resource.shape_text} of {resource.format.nbytes} bytes: x goes from 0 to {row_bytes - site.nbytes} "
        f"({call.replace('wrote', 'write')}).{at}give x in bytes (column * sizeof(type)), guard the access, or pass "
        "cudaBoundaryModeZero or cudaBoundaryModeClamp.",
        **scene.keywords(),
    )


def _query_complaint(handle: int, surface: bool) -> tuple[str, str]:
    """What is wrong with the handle of a `txq` or `suq`, which name no geometry; and the usual fix."""
    bound = textures.lookup(handle)
    geometry = bound.resource.geometry if bound is not None else "2d"
    floats = None if surface or bound is None or bound.is_surface else bound.gives_floats
    found = textures.complaint(handle, geometry, surface, floats)
    assert found is not None, "the query of a valid handle has no fault"
    return found


def _bad(scene: Scene, what: str, fix: str, at: str) -> BadHandle:
    return BadHandle(f"{what}, by {scene.where()}.{at}{fix}", **scene.keywords())


def _coordinates(resource: Resource, x: int, y: int, z: int) -> str:
    named = {
        "1d": f"at x = {x}", "2d": f"at x = {x}, y = {y}", "3d": f"at x = {x}, y = {y}, z = {z}",
        "a1d": f"at x = {x} of layer {z}", "a2d": f"at x = {x}, y = {y} of layer {z}",
    }  # fmt: skip
    return named[resource.geometry] + " (x in bytes)"
