"""Streams under capture, and their graphs: what is kept, what is run, and what CUDA refuses."""

import numpy as np
import pytest

from vgpu import operations, streams
from vgpu.base.errors import LaunchError, Unsupported
from vgpu.operations import graphs
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda
from vgpu.standins.cupy.cudart import CUDARuntimeError

ADD = cp.RawKernel(
    'extern "C" __global__ void add(float* x, float by) { x[blockIdx.x * blockDim.x + threadIdx.x] += by; }', "add"
)
SCALE = cp.RawKernel(
    """extern "C" __global__ void scale(float* y, const float* x, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = by * x[i];
}""",
    "scale",
)


@pytest.fixture(autouse=True)
def nothing_left_capturing():
    yield
    left = list(operations.capturing)
    for capture in left:
        graphs.abandon(capture.origin)
    assert left == []


@pytest.fixture
def stream():
    return cp.cuda.Stream(non_blocking=True)


def pinned(size, value=0.0):
    array = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * size), np.float32, size)
    array[:] = value
    return array


def test_a_capture_runs_nothing_and_its_graph_runs_everything_each_time(stream):
    x = cp.zeros(64, np.float32)
    stream.begin_capture()
    assert stream.is_capturing
    ADD((2,), (32,), (x, np.float32(1)), stream=stream)
    with stream:
        ADD((2,), (32,), (x, np.float32(10)))
    graph = stream.end_capture()
    assert not stream.is_capturing and repr(graph) == "<Graph of 2 nodes>"
    assert (x.get() == 0).all()
    graph.upload(stream)
    graph.launch(stream)
    assert (x.get() == 11).all()
    graph.launch()
    assert (x.get() == 22).all()


def test_arguments_are_those_of_the_capture_and_memory_is_read_at_the_launch(stream):
    x, host, back, by = cp.zeros(32, np.float32), pinned(32, 1), pinned(32), 5
    stream.begin_capture()
    x.set(host, stream)
    ADD((1,), (32,), (x, np.float32(by)), stream=stream)
    x.get(stream, out=back, blocking=False)
    graph = stream.end_capture()
    by = 7
    for value in (1, 2):
        host[:] = value
        graph.launch(stream)
        stream.synchronize()
        assert (back == value + 5).all()


def test_arrays_live_as_long_as_the_graph(stream):
    x, y = cp.ones(32, np.float32), cp.zeros(32, np.float32)
    stream.begin_capture()
    SCALE((1,), (32,), (y, x, np.float32(3)), stream=stream)
    graph = stream.end_capture()
    del x
    graph.launch()
    assert (y.get() == 3).all()


def test_fork_and_join_with_events(stream):
    side = cp.cuda.Stream(non_blocking=True)
    a, b, c = (cp.zeros(32, np.float32) for _ in range(3))
    stream.begin_capture()
    ADD((1,), (32,), (a, np.float32(1)), stream=stream)
    side.wait_event(stream.record())
    assert side.is_capturing
    SCALE((1,), (32,), (b, a, np.float32(2)), stream=side)
    SCALE((1,), (32,), (c, a, np.float32(3)), stream=stream)
    stream.wait_event(side.record())
    SCALE((1,), (32,), (a, b, np.float32(10)), stream=stream)
    graph = stream.end_capture()
    assert not side.is_capturing
    assert [sorted(node.follows) for node in graph._kept.nodes] == [[], [0], [0], [1, 2]]
    graph.launch()
    assert a.get()[0] == 20 and b.get()[0] == 2 and c.get()[0] == 3
    with streams.record() as timeline:
        graph.launch(stream)
        stream.synchronize()
    assert timeline.hazards() == []


def test_branches_of_a_graph_that_meet_in_memory_are_a_hazard(stream):
    side = cp.cuda.Stream(non_blocking=True)
    a = cp.zeros(32, np.float32)
    stream.begin_capture()
    side.wait_event(stream.record())
    ADD((1,), (32,), (a, np.float32(1)), stream=side)
    ADD((1,), (32,), (a, np.float32(1)), stream=stream)
    stream.wait_event(side.record())
    graph = stream.end_capture()
    with streams.record() as timeline:
        graph.launch(stream)
    (hazard,) = timeline.hazards()
    assert hazard.kind == "write after write" and hazard.nbytes == 128


def test_a_fork_that_nobody_joins(stream):
    side = cp.cuda.Stream(non_blocking=True)
    x = cp.zeros(32, np.float32)
    stream.begin_capture()
    side.wait_event(stream.record())
    ADD((1,), (32,), (x, np.float32(1)), stream=side)
    with pytest.raises(CUDARuntimeError, match=r"cudaErrorStreamCaptureUnjoined: .*add \(1 block\).*Record an event"):
        stream.end_capture()
    assert not stream.is_capturing and not side.is_capturing


def test_capture_begins_and_ends_in_one_stream(stream):
    with pytest.raises(CUDARuntimeError, match="cudaErrorIllegalState: this stream is not being captured"):
        stream.end_capture()
    with pytest.raises(CUDARuntimeError, match=r"cudaErrorStreamCaptureUnsupported.*default stream cannot be captured"):
        cp.cuda.Stream.null.begin_capture()
    side = cp.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    with pytest.raises(CUDARuntimeError, match="being captured already"):
        stream.begin_capture()
    side.wait_event(stream.record())
    with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureUnmatched"):
        side.end_capture()
    stream.end_capture()


WAITING = {
    "stream": lambda stream, x: stream.synchronize(),
    "query": lambda stream, x: stream.done,
    "device": lambda stream, x: cp.cuda.Device().synchronize(),
    "runtime": lambda stream, x: cp.cuda.runtime.streamSynchronize(stream.ptr),
    "blocking copy": lambda stream, x: x.get(stream),
    "callback": lambda stream, x: stream.add_callback(print, None),
}


@pytest.mark.parametrize("wait", WAITING.values(), ids=WAITING)
def test_waiting_is_refused_and_the_capture_is_lost(stream, wait):
    x = cp.zeros(32, np.float32)
    stream.begin_capture()
    with pytest.raises(
        CUDARuntimeError, match="cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing"
    ):
        wait(stream, x)
    assert not stream.is_capturing


def test_a_captured_event_is_not_waited_for(stream):
    stream.begin_capture()
    event = stream.record()
    with pytest.raises(CUDARuntimeError, match="cudaErrorCapturedEvent"):
        event.synchronize()
    with pytest.raises(CUDARuntimeError, match="cudaErrorCapturedEvent"):
        _ = event.done
    stream.end_capture()


def test_an_event_from_outside_breaks_the_capture(stream):
    event = cp.cuda.Stream().record()
    stream.begin_capture()
    with pytest.raises(CUDARuntimeError, match=r"cudaErrorStreamCaptureIsolation.*record it inside"):
        stream.wait_event(event)
    assert not stream.is_capturing


def test_the_default_stream_is_forbidden_while_a_blocking_stream_is_captured(stream):
    x = cp.zeros(32, np.float32)
    blocking = cp.cuda.Stream()
    for work in (lambda: ADD((1,), (32,), (x, np.float32(1))), lambda: x + 1, lambda: x.set(np.ones(32, np.float32))):
        blocking.begin_capture()
        with pytest.raises(CUDARuntimeError, match=r"cudaErrorStreamCaptureImplicit: .*non_blocking=True"):
            work()
        assert not blocking.is_capturing
        with pytest.raises(CUDARuntimeError, match="cudaErrorIllegalState: an error has spoilt"):
            blocking.begin_capture()
        with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
            blocking.end_capture()
    stream.begin_capture()  # which is non-blocking
    ADD((1,), (32,), (x, np.float32(1)))
    stream.end_capture()
    assert (x.get() == 1).all()


NUMPY = {
    "operator": lambda x: x + 1,
    "in place": lambda x: x.__iadd__(1),
    "function": lambda x: cp.sum(x),
    "method": lambda x: x.max(),
    "assignment": lambda x: x.__setitem__(0, 1),
    "new array": lambda x: cp.zeros(3),
    "from the host": lambda x: cp.asarray([1, 2]),
    "copy": lambda x: x.copy(),
    "random": lambda x: cp.random.random(3),
    "gather": lambda x: x[cp.asarray([1, 2])],
    "fill": lambda x: x.fill(3),
}


@pytest.mark.parametrize("work", NUMPY.values(), ids=NUMPY)
def test_what_numpy_does_here_cannot_be_captured_and_says_so(stream, work):
    x = cp.zeros(32, np.float32)
    with stream:
        stream.begin_capture()
        with pytest.raises(Unsupported, match=r"cannot be captured on the virtual GPU.*Use a RawKernel"):
            work(x)
    assert (x.get() == 0).all()


def test_kernels_of_every_kind_are_captured(stream):
    x, y, total = cp.arange(8, dtype=np.float32), cp.zeros(8, np.float32), cp.zeros((), np.float32)
    square = cp.ElementwiseKernel("float32 x", "float32 y", "y = x * x", "square")
    add_up = cp.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0", "add_up")
    called = []

    @numba_cuda.jit
    def twice(v):
        i = numba_cuda.grid(1)
        if i < v.size:
            v[i] *= 2

    numba_stream = numba_cuda.external_stream(stream.ptr)
    with stream:
        stream.begin_capture()
        square(x, y)
        twice[1, 32, numba_stream](y)
        add_up(y, out=total)
        stream.launch_host_func(called.append, 1)
        graph = stream.end_capture()
    assert (y.get() == 0).all() and called == []
    graph.launch(stream)
    assert float(total) == 2 * (np.arange(8) ** 2).sum() and called == [1]


def test_copies_of_the_runtime_are_captured(stream):
    x, host = cp.zeros(8, np.float32), pinned(8, 4)
    stream.begin_capture()
    runtime = cp.cuda.runtime
    runtime.memcpyAsync(x.data.ptr, host.ctypes.data, 32, runtime.memcpyHostToDevice, stream.ptr)
    runtime.memsetAsync(x.data.ptr, 0, 4, stream.ptr)
    graph = stream.end_capture()
    assert (x.get() == 0).all()
    graph.launch(stream)
    assert x.get().tolist() == [0] + [4] * 7


def test_copies_through_pointers_are_captured(stream):
    x, y, host, back = cp.zeros(8, np.float32), cp.zeros(8, np.float32), pinned(8, 4), pinned(8)
    stream.begin_capture()
    x.data.copy_from_host_async(host.ctypes.data, 32, stream)
    y.data.copy_from_async(x.data, 32, stream)
    x.data.memset_async(0, 16, stream)
    y.data.copy_to_host_async(back.ctypes.data, 32, stream)
    graph = stream.end_capture()
    assert (x.get() == 0).all() and (y.get() == 0).all() and (back == 0).all()
    graph.launch(stream)
    assert x.get().tolist() == [0] * 4 + [4] * 4 and (y.get() == 4).all() and (back == 4).all()


def test_copies_to_cuda_arrays_are_captured(stream):
    texture, runtime = cp.cuda.texture, cp.cuda.runtime
    form = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    there, host, back = texture.CUDAarray(form, 8), pinned(8, 4), pinned(8)
    stream.begin_capture()
    there.copy_from(host, stream)
    there.copy_to(back, stream)
    graph = stream.end_capture()
    assert (back == 0).all()
    graph.launch(stream)
    assert (back == 4).all()


def test_a_bad_launch_is_refused_at_the_capture(stream):
    x = cp.zeros(32, np.float32)
    stream.begin_capture()
    with pytest.raises(LaunchError, match="a GPU allows at most 1024"):
        ADD((1,), (2048,), (x, np.float32(1)), stream=stream)
    stream.end_capture()


def test_graphs_are_made_by_capture_only_and_not_nested(stream):
    with pytest.raises(TypeError, match=r"capture one: stream.begin_capture\(\)"):
        cp.cuda.Graph()
    stream.begin_capture()
    graph = stream.end_capture()
    stream.begin_capture()
    with pytest.raises(Unsupported, match="does not capture the launch of a graph"):
        graph.launch(stream)
    stream.end_capture()


def test_a_graph_pays_one_launch(stream):
    x = cp.zeros(32, np.float32)
    stream.begin_capture()
    for _ in range(10):
        ADD((1,), (32,), (x, np.float32(1)), stream=stream)
    graph = stream.end_capture()
    with streams.record() as together:
        graph.launch(stream)
    with streams.record() as alone:
        for _ in range(10):
            ADD((1,), (32,), (x, np.float32(1)), stream=stream)
    together, alone = together.schedule("A100"), alone.schedule("A100")
    assert len(together.spans) == len(alone.spans) == 10
    work = sum(span.end - span.start for span in together.spans)
    assert together.seconds == pytest.approx(5e-6 + work)
    assert alone.seconds == pytest.approx(10 * 5e-6 + work / 10)


def test_modes_of_capture(stream):
    other = cp.cuda.Stream(non_blocking=True)
    x = cp.zeros(4, np.float32)
    stream.begin_capture(cp.cuda.runtime.streamCaptureModeGlobal)
    with pytest.raises(CUDARuntimeError, match="forbids: do it before begin_capture"):
        x.get(other)
    with pytest.raises(CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
        stream.end_capture()
    stream.begin_capture(cp.cuda.runtime.streamCaptureModeRelaxed)
    assert (x.get(other) == 0).all()
    stream.end_capture()
