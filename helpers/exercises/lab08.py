"""Lab 08, overlap it: pinned buffers, events, a state that is carried on, and a graph for each batch."""

from __future__ import annotations

from helpers.checking.exercise import Budget, Exercise
from helpers.checking.stream_work import GPU, waits
from helpers.exercises import lab08_cases as cases
from helpers.exercises import lab08_graph_mistakes as graph_mistakes
from helpers.exercises import lab08_mistakes as mistakes
from helpers.exercises.lab08_mistakes import SENT_FROM, TIME, WAITS


def _time(at_most: float, teach: str) -> Budget:
    return Budget(TIME, cases.time, at_most, f"Modelled for {GPU}, whatever GPU is chosen. {teach}")


NO_WAITS = Budget(
    WAITS, waits, 0, "Only ask for work: no synchronize(), no copy that blocks, no copy from or to pageable memory."
)

EXERCISES = (
    Exercise(
        key="lab08.stage",
        title="batches through two pinned buffers",
        language="streams",
        name="stage",
        cases=lambda: [
            cases.stage_case(*size) for size in ((1, 1, 1), (2, 7, 31), (3, 16, 97), (5, 10, 256), (8, 3, 300))
        ],
        measured=lambda: cases.stage_case(8, cases.STEPS, cases.SERIES),
        drawn=cases.stages_drawn,
        sanitize=True,
        budgets=(
            Budget(
                WAITS,
                waits,
                8,
                "One wait a batch is enough: for the copy that still reads the buffer you are about to fill.",
            ),
            Budget(
                SENT_FROM,
                cases.sent_mebibytes,
                1,
                "The two buffers are all the pinned memory that batches may be sent from: pinned memory is scarce.",
            ),
            _time(
                260,
                "Copies in can follow one another without a gap, if the host waits for the copy out of the buffer it "
                "wants to fill, and for nothing else.",
            ),
        ),
        mistakes=mistakes.STAGE,
        hints=(
            "set() returns before the copy has run. Which later line of the loop changes what it reads?",
            "Record an event behind each copy, one event for each buffer; wait for it before that buffer is filled.",
            "sent[slot].synchronize() before staging[slot] = batches[k]; sent[slot].record(stream) after set(). An "
            "event that was never recorded is not waited for.",
        ),
        why=(
            "The host is a worker like the others, and shares memory with the copy engine. What it writes must not be "
            "under way, so it has to wait; an event behind the copy is the least it can wait for. Two buffers are "
            "enough: while one is being sent, the other is filled. Waiting for the stream would be right too, but then "
            "the host stands still until the kernel and the copy back are over, and the copy engine with it. A "
            "data loader that sends batches through pinned buffers has to do the same."
        ),
        stretch="one buffer, or three: what does the schedule say? The host's own work takes no time in the model.",
    ),
    Exercise(
        key="lab08.branches",
        title="three chains that join, in Numba",
        language="streams",
        name="branches",
        cases=lambda: [cases.branches_case(*size) for size in ((1, 1), (7, 31), (16, 97), (33, 128), (5, 300))],
        measured=lambda: cases.branches_case(cases.STEPS, cases.SERIES),
        drawn=cases.branches_drawn,
        sanitize=True,
        budgets=(
            NO_WAITS,
            _time(
                258,
                "The chains need one another only where they join. Ask for the longest first, and wait for each as "
                "late as you can.",
            ),
        ),
        mistakes=mistakes.BRANCHES,
        hints=(
            "Draw the chains. Which operation is the first that needs two of them?",
            "Three streams and two events, one behind y, one behind z. The first stream waits for y's ahead of the "
            "first add, for z's ahead of the second.",
            "c = cuda.to_device(z, stream=three); smooth[blocks, 128, three](c, 8); z_done.record(three), all of that "
            "first. Then x in one, y in two, y_done.record(two); y_done.wait(one); add[blocks, 128, one](a, b); …",
        ),
        why=(
            "The shortest possible time is that of the longest chain of things that need one another, and an order "
            "that nobody needs can only make it longer. wait() holds up what its stream is given afterwards, so its "
            "place matters as much as that of record(). And because one engine does all copies to the device, in the "
            "order of asking, the chain with most work behind its copy should be asked for first."
        ),
        stretch="give z's stream priority, or copy z last and x first: what does the schedule say, and why?",
    ),
    Exercise(
        key="lab08.carry",
        title="a long series through two small buffers",
        language="streams",
        name="carry",
        cases=lambda: [
            cases.carry_case(*size) for size in ((1, 1, 1), (8, 8, 31), (13, 5, 97), (64, 16, 128), (97, 10, 200))
        ],
        measured=lambda: cases.carry_case(1900, cases.STEPS, cases.SERIES),
        drawn=cases.carries_drawn,
        sanitize=True,
        budgets=(
            NO_WAITS,
            Budget(
                "MiB filled on the device",
                cases.filled_mebibytes,
                1,
                "The two buffers are all the device memory that you have.",
            ),
            _time(
                310,
                "While a kernel works in one buffer, the other can be copied out and filled again. Let each wait for "
                "no more than it needs.",
            ),
        ),
        mistakes=mistakes.CARRY,
        hints=(
            "Say for each of a piece's three steps which steps of earlier pieces it has to follow.",
            "Give each buffer a stream: then the buffers are in order by themselves. Only level goes from one stream "
            "to the other, and an event can order that.",
            "For piece k: stream = streams[k % 2]; set; stream.wait_event(done), if k > 0; smooth; done.record(stream);"
            " get(…, blocking=False). The last piece may be shorter: room = buffers[k % 2][: len(part)].",
        ),
        why=(
            "Two buffers, each with its stream, order themselves: a buffer is filled again when its copy out is over. "
            "Only the state goes across, and one event a piece orders that. Its place decides all: recorded "
            "behind the copy out it would be right as well, and nothing would overlap but the copies in. The "
            "kernels run one after another, as they must; the copies hide behind them. So a sequence of any length "
            "runs in a fixed amount of device memory."
        ),
        stretch="a third buffer: what does it buy, and which engine is then the busiest?",
    ),
    Exercise(
        key="lab08.epoch",
        title="capture once, launch for every batch",
        language="streams",
        name="epoch",
        cases=lambda: [
            cases.epoch_case(*size) for size in ((1, 1, 1, 1), (2, 7, 31, 2), (5, 16, 97, 3), (3, 33, 128, 1))
        ],
        measured=lambda: cases.epoch_case(8, 64, 128, 3),
        drawn=cases.epochs_drawn,
        sanitize=True,
        budgets=(
            Budget(
                "requests of the host",
                cases.requests,
                35,
                "What is captured is asked for once, and a launch of the graph is one request, whatever is in it.",
            ),
            _time(
                200,
                "Within the graph too only what is ordered runs in order: the two directions may run side by side.",
            ),
        ),
        mistakes=graph_mistakes.EPOCH,
        hints=(
            "What is the same for every batch, and what is not? Capture the former, once.",
            "In the capture: an event in one, for which two waits; the chains in one and two; an event in two, for "
            "which one waits; then add.",
            "fork.record(one); two.wait_event(fork); the layers; join.record(two); one.wait_event(join); add(…, "
            "stream=one); graph = one.end_capture(). For each batch: x.set(…, one); graph.launch(one); f.get(…).",
        ),
        why=(
            "A stream that waits for an event of the capture is captured too, so a graph can hold any order, not just "
            "a chain. Its kernels keep their arguments; new data come by a copy into the same array, in the same "
            "stream, and so in order. The host then asks for three things a batch, however deep the network is. That "
            "is what torch.cuda.CUDAGraph does, and why it wants static inputs."
        ),
        stretch=(
            "two sets of arrays and two graphs, so that the next batch is copied in while the last is worked on: what "
            "does it gain? (Two captures take a few requests more than the limit: try it in a cell of its own.)"
        ),
    ),
)
