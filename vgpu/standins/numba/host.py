"""The host's side of `numba.cuda`: devices, contexts, streams, events.

Launches and copies on the virtual GPU end before they return, so a stream is always idle and an event has happened as
soon as it is recorded, at a time of the host's monotonic clock. `vgpu.streams.record()` records which order CUDA
guarantees, and models how long each operation takes.
"""

from __future__ import annotations

import contextlib
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vgpu import operations
from vgpu.base.errors import LaunchError
from vgpu.hardware import device as _device
from vgpu.operations import Operation, Queue, graphs
from vgpu.storage import heap, memory

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU

MemoryInfo = namedtuple("MemoryInfo", ("free", "total"))


class Stream:
    """A queue of work for the GPU; on the virtual GPU it is always empty."""

    def __init__(self, queue: Queue = operations.LEGACY):
        self.queue = queue

    handle = property(lambda self: self.queue.handle)

    def synchronize(self) -> None:
        """Wait for the work in this stream, which has ended already."""
        operations.synchronise(self.queue)

    @contextlib.contextmanager
    def auto_synchronize(self):
        """Synchronize at the end of a `with` block."""
        yield self
        self.synchronize()

    def add_callback(self, callback, arg=None) -> None:
        """Call `callback(stream, status, arg)` once the work is done: now."""
        call = Operation("host function", label=getattr(callback, "__name__", "a callback"), asynchronous=True)
        operations.submit(self.queue, call, lambda: callback(self, 0, arg) and None)

    def async_done(self):
        """An awaitable that is done when the stream is."""
        import asyncio

        future = asyncio.get_running_loop().create_future()
        future.set_result(self)
        return future

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        return "<virtual stream>" if self.handle else "<virtual default stream>"


_DEFAULT = Stream()


def stream() -> Stream:
    """A new stream. Work in different streams does not overlap on the virtual GPU; a recording says what could."""
    return Stream(operations.new_queue())


def default_stream() -> Stream:
    """The stream that work goes to when none is given."""
    return _DEFAULT


def external_stream(ptr: int) -> Stream:
    """A stream of another library, by its handle."""
    return Stream(operations.find_queue(int(ptr)))


def per_thread_default_stream() -> Stream:
    """This thread's own default stream; work in it waits for the legacy default stream, and vice versa."""
    return Stream(operations.find_queue(2))


def queue_of(stream) -> Queue:
    """The queue of a stream of Numba or CuPy, or of a handle; 0 and None are the default stream."""
    found = getattr(stream, "queue", None)
    return found if isinstance(found, Queue) else operations.find_queue(int(getattr(stream, "ptr", stream) or 0))


class Event:
    """A mark in a stream with a time of the host's clock."""

    clock = staticmethod(time.perf_counter)

    def __init__(self, timing: bool = True):
        self.timing = timing
        self._at: float | None = None
        self._captured: tuple[graphs.Capture, frozenset[int]] | None = None

    def record(self, stream=0) -> None:
        """Take the time."""
        queue = queue_of(stream)
        self._captured = graphs.record(queue)
        if self._captured is None:
            self._at = self.clock()
            graphs.check(queue, Operation("record", queue, label="event.record"))
            operations.note(Operation("record", queue, label="event", event=self))

    def query(self) -> bool:
        """True: the work before it is done. In a recording the host has waited for it, as a polling loop would."""
        self.synchronize()
        return True

    def synchronize(self) -> None:
        """Wait for the work before the event, which has ended already."""
        operations.synchronise(event=self)

    def wait(self, stream=0) -> None:
        """Let a stream wait for this event, which has happened already."""
        graphs.wait(queue_of(stream), self)

    def elapsed_time(self, evtend: Event) -> float:
        """Milliseconds from this event to another. Raises `LaunchError` when one was never recorded."""
        if not (self.timing and evtend.timing):
            raise LaunchError("an event made with timing=False has no time; make it with cuda.event()")
        if self._at is None or evtend._at is None:
            raise LaunchError("an event has no time before event.record() was called")
        return 1000.0 * (evtend._at - self._at)

    def __repr__(self) -> str:
        return f"<virtual event, {'recorded' if self._at is not None else 'not recorded'}>"


def event(timing: bool = True) -> Event:
    """A new event. On the virtual GPU it measures this computer, not the GPU that is modelled."""
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two recorded events."""
    return evtstart.elapsed_time(evtend)


def synchronize() -> None:
    """Wait for all work on the GPU, which has ended already."""
    operations.synchronise()


# Attributes of a device under the driver's names, from the modelled GPU's row.
_LIMITS: dict[str, Callable[[GPU], int | None]] = {
    "MAX_THREADS_PER_BLOCK": lambda gpu: gpu.threads_per_block,
    "MAX_BLOCK_DIM_X": lambda gpu: 1024,
    "MAX_BLOCK_DIM_Y": lambda gpu: 1024,
    "MAX_BLOCK_DIM_Z": lambda gpu: 64,
    "MAX_GRID_DIM_X": lambda gpu: 2**31 - 1,
    "MAX_GRID_DIM_Y": lambda gpu: 65535,
    "MAX_GRID_DIM_Z": lambda gpu: 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": lambda gpu: gpu.shared_limit,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": lambda gpu: gpu.shared_optin_limit,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": lambda gpu: gpu.shared_per_sm,
    "MAX_REGISTERS_PER_BLOCK": lambda gpu: gpu.registers_per_block,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": lambda gpu: gpu.registers_per_sm,
    "MAX_THREADS_PER_MULTI_PROCESSOR": lambda gpu: gpu.threads_per_sm,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": lambda gpu: gpu.blocks_per_sm,
    "MULTIPROCESSOR_COUNT": lambda gpu: gpu.sms,
    "WARP_SIZE": lambda gpu: gpu.warp_size,
    "CLOCK_RATE": lambda gpu: round(gpu.clock / 1000),
    "L2_CACHE_SIZE": lambda gpu: gpu.l2_bytes,
    "TOTAL_CONSTANT_MEMORY": lambda gpu: 65536,
    "COMPUTE_CAPABILITY_MAJOR": lambda gpu: gpu.compute_capability[0],
    "COMPUTE_CAPABILITY_MINOR": lambda gpu: gpu.compute_capability[1],
    "UNIFIED_ADDRESSING": lambda gpu: 1,
    "CAN_MAP_HOST_MEMORY": lambda gpu: 1,
    "CONCURRENT_KERNELS": lambda gpu: 1,
    "COOPERATIVE_LAUNCH": lambda gpu: 1,
}


@dataclass(frozen=True)
class Device:
    """The one virtual GPU, with the limits of the GPU that it models."""

    id: int = 0
    supports_float16 = True

    @property
    def name(self) -> str:
        """What the device is: virtual, and which GPU it models."""
        return f"Virtual GPU (modelling {_device.current().product})"

    @property
    def compute_capability(self) -> tuple[int, int]:
        """That of the modelled GPU."""
        major, minor = _device.current().compute_capability
        return major, minor

    supports_bfloat16 = property(lambda self: self.compute_capability >= (8, 0))
    supports_fp8 = property(lambda self: self.compute_capability >= (8, 9))
    uuid = "GPU-00000000-0000-0000-0000-000000000000"

    def __getattr__(self, name: str):
        if name in _LIMITS:
            return _LIMITS[name](_device.current())
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"the virtual GPU does not know {name}; it has {', '.join(sorted(_LIMITS))}")

    def get_primary_context(self) -> Context:
        """The context of the device."""
        return _CONTEXT

    def reset(self) -> None:
        """Reset the heap that kernels allocate from; arrays stay as long as they are referenced."""
        heap.reset()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *details) -> None:
        return None

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Context:
    """What holds a device's memory and state."""

    device = Device()

    def get_memory_info(self) -> MemoryInfo:
        """(free, total) bytes of the modelled GPU's memory; the virtual GPU itself takes the host's."""
        total = int(_device.current().memory_bytes)
        return MemoryInfo(max(0, total - memory.usage()[0]), total)

    def synchronize(self) -> None:
        """Wait for all work, which has ended already."""
        operations.synchronise()

    def reset(self) -> None:
        """Nothing to reset: arrays stay as long as they are referenced."""

    push = pop = reset
    create_stream = staticmethod(stream)
    create_event = staticmethod(event)
    get_default_stream = staticmethod(default_stream)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *details) -> None:
        return None

    def __repr__(self) -> str:
        return f"<context of {self.device.name}>"


_CONTEXT = Context()


class DeviceList(tuple):
    """`cuda.gpus`: the devices there are, which is one."""

    __slots__ = ()
    lst = property(lambda self: list(self))
    current = property(lambda self: self[0])

    def __repr__(self) -> str:
        return f"<devices: {', '.join(gpu.name for gpu in self)}>"


gpus = DeviceList((Context.device,))


def list_devices() -> DeviceList:
    """All devices."""
    return gpus


def get_current_device() -> Device:
    """The device that kernels run on."""
    return Context.device


def current_context(devnum: int | None = None) -> Context:
    """The context that kernels run in."""
    return _CONTEXT


def select_device(device_id: int) -> Device:
    """Choose a device by number; there is only number 0."""
    if device_id != 0:
        raise LaunchError(f"there is one virtual GPU, number 0, and no number {device_id}")
    return Context.device


def detect() -> bool:
    """Print the devices there are; True, since there is the virtual one."""
    print(f"Found {len(gpus)} CUDA devices")
    for gpu in gpus:
        print("id {}    {}    compute capability {}.{}".format(gpu.id, gpu.name, *gpu.compute_capability))
    return True


def is_available() -> bool:
    """True: kernels can run, here on the virtual GPU. `get_current_device().name` says on which."""
    return True


def is_supported_version() -> bool:
    """True: the compilers are the pinned ones."""
    return True


def cuda_error() -> None:
    """None: there is no driver that could have failed."""


def close() -> None:
    """Reset the heap that kernels allocate from; arrays stay as long as they are referenced."""
    heap.reset()


@contextlib.contextmanager
def defer_cleanup():
    """Postpone freeing memory; here it is always freed with the last reference."""
    yield


@contextlib.contextmanager
def pinned(*arrays):
    """Pin host arrays in a with block: on a GPU their copies are faster and can be asynchronous, as recordings show."""
    with operations.registered(arrays):
        yield


@contextlib.contextmanager
def profiling():
    """Mark a region for a profiler; the virtual GPU's own is `vgpu.tools.profile`."""
    yield


def profile_start() -> None:
    """Start a profiler; the virtual GPU's own is `vgpu.tools.profile`."""


def profile_stop() -> None:
    """Stop a profiler."""
