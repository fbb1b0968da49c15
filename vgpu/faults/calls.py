"""Messages for errors of calls: a full stack, and pointers to no function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgpu.base.errors import InvalidCall, KernelError, StackOverflow
from vgpu.base.lacking import plain
from vgpu.ptx import Sym
from vgpu.storage import layout

if TYPE_CHECKING:
    from vgpu.faults.scene import Scene


def _stack(scene: Scene) -> KernelError:
    target = scene.site.instruction.operands[0].target
    what = f"`{plain(target.name)}`" if isinstance(target, Sym) else "a function through a pointer"
    return StackOverflow(
        f"stack overflow: {scene.where()} called {what} when it was {scene.fault.address} calls deep already, and its "
        f"stack of {layout.STACK_BYTES} bytes is full.\n  {scene.at_line(scene.line)}\n  Usual fix: check that the "
        "recursion ends in every thread; if it does and is only deep, write it as a loop.",
        **scene.keywords(),
    )


def _pointer(scene: Scene) -> KernelError:
    handle, module = scene.fault.address, scene.kernel.module.module
    names = {number: name for name, number in layout.function_handles(module).items()}
    if handle == 0:
        what, fix = "a null pointer", "set the pointer before the call: it was never given a function."
    elif handle not in names:
        what = f"a pointer that leads to no function ({handle:#x})"
        fix = "initialise the pointer; an object with virtual methods must be made by a constructor on the device."
    elif module.functions[names[handle]].body is None:
        what, fix = f"`{plain(names[handle])}`, which has no body", "define it, or override the method in the class."
    else:
        what = f"`{plain(names[handle])}`, whose parameters are others than the call gives"
        fix = "give the pointer the type of the function it points to."
    return InvalidCall(
        f"invalid call: {scene.where()} called {what}.\n  {scene.at_line(scene.line)}\n  Usual fix: {fix}",
        **scene.keywords(),
    )


BUILDERS = {"stack": _stack, "pointer": _pointer}
