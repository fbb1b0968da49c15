"""What is done wrong where lab 08 captures a graph: mistakes in the order in which they are tried."""

from __future__ import annotations

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.checking.stream_work import graphs, of, some
from helpers.exercises import lab08_cases as cases
from helpers.exercises import lab08_traces as traces
from helpers.exercises.lab08_mistakes import HOST_DID_IT, IN_DEFAULT, TIME

EPOCH = (
    Mistake(
        "the two streams do not join",
        traces.captures_fail("Unjoined"),
        "The second stream came into the capture, and nothing waits for it. Record an event behind its last "
        "kernel, and let the first stream wait for it before add.",
    ),
    Mistake(
        "the second stream is outside the capture",
        known.either(traces.captures_fail("Isolation"), known.both(known.is_wrong, some(traces.kernels_outside))),
        "Only what the first stream leads to is captured. Record an event in the first stream within the "
        "capture, and let the second wait for it: from then on it is captured too.",
    ),
    Mistake(
        "something was asked for that cannot be captured",
        traces.captures_fail(),
        "Between begin_capture and end_capture nothing runs, so nothing can be waited for.",
    ),
    Mistake(
        "the graph is never launched",
        known.both(known.is_wrong, traces.nothing_asked, some(lambda t: bool(of(t, "D2H")))),
        "A capture runs nothing. graph.launch(stream) does, each time you call it.",
    ),
    Mistake(
        "launched before there is a batch",
        known.both(known.is_wrong, some(traces.launched_before_data)),
        "The graph reads x, and is launched ahead of the copy that fills it. For each batch: a copy in, a launch, a "
        "copy back.",
    ),
    Mistake(
        "copied back before the graph is launched",
        known.both(known.is_wrong, some(traces.back_before_launch)),
        "Each batch needs its own launch, between its copy in and its copy back.",
    ),
    Mistake(
        "the graph copies the same batch each time",
        known.either(
            known.gives(cases.first_batch_again),
            known.both(known.is_wrong, some(traces.copies_in_graph)),
        ),
        "A graph keeps its arguments, those of copies too. Leave the copies out of it: ahead of each launch "
        "one brings a batch to x, behind it one brings f to out[k].",
    ),
    Mistake(
        "both chains run forward",
        known.gives(lambda case: cases.both_ways(case.arguments[0], case.arguments[-1], backwards=False)),
        "The last argument of layer says whether it goes backward: 0 for f, 1 for b.",
    ),
    Mistake(
        "both chains run backward",
        known.gives(lambda case: cases.both_ways(case.arguments[0], case.arguments[-1], ahead=False)),
        "The last argument of layer says whether it goes backward: 0 for f, 1 for b.",
    ),
    Mistake(
        "another number of layers",
        known.either(*(known.gives(cases.of_depths(*which)) for which in cases.DEPTHS)),
        "Each direction has `depth` layers: the first reads x, each other one what the one before it wrote, "
        "in f or in b.",
    ),
    Mistake(
        "f and b are not added up",
        traces.partly_added,
        "What comes back is f or b alone, at least in part. add(f, b, n) adds all n = x.size elements, and f "
        "is the result.",
    ),
    Mistake(
        "something is read that nobody wrote",
        traces.comes_back_unwritten,
        "NaN comes back. The first layer of each direction reads x, and writes f or b, which hold nothing yet.",
    ),
    IN_DEFAULT,
    Mistake(
        "a copy is in another stream than the graph",
        traces.hazard("H2D", "D2H"),
        "A batch's copy in, its launch and its copy back follow one another: x.set(…, one), graph.launch(one), "
        "f.get(one, …).",
    ),
    Mistake(
        "the two directions use one array",
        known.found(),
        "One stream writes what the other reads or writes, and nothing orders them. Both read x at first; "
        "then each keeps to its own array until they join.",
    ),
    HOST_DID_IT,
    Mistake(
        "captured more than once",
        known.both(known.over("requests of the host"), some(lambda t: graphs(t) > 1)),
        "Capturing costs the host as much as launching, and more. Capture once, ahead of the loop.",
    ),
    Mistake(
        "the host waits for each batch",
        known.both(
            known.either(known.over(TIME), known.over("requests of the host")),
            traces.waits_at_all,
            some(lambda t: graphs(t) == 1 and not traces.kernels_outside(t)),
        ),
        "While the host waits, nothing is asked for, and each wait is a request of its own. get() blocks unless told "
        "not to: blocking=False.",
    ),
    Mistake(
        "more than a graph for each batch",
        known.both(
            known.over("requests of the host"),
            some(lambda t: graphs(t) == 1 and not traces.copies_in_graph(t)),
        ),
        "A copy in, one launch of the graph and a copy back are enough for a batch: all kernels belong into the graph.",
    ),
    Mistake(
        "the whole loop is captured",
        known.both(known.over("requests of the host"), some(lambda t: graphs(t) == 1)),
        "The graph holds every batch, so the host asks for all of it one by one. Capture what is the same for "
        "every batch.",
    ),
    Mistake(
        "no graph",
        known.over("requests of the host"),
        "Every batch asks for each kernel anew, and the host cannot ask as fast as the GPU works.",
    ),
    Mistake(
        "one direction after the other",
        known.over(TIME),
        "The graph's nodes follow one another. Let a second stream join the capture by an event, and give it "
        "the backward chain.",
    ),
)
