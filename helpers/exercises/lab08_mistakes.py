"""What is done wrong in lab 08 but for its graphs, by its traces: mistakes in the order in which they are tried."""

from __future__ import annotations

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.checking.stream_work import of, some
from helpers.exercises import lab08_cases as cases
from helpers.exercises import lab08_traces as traces

TIME = "modelled us"
WAITS = "waits of the host"
SENT_FROM = "MiB that batches are sent from"
HOST_DID_IT = Mistake(
    "the host has done the work",
    known.both(lambda e: bool(e.budgets), traces.nothing_asked),
    "The numbers are right, and no kernel has made them: the recording holds no launch. Let the GPU do it.",
)
IN_DEFAULT = Mistake(
    "work in the default stream",
    traces.in_default_stream,
    "Something was asked for without a stream, and so stands in the default stream, with which streams made with "
    "non_blocking=True have no order. set, get, record and every launch take the stream they are to stand in; work on "
    "whole arrays, such as level.copy(), is there too.",
)
NO_THREADS = Mistake(
    "series without a thread",
    traces.kernels_without_threads,
    "The launch has fewer threads than there are series: x.shape[0] is time, x.shape[1] the series, and the number of "
    "blocks is rounded up.",
)
VAIN_WAIT = Mistake(
    "waits for an event that was never recorded",
    known.both(known.found(), traces.vain_wait),
    "A wait for an event that nobody has recorded yet is no wait: record it first, in the stream to be waited for.",
)


STAGE = (
    Mistake(
        "nothing is sent yet",
        known.both(known.is_wrong, traces.sends_nothing),
        "No copy to the device is in the recording: the kernel works on what was there before.",
    ),
    Mistake(
        "the buffer that is sent is not the one that was filled",
        known.gives(cases.wrong_buffer),
        "Every second batch is lost: fill and send the same one of the two buffers.",
    ),
    Mistake(
        "smoothed never, or twice",
        known.either(
            known.gives(lambda case: case.arguments[0].array),
            known.gives(lambda case: cases.smoothed(case.arguments[0].array, times=2)),
        ),
        "Each batch is smoothed once, between the copy in and the copy back.",
    ),
    Mistake(
        "the first batch comes back every time",
        known.gives(cases.first_batch_again),
        "Each batch has a place of its own on the device: device[k].",
    ),
    NO_THREADS,
    Mistake(
        "what is sent was not filled before",
        traces.comes_back_unwritten,
        "NaN comes back: a buffer was sent in which nobody had put a batch. Fill staging[slot], then send "
        "staging[slot].",
    ),
    IN_DEFAULT,
    Mistake(
        "a stream waits where the host has to",
        known.both(traces.hazard("host write"), some(lambda t: bool(of(t, "wait")))),
        "wait_event holds up what the stream is given later. But it is the host that fills the buffer: let the "
        "host wait, by the event's synchronize().",
    ),
    Mistake(
        "the event stands in the wrong place",
        known.both(traces.hazard("host write"), traces.waits_at_all),
        "The host waits, and yet fills a buffer that a copy may still be reading. An event stands for what its "
        "stream was given before record(): record it behind the copy, and wait for it before that buffer is "
        "filled again.",
    ),
    Mistake(
        "the host fills a buffer that is still being sent",
        traces.hazard("host write"),
        "set() has only asked for the copy when it returns. Two batches later the host fills the same buffer, "
        "while the copy may still be reading it. On the virtual GPU the result is right all the same, for it "
        "copies at once; CUDA does not promise that.",
    ),
    Mistake(
        "batches that share a place on the device",
        known.both(known.found(), some(traces.shares_a_place)),
        "Two batches were sent to the same place of device, in different streams: the second one may arrive while a "
        "kernel or a copy back is still at the first. A batch has a place of its own there, device[k].",
    ),
    Mistake(
        "a batch's steps are in different streams",
        known.found(),
        "Copy in, kernel and copy out of one batch belong into one stream, one after the other.",
    ),
    HOST_DID_IT,
    Mistake(
        "the host waits at the end",
        known.both(known.over(WAITS), some(traces.ends_with_a_wait), lambda e: not known.over(TIME)(e)),
        "Nothing is left to be waited for here: the function returns, and whoever called it waits.",
    ),
    Mistake(
        "from pageable memory to the device",
        known.both(known.over(TIME), traces.pageable),
        "A batch lies in pageable memory, so its copy makes the host wait and goes at a fraction of the pace. "
        "That is what the pinned buffers are for.",
    ),
    Mistake(
        "sent from other memory than the two buffers",
        known.over(SENT_FROM),
        "More memory is sent from than the two buffers are. Fill them in turn: data sets are larger than "
        "what may be pinned.",
    ),
    Mistake(
        "one stream only",
        known.both(known.over(TIME), traces.one_stream),
        "Nothing overlaps in one stream. Batches take the four streams in turn.",
    ),
    Mistake(
        "the host waits for more than the copy",
        known.both(known.either(known.over(TIME), known.over(WAITS)), some(traces.waits_for_all)),
        "synchronize() of a stream or of the device waits for the kernel and the copy back too. The buffer is "
        "free as soon as it has been sent: an event behind set() says so.",
    ),
    Mistake(
        "two streams where four are needed",
        known.both(known.over(TIME), traces.only_streams(3), lambda e: not known.over(WAITS)(e)),
        "A batch's copy in waits for the copy back of the batch before it in its stream. Batches take the four "
        "streams in turn.",
    ),
    Mistake(
        "the event stands behind more than the copy",
        known.both(known.over(TIME), some(traces.recorded_behind_more)),
        "The host waits for an event behind the kernel or the copy back. The buffer is free as soon as it has been "
        "sent: record the event directly behind set().",
    ),
    Mistake(
        "the host waits too early",
        known.both(known.over(TIME), traces.waits_at_all, lambda e: not known.over(WAITS)(e)),
        "While one buffer is being sent, the host could fill the other one. Wait for a buffer's copy only when that "
        "buffer is to be filled again.",
    ),
    Mistake(
        "the host waits more often than once a batch",
        known.over(WAITS),
        "Before a buffer is filled, its last copy has to be over. Nothing else needs a wait. get() waits, but "
        "for blocking=False.",
    ),
)
BRANCHES = (
    Mistake(
        "a step is left out or done twice",
        known.either(
            *(
                known.gives(lambda case, kw=kw: cases.joined(*case.arguments[:3], **kw))
                for kw in (
                    *({"again": n} for n in (0, 2)),
                    *({"once": n} for n in (0, 2)),
                    *({"times": n} for n in range(cases.TIMES)),
                )
            ),
            known.gives(cases.one_not_smoothed(0)),
            known.gives(cases.one_not_smoothed(1)),
        ),
        f"x and y are smoothed once, their sum once more, z {cases.TIMES} times.",
    ),
    Mistake(
        "z is not in the result",
        known.gives(lambda case: cases.smoothed(sum(map(cases.smoothed, case.arguments[:2])))),
        "The smoothed sum of x and y came back alone: z's part was never added to it, or another array was.",
    ),
    Mistake(
        "z alone",
        known.gives(lambda case: cases.smoothed(case.arguments[2], times=cases.TIMES)),
        "z's part came back alone: copy back the array to which all three were added.",
    ),
    Mistake(
        "z is smoothed once too often",
        known.gives(lambda case: cases.joined(*case.arguments[:3], times=cases.TIMES + 1)),
        f"z is smoothed {cases.TIMES} times and no more: it is added last, behind the smoothing of the sum.",
    ),
    Mistake(
        "one of the three comes twice",
        known.either(*(known.gives(cases.twice(*which)) for which in ((0, 1), (1, 0)))),
        "x or y was sent in place of the other.",
    ),
    NO_THREADS,
    VAIN_WAIT,
    Mistake(
        "copied back before the sum is done",
        traces.hazard("D2H"),
        "Nothing orders the copy back behind the last sum: put it into the stream of that sum.",
    ),
    Mistake(
        "the event stands in the wrong place",
        known.both(known.found(), some(lambda t: bool(of(t, "record")) and bool(of(t, "wait")))),
        "An event stands for what its stream was given before record(), and holds up what the other is given "
        "after wait(). Record behind the last kernel of a chain; wait ahead of the sum that needs it.",
    ),
    Mistake(
        "nothing makes a stream wait for the others",
        known.found(),
        "add reads what another stream may still be working on. The result is right here, because the virtual "
        "GPU runs things in the order they are asked for; CUDA does not promise that.",
    ),
    HOST_DID_IT,
    Mistake(
        "the host waits",
        known.over(WAITS),
        "Name a stream in every copy, and order streams by events: ready.wait(stream) holds up the stream, "
        "not the host. Copies of pageable memory wait too. Nor wait at the end: whoever called does.",
    ),
    Mistake(
        "everything in one stream",
        known.both(known.over(TIME), traces.one_stream),
        "Right, and in order, and nothing overlaps.",
    ),
    Mistake(
        "work in the default stream",
        known.both(known.over(TIME), some(traces.uses_default_stream)),
        "Something was asked for without a stream, and so stands in the default stream. All other streams of "
        "Numba wait for it, and it for them: copies, launches, record and wait take a stream.",
    ),
    Mistake(
        "smoothed by more launches than needed",
        known.both(known.over(TIME), some(traces.launches(6))),
        "Each launch costs the host a request, while the other chains wait to be asked for, and reads the "
        f"series anew. The second argument says how often: {cases.TIMES} for z, in one launch.",
    ),
    Mistake(
        "two chains share a stream",
        known.both(known.over(TIME), traces.only_streams(3)),
        "What is in one stream runs one after the other. Give each of x, y and z a stream of its own.",
    ),
    Mistake(
        "waits for z too early",
        known.both(known.over(TIME), some(traces.two_waits_before_the_sum)),
        "The sum of x and y does not need z, and yet waits for it. Wait for z behind all that can be done without it.",
    ),
    Mistake(
        "what takes longest is asked for last",
        known.over(TIME),
        "One engine copies to the device, in the order of asking, and z has by far the most to do: send it "
        "first, and launch its kernel before you ask for the rest.",
    ),
)
CARRY = (
    Mistake(
        "every piece begins anew",
        known.gives(cases.forgetful),
        "level holds what the piece before has left: pass the same array to each launch.",
    ),
    NO_THREADS,
    VAIN_WAIT,
    IN_DEFAULT,
    Mistake(
        "nothing orders the kernels",
        traces.hazard(named="level"),
        "Each kernel reads in level what the one before has written, and the two are in different streams. An "
        "event behind each kernel, and a wait ahead of the next, orders them.",
    ),
    Mistake(
        "copied out before the kernel is done",
        some(lambda t: any(h.second.kind == "D2H" and h.first.kind != "D2H" for h in t.hazards())),
        "The copy back of a piece has to follow its kernel: put both into one stream, or order them.",
    ),
    Mistake(
        "pieces come back to the same place",
        some(lambda t: any(h.second.kind == h.first.kind == "D2H" for h in t.hazards())),
        "Two copies back write the same part of out. A piece belongs where it came from: out[first : first + steps].",
    ),
    Mistake(
        "a buffer is filled while it is still in use",
        known.found(),
        "Two pieces later the same buffer is filled again. Its kernel and its copy out have to be over.",
    ),
    HOST_DID_IT,
    Mistake(
        "the host waits",
        known.over(WAITS),
        "Let streams wait for events. get() blocks but for blocking=False, and so do copies from "
        "or to pageable memory: x and out are pinned. Nor wait at the end: whoever called does.",
    ),
    Mistake(
        "more memory than the two buffers",
        known.over("MiB filled on the device"),
        "Copies to the device have filled more than the two buffers hold. Reuse them in turn.",
    ),
    Mistake(
        "one stream only",
        known.both(
            known.over(TIME),
            traces.one_stream,
            some(lambda t: len({o.queue for o in t.operations}) == 1),
        ),
        "Nothing overlaps in one stream. Give each buffer a stream.",
    ),
    Mistake(
        "the next piece waits for more than the kernel",
        known.over(TIME),
        "The next kernel needs level, which is there when the kernel is done. Its copy in needs nothing but a "
        "free buffer. Record directly behind the kernel, wait directly ahead of the next one.",
    ),
)
