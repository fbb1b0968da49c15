"""Exercises on streams: Python functions that ask for work and return, judged by what their recording shows."""

from __future__ import annotations

import functools

import numpy as np

from helpers.exercises import Budget, Case, Exercise, Mistake, plural
from helpers.exercises import mistakes as known
from helpers.exercises.stream_work import GPU, OnDevice, Out, OutOnDevice, microseconds, of, waits

ROUNDS = 180
BIG = 1 << 20
STEPS = 10

_WORK = r"""
extern "C" __global__ void work(float* x, int n, int rounds) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        for (int r = 0; r < rounds; ++r) v += 1;
        x[i] = v;
    }
}
"""
_HALVE = r"""
extern "C" __global__ void halve(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] / 2 + 1;
}
"""


@functools.cache
def _kernel(source: str, name: str):
    from helpers.vgpu import cupy as cp

    return cp.RawKernel(source, name)


@functools.cache
def _numba_kernels():
    from helpers.vgpu import numba_cuda as cuda

    @cuda.jit
    def work(x, rounds):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            for _ in range(rounds):
                x[i] += 1

    @cuda.jit
    def add(x, y):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            x[i] += y[i]

    return work, add


def _values(n: int, shift: int = 0) -> np.ndarray:
    return ((np.arange(n) + shift) % 97 - 40).astype(np.float32)


def _overlap_case(n: int) -> Case:
    x, rounds = _values(n), np.int32(ROUNDS if n == BIG else 3)
    arguments = (x, OnDevice(n), Out(x + np.float32(rounds)), _kernel(_WORK, "work"), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


def _join_case(n: int) -> Case:
    x, y, rounds = _values(n), _values(n, 5), 30 if n == BIG // 4 else 2
    arguments = (x, y, Out(x + y + np.float32(2 * rounds)), *_numba_kernels(), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


def _replay_case(n: int, times: int) -> Case:
    x = _values(n)
    wanted = x
    for _ in range(STEPS * times):
        wanted = wanted / 2 + 1
    out = OutOnDevice(wanted.astype(np.float32), initial=x)
    arguments = (out, _kernel(_HALVE, "halve"), times)
    return Case(f"{plural(n, 'element')}, {plural(times, 'time')}", arguments, block=(128,))


def _timelines(evidence) -> list:
    return [outcome.timeline for outcome in evidence.outcomes if outcome.timeline is not None]


def _any_timeline(test):
    return lambda evidence: any(map(test, _timelines(evidence)))


def _pageable(timeline) -> bool:
    return any(operation.pinned is False for operation in timeline.operations)


def _queues(timeline) -> int:
    return len({operation.queue for operation in timeline.operations if operation.kind == "kernel"})


def _records_late(timeline) -> bool:
    """Whether an event is recorded, and a stream waits for one."""
    return bool(of(timeline, "record")) and bool(of(timeline, "wait"))


def _waits_for_nothing(timeline) -> bool:
    return any("never recorded" in line for line in timeline.findings())


def _graphs(timeline) -> int:
    return len({id(each.graph) for each in of(timeline, "graph")})


def _replayed(often):
    """What comes out where the ten launches run `often(times)` times."""

    def wrong(case: Case) -> np.ndarray:
        x, _, times = case.arguments
        wanted = x.initial
        for _ in range(STEPS * often(times)):
            wanted = wanted / 2 + 1
        return wanted

    return known.gives(wrong)


def _blocks_rounded_down(case: Case) -> np.ndarray:
    x = case.out
    done = max(1, x.initial.size // 128) * 128
    return np.where(np.arange(x.initial.size) < done, x.expected, x.initial)


def _short_graph(timeline) -> bool:
    return any(len(each.nodes) < STEPS for each in of(timeline, "graph"))


def _kernels(timeline) -> int:
    """How many kernels run, those of graphs each time."""
    in_graphs = sum(node.kind == "kernel" for each in of(timeline, "graph") for node, _ in each.nodes)
    return len(of(timeline, "kernel")) + in_graphs


def _not_brought(timeline, needed: int) -> int:
    """The bytes of a result that no copy brings from the device, or all if no kernel runs."""
    brought = sum(operation.nbytes for operation in of(timeline, "D2H")) if _kernels(timeline) else 0
    return max(0, needed - brought)


def _few_threads(timeline) -> bool:
    return any(each.counters is not None and each.counters.warps < 32 for each in of(timeline, "kernel"))


def _kernels_in_the_default_stream(timeline) -> bool:
    """Kernels, all or some, are in the default stream, and other things are not."""
    kernels = {operation.queue.kind for operation in of(timeline, "kernel")}
    return kernels != {"stream"} and any(operation.queue.kind == "stream" for operation in timeline.operations)


def _not_added(case: Case) -> np.ndarray:
    x, rounds = case.arguments[0], case.arguments[-1]
    return x + np.float32(rounds)


def _as_it_was(case: Case) -> np.ndarray:
    return case.out.initial


def _failed_in_capture(evidence) -> bool:
    return any("Capture" in str(outcome.error) for outcome in evidence.outcomes)


MADE_ELSEWHERE = "The kernel is to make the result, on the GPU. What the host calculates takes no stream at all."
BROUGHT = Budget(
    "bytes of the result that do not come from the GPU", lambda t: _not_brought(t, 4 * BIG), 0, MADE_ELSEWHERE
)
JOINED = Budget(BROUGHT.label, lambda t: _not_brought(t, BIG), 0, MADE_ELSEWHERE)
HALVED = Budget(
    "launches of halve that are missing of 200",
    lambda t: max(0, 20 * STEPS - _kernels(t)),
    0,
    "It is about launching this kernel, ten times for each of `times`.",
)
NO_WAITS = Budget(
    "times that the host waits",
    waits,
    0,
    "Only ask for work: no synchronize(), no copy that blocks, no pageable memory. Whoever calls will wait.",
)
OVERLAP = Budget(
    f"modelled µs on {GPU} for 4 MiB",
    microseconds,
    300,
    "In one piece it takes about 475. Copies both ways and the kernel can work at one time, on different chunks.",
)
TOGETHER = Budget(
    f"modelled µs on {GPU} for 1 MiB each",
    microseconds,
    170,
    "The kernel on x and the copy of y need different engines: let them run side by side.",
)
REPLAYED = Budget(
    f"modelled µs on {GPU} for 20 times",
    microseconds,
    420,
    "200 launches cost the host 200 launch overheads. A graph of ten costs one.",
)
CAPTURED_ONCE = Budget(
    "graphs made for 20 times",
    _graphs,
    1,
    "A graph can be launched as often as you like: make one.",
)

ON_THE_HOST = Mistake(
    "made on the host",
    known.over(BROUGHT.label),
    "The result is right, and the GPU has not made it, or not all of it. Copy in, launch the kernel, copy out.",
)
EXERCISES = (
    Exercise(
        key="ch11.overlap",
        title="copy in, work, copy out, in chunks over streams",
        language="streams",
        name="overlap",
        cases=lambda: [_overlap_case(n) for n in (1, 31, 997, 4096)],
        measured=lambda: _overlap_case(BIG),
        budgets=(BROUGHT, NO_WAITS, OVERLAP),
        sanitize=True,
        mistakes=(
            ON_THE_HOST,
            Mistake(
                "a chunk of no elements",
                lambda e: any(isinstance(o.error, ValueError) and "range() arg 3" in str(o.error) for o in e.outcomes),
                "With fewer elements than chunks, x.size // chunks is 0. Round the chunk's size up: -(-n // chunks).",
            ),
            Mistake(
                "the kernel takes a chunk for all",
                known.out_of_bounds,
                "The kernel goes up to the n that it is given, and the array that it is given ends before. n is the "
                "size of the chunk: np.int32(device[part].size).",
            ),
            Mistake(
                "nothing comes back",
                lambda e: known.nothing_written(e) and _any_timeline(lambda t: bool(of(t, "kernel")))(e),
                "The work is done on the device, and stays there: device[part].get(stream, out=out[part], "
                "blocking=False).",
            ),
            Mistake(
                "the kernel is not launched",
                known.gives(lambda case: case.arguments[0]),
                "What goes in comes out as it was: between the two copies stands the kernel.",
            ),
            Mistake(
                "pageable memory in between",
                _any_timeline(_pageable),
                "One of the copies goes from or to an ordinary NumPy array, so the host waits for it. x and out are "
                "pinned: slices of them are pinned too; what you make with NumPy is not.",
            ),
            Mistake(
                "a step without its stream",
                lambda e: (
                    any("default stream" in finding.what for finding in e.findings)
                    or (known.over(OVERLAP.label)(e) and _any_timeline(_kernels_in_the_default_stream)(e))
                ),
                "Something is asked for without a stream, so it goes to the default stream, and the rest of its chunk "
                "to another. Name the chunk's stream in all three: set, the kernel (stream=stream), and get.",
            ),
            Mistake(
                "two streams share one part of the device array",
                lambda evidence: (
                    known.found()(evidence)
                    and any(h.second.kind == "kernel" for t in _timelines(evidence) for h in t.hazards())
                ),
                "A chunk in one stream overwrites what another stream still uses. Give each chunk its own slice.",
            ),
            Mistake(
                "nothing orders a chunk's three steps",
                known.found(),
                "Copy in, work and copy out of one chunk belong into one stream, one after the other.",
            ),
            Mistake(
                "the last chunk is cut short",
                lambda evidence: (
                    not known.nothing_written(evidence) and (known.tail_missing(evidence) or _tail_only(evidence))
                ),
                "n is not always a multiple of the number of chunks. Round the chunk's size up: -(-n // chunks).",
            ),
            Mistake(
                "the host waits between chunks",
                known.over(NO_WAITS.label),
                "A wait in the loop lets nothing run beside it. get() blocks unless told not to: blocking=False.",
            ),
            Mistake(
                "a kernel of few threads",
                lambda e: known.over(OVERLAP.label)(e) and _any_timeline(_few_threads)(e),
                "The kernel itself takes most of the time: some blocks of 256 threads, such as 16, have work enough "
                "in a chunk.",
            ),
            Mistake(
                "one stream only",
                lambda evidence: (
                    known.over(OVERLAP.label)(evidence)
                    and all(_queues(timeline) == 1 for timeline in _timelines(evidence))
                ),
                "What is in one stream runs in order, however many chunks it has. Give the chunks streams in turn.",
            ),
            Mistake(
                "too many chunks",
                lambda evidence: (
                    known.over(OVERLAP.label)(evidence) and _any_timeline(lambda t: len(of(t, "kernel")) > 12)(evidence)
                ),
                "Each chunk is three things to ask for, each a launch overhead of the host. Take fewer, larger ones.",
            ),
            Mistake(
                "too few chunks",
                lambda e: known.over(OVERLAP.label)(e) and _any_timeline(lambda t: 1 < len(of(t, "kernel")) < 4)(e),
                "With two or three chunks, most of the time only one engine has something to do: the first copy in and "
                "the last one out overlap with nothing. Take more, smaller ones.",
            ),
        ),
        hints=(
            "A chunk is a slice: x[part], device[part], out[part]. Each chunk goes through one stream.",
            "Eight chunks over four streams, stream i % 4 for chunk i; min(n, …) ends the last one.",
            "device[part].set(x[part], stream); work((16,), (256,), (device[part], np.int32(size), rounds), "
            "stream=stream); device[part].get(stream, out=out[part], blocking=False)",
        ),
        solution="""
def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, first in enumerate(range(0, x.size, size)):
        part, stream = slice(first, first + size), streams[i % 4]
        device[part].set(x[part], stream)
        work((16,), (256,), (device[part], np.int32(device[part].size), rounds), stream=stream)
        device[part].get(stream, out=out[part], blocking=False)
""",
        why=(
            "Each chunk's three steps follow one another in a stream; different chunks may overlap, so the two copy "
            "engines and the SMs all work at once. Eight chunks keep the start and the end short, when only one engine "
            "has something to do; 24 things to ask for still take the host less time than the copies take."
        ),
        stretch="ask for all copies in first, then all kernels, then all copies out. Does the schedule change?",
    ),
    Exercise(
        key="ch11.join",
        title="add the missing dependency, in Numba",
        language="streams",
        name="join",
        cases=lambda: [_join_case(n) for n in (1, 31, 997)],
        measured=lambda: _join_case(BIG // 4),
        budgets=(JOINED, NO_WAITS, TOGETHER),
        sanitize=True,
        mistakes=(
            ON_THE_HOST,
            Mistake(
                "add is not launched",
                known.gives(_not_added),
                "The kernel's work on x comes back, and y has no part in it: add[16, 256, first](a, b).",
            ),
            Mistake(
                "a copy and its kernel in two streams",
                lambda e: any("work (" in f.what and "H2D" in f.what for f in e.findings),
                "An array is copied in one stream, and the kernel that works on it is in another: what comes first is "
                "not said. Give both the same stream.",
            ),
            Mistake(
                "waits for an event that was never recorded",
                lambda evidence: known.found()(evidence) and _any_timeline(_waits_for_nothing)(evidence),
                "A wait for an event that nobody has recorded yet is no wait. First event.record(the stream to wait "
                "for), then event.wait(the stream that waits).",
            ),
            Mistake(
                "the event stands in the wrong place",
                lambda evidence: known.found()(evidence) and _any_timeline(_records_late)(evidence),
                "An event stands for what its stream has been given before record(), and holds up what the other is "
                "given after wait(). Record behind the kernel on y; wait ahead of add.",
            ),
            Mistake(
                "nothing makes the first stream wait",
                known.found(),
                "add reads b in one stream while the other may still be working on it. The result is right here, "
                "because the virtual GPU runs things in the order they are asked for. CUDA does not promise that.",
            ),
            Mistake(
                "the host waits instead",
                known.over(NO_WAITS.label),
                "It orders the two, and stops the host meanwhile. An event lets the stream wait instead.",
            ),
            Mistake(
                "everything in one stream",
                known.over(TOGETHER.label),
                "Right, and in order, and nothing overlaps: the kernel on x could run while y is copied.",
            ),
        ),
        hints=(
            "Which operations touch b, and in which stream is each of them?",
            "Record an event in the second stream behind its kernel; let the first stream wait for it before add.",
            "ready = cuda.event(); … ready.record(second); ready.wait(first); add[16, 256, first](a, b)",
        ),
        solution="""
def join(x, y, out, work, add, rounds):
    first, second, ready = cuda.stream(), cuda.stream(), cuda.event()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    ready.record(second)
    ready.wait(first)
    add[16, 256, first](a, b)
    a.copy_to_host(out, stream=first)
""",
        why=(
            "The event marks the place behind the kernel on b. The wait holds up the first stream there, and only what "
            "it is given later: its copy and its kernel have gone ahead. The host waits for nobody."
        ),
        stretch="let the second stream copy its b back as well. Does it have to wait for add, which reads b too?",
    ),
    Exercise(
        key="ch11.replay",
        title="a loop of small launches as a graph",
        language="streams",
        name="replay",
        cases=lambda: [_replay_case(n, times) for n, times in ((1, 1), (97, 2), (1000, 3))],
        measured=lambda: _replay_case(256, 20),
        budgets=(HALVED, NO_WAITS, CAPTURED_ONCE, REPLAYED),
        sanitize=True,
        mistakes=(
            Mistake(
                "something was asked for that cannot be captured",
                _failed_in_capture,
                "Between begin_capture and end_capture nothing runs, so nothing can be waited for, and the default "
                "stream is out of bounds.",
            ),
            Mistake(
                "made without the kernel",
                known.over(HALVED.label),
                "The result is right, and made by other means. It is about launching this kernel, ten times for each "
                "of `times`, at the price of few launches.",
            ),
            Mistake(
                "replays in several streams",
                known.found(),
                "Each replay needs what the last one made, and in another stream nothing makes it wait. One stream for "
                "all of them.",
            ),
            Mistake(
                "the graph is never launched",
                known.gives(_as_it_was),
                "A capture runs nothing. graph.launch(stream) does, each time you call it.",
            ),
            Mistake(
                "one launch too few",
                _replayed(lambda times: times - 1),
                "A capture runs nothing, not even once: after it the graph must be launched `times` times.",
            ),
            Mistake(
                "launched once",
                _replayed(lambda times: 1),
                "The graph holds ten launches, and is to be launched `times` times: in a loop.",
            ),
            Mistake(
                "one replay too many",
                _replayed(lambda times: times + 1),
                "The ten launches have run once more than asked. What is launched ahead of a capture runs, too.",
            ),
            Mistake(
                "`times` times `times`",
                _replayed(lambda times: times * times),
                "The loop over `times` stands in the capture and around the launch. One of the two is enough.",
            ),
            Mistake(
                "blocks are rounded down",
                known.gives(_blocks_rounded_down),
                "The last elements have no block: -(-x.size // 128) rounds up.",
            ),
            Mistake(
                "too little in the graph",
                lambda e: known.over(REPLAYED.label)(e) and _any_timeline(_short_graph)(e),
                "A graph of one launch costs as much as the launch. All ten go into it.",
            ),
            Mistake(
                "captured again each time",
                known.over("graphs made for 20 times"),
                "Capturing costs the host as much as launching, and making the graph executable costs more. Capture "
                "once, ahead of the loop, and launch that graph in the loop.",
            ),
            Mistake(
                "no graph",
                known.over(REPLAYED.label),
                "200 launches of a kernel that takes less time than asking for it: the host is the bottleneck.",
            ),
        ),
        hints=(
            "What the ten launches do is the same each time: the same kernel, with the same arguments.",
            "stream.begin_capture(); ten launches with stream=stream; graph = stream.end_capture().",
            "Ahead of the loop: capture. In the loop `for _ in range(times)`: graph.launch(stream).",
        ),
        solution="""
def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for _ in range(times):
        graph.launch(stream)
""",
        why=(
            "The ten launches are recorded once, with their arguments and their order. Each replay is one call, so the "
            "host pays one launch overhead where it paid ten. The kernels themselves are none the faster."
        ),
        stretch="what does a single kernel cost that does the ten steps in a loop of its own? Why may it, here?",
    ),
)


def _tail_only(evidence) -> bool:
    """What is wrong lies at the end: the start of every result is right."""
    seen = [outcome for outcome in evidence.outcomes if not outcome.ok]
    right = any(outcome.ok for outcome in evidence.outcomes)
    return bool(seen) and right and all(o.error is None and o.wrong.ravel()[-1] for o in seen)
