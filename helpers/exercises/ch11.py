"""Exercises on streams: Python functions that ask for work and return, judged by what their recording shows."""

from __future__ import annotations

from helpers.checking import mistakes as known
from helpers.checking.exercise import Exercise, Mistake
from helpers.checking.stream_work import of, some, timelines
from helpers.exercises.ch11_cases import (
    BIG,
    BROUGHT,
    CAPTURED_ONCE,
    HALVED,
    JOINED,
    NO_WAITS,
    ON_THE_HOST,
    OVERLAP,
    REPLAYED,
    TOGETHER,
    any_pageable,
    as_it_was,
    blocks_rounded_down,
    failed_in_capture,
    few_threads,
    join_case,
    kernels_in_the_default_stream,
    not_added,
    overlap_case,
    queues,
    records_late,
    replay_case,
    replayed,
    short_graph,
    tail_only,
    waits_for_nothing,
)

EXERCISES = (
    Exercise(
        key="ch11.overlap",
        title="copy in, work, copy out, in chunks over streams",
        language="streams",
        name="overlap",
        cases=lambda: [overlap_case(n) for n in (1, 31, 997, 4096)],
        measured=lambda: overlap_case(BIG),
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
                lambda e: known.nothing_written(e) and some(lambda t: bool(of(t, "kernel")))(e),
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
                some(any_pageable),
                "One of the copies goes from or to an ordinary NumPy array, so the host waits for it. x and out are "
                "pinned: slices of them are pinned too; what you make with NumPy is not.",
            ),
            Mistake(
                "a step without its stream",
                lambda e: (
                    any("default stream" in finding.what for finding in e.findings)
                    or (known.over(OVERLAP.label)(e) and some(kernels_in_the_default_stream)(e))
                ),
                "Something is asked for without a stream, so it goes to the default stream, and the rest of its chunk "
                "to another. Name the chunk's stream in all three: set, the kernel (stream=stream), and get.",
            ),
            Mistake(
                "two streams share one part of the device array",
                lambda evidence: (
                    known.found()(evidence)
                    and any(h.second.kind == "kernel" for t in timelines(evidence) for h in t.hazards())
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
                    not known.nothing_written(evidence) and (known.tail_missing(evidence) or tail_only(evidence))
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
                lambda e: known.over(OVERLAP.label)(e) and some(few_threads)(e),
                "The kernel itself takes most of the time: some blocks of 256 threads, such as 16, have work enough "
                "in a chunk.",
            ),
            Mistake(
                "one stream only",
                lambda evidence: (
                    known.over(OVERLAP.label)(evidence)
                    and all(queues(timeline) == 1 for timeline in timelines(evidence))
                ),
                "What is in one stream runs in order, however many chunks it has. Give the chunks streams in turn.",
            ),
            Mistake(
                "too many chunks",
                lambda evidence: (
                    known.over(OVERLAP.label)(evidence) and some(lambda t: len(of(t, "kernel")) > 12)(evidence)
                ),
                "Each chunk is three things to ask for, each a launch overhead of the host. Take fewer, larger ones.",
            ),
            Mistake(
                "too few chunks",
                lambda e: known.over(OVERLAP.label)(e) and some(lambda t: 1 < len(of(t, "kernel")) < 4)(e),
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
        cases=lambda: [join_case(n) for n in (1, 31, 997)],
        measured=lambda: join_case(BIG // 4),
        budgets=(JOINED, NO_WAITS, TOGETHER),
        sanitize=True,
        mistakes=(
            ON_THE_HOST,
            Mistake(
                "add is not launched",
                known.gives(not_added),
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
                lambda evidence: known.found()(evidence) and some(waits_for_nothing)(evidence),
                "A wait for an event that nobody has recorded yet is no wait. First event.record(the stream to wait "
                "for), then event.wait(the stream that waits).",
            ),
            Mistake(
                "the event stands in the wrong place",
                lambda evidence: known.found()(evidence) and some(records_late)(evidence),
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
        cases=lambda: [replay_case(n, times) for n, times in ((1, 1), (97, 2), (1000, 3))],
        measured=lambda: replay_case(256, 20),
        budgets=(HALVED, NO_WAITS, CAPTURED_ONCE, REPLAYED),
        sanitize=True,
        mistakes=(
            Mistake(
                "something was asked for that cannot be captured",
                failed_in_capture,
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
                known.gives(as_it_was),
                "A capture runs nothing. graph.launch(stream) does, each time you call it.",
            ),
            Mistake(
                "one launch too few",
                replayed(lambda times: times - 1),
                "A capture runs nothing, not even once: after it the graph must be launched `times` times.",
            ),
            Mistake(
                "launched once",
                replayed(lambda times: 1),
                "The graph holds ten launches, and is to be launched `times` times: in a loop.",
            ),
            Mistake(
                "one replay too many",
                replayed(lambda times: times + 1),
                "The ten launches have run once more than asked. What is launched ahead of a capture runs, too.",
            ),
            Mistake(
                "`times` times `times`",
                replayed(lambda times: times * times),
                "The loop over `times` stands in the capture and around the launch. One of the two is enough.",
            ),
            Mistake(
                "blocks are rounded down",
                known.gives(blocks_rounded_down),
                "The last elements have no block: -(-x.size // 128) rounds up.",
            ),
            Mistake(
                "too little in the graph",
                lambda e: known.over(REPLAYED.label)(e) and some(short_graph)(e),
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
