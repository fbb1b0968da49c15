"""The errors of the virtual GPU, one class for each kind of mistake.

Every message says what happened, where, and the usual fix.
"""

from __future__ import annotations


class VirtualGPUError(RuntimeError):
    """A kernel, a launch or an array did something a GPU would not allow."""

    line: int | None = None

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints for this error: of the traceback only the user's frames."""
        from vgpu.base.tracebacks import render

        return render(self)


class CompileError(VirtualGPUError):
    """The compiler refused the kernel, at the user's `line` (or None); `original` is the compiler's own exception."""

    original: Exception | None = None

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


class LaunchError(VirtualGPUError):
    """The launch configuration or the arguments do not fit the kernel or the GPU."""


class ArgumentError(LaunchError, TypeError):
    """An argument of a launch, or its configuration, is of the wrong kind."""


class NotContiguous(VirtualGPUError, ValueError):
    """An array has gaps, so it can't be copied as one contiguous range."""


class NoSuchKernel(VirtualGPUError, AttributeError):
    """A module of compiled code has no kernel of that name."""


class OutOfMemory(VirtualGPUError, MemoryError):
    """There is no room for an array."""


class KernelError(VirtualGPUError):
    """A kernel did something wrong while it ran.

    `line` is the user's line, `thread` and `block` are (x, y, z) indices, `address` a byte address; each
    is None where it has no meaning.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        thread: tuple[int, int, int] | None = None,
        block: tuple[int, int, int] | None = None,
        address: int | None = None,
    ):
        super().__init__(message)
        self.line, self.thread, self.block, self.address = line, thread, block, address


class OutOfBounds(KernelError, IndexError):
    """A thread read or wrote memory that belongs to no array."""


class StackOverflow(OutOfBounds, RecursionError):
    """A thread called functions so deep that its stack was full."""


class InvalidCall(KernelError):
    """A thread called through a pointer that leads to no function, or to one with other parameters."""


class InvalidFree(KernelError):
    """A thread freed memory that `malloc` or `new` never returned, or that was freed already."""


class Misaligned(KernelError):
    """A thread read or wrote an address that is no multiple of the access's size."""


class PartialWarp(KernelError):
    """Only some threads of a warp reached an instruction that needs all of them, or with different operands."""


class KernelTimeout(KernelError, TimeoutError):
    """A kernel did not end within its time limit."""


class Deadlock(KernelError):
    """Threads wait at barriers that the others never reach."""


class BarrierError(KernelError):
    """An mbarrier was used before it was initialised, or got more arrivals or bytes than it can count."""


class DeviceAssert(KernelError, AssertionError):
    """An `assert` in a kernel failed, or the kernel executed `trap`."""


class Unsupported(VirtualGPUError, NotImplementedError):
    """Something that the virtual GPU does not have; the message says what to use instead."""
