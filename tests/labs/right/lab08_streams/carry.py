"""Right answers to lab08.carry by routes other than the solution's."""

KEY = "lab08.carry"

ROWS = [
    # which way, the solution cell
    (
        "a new event for each piece",
        """def carry(x, buffers, level, out, smooth):
    steps, series = buffers.shape[1:]
    blocks, threads = (-(-series // 256),), (256,)
    s = [cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)]
    prev = None
    i = 0
    start = 0
    while start < x.shape[0]:
        stop = min(start + steps, x.shape[0])
        st = s[i % 2]
        view = buffers[i % 2, : stop - start]
        view.set(x[start:stop], stream=st)
        if prev is not None:
            st.wait_event(prev)
        smooth(blocks, threads, (view, level, np.int32(series), np.int32(stop - start)), stream=st)
        prev = st.record()
        view.get(stream=st, out=out[start:stop], blocking=False)
        start, i = stop, i + 1
""",
    ),
    (
        "three streams by role",
        """def carry(x, buffers, level, out, smooth):
    steps, series = buffers.shape[1:]
    blocks, threads = (-(-series // 256),), (256,)
    cin, run, cout = (cp.cuda.Stream(non_blocking=True) for _ in range(3))
    filled = [cp.cuda.Event() for _ in range(2)]
    done = [cp.cuda.Event() for _ in range(2)]
    emptied = [cp.cuda.Event() for _ in range(2)]
    for k, first in enumerate(range(0, len(x), steps)):
        part = x[first : first + steps]
        b = k % 2
        room = buffers[b][: len(part)]
        if k >= 2:
            cin.wait_event(emptied[b])
        room.set(part, cin)
        filled[b].record(cin)
        run.wait_event(filled[b])
        smooth(blocks, threads, (room, level, np.int32(series), np.int32(len(part))), stream=run)
        done[b].record(run)
        cout.wait_event(done[b])
        room.get(cout, out=out[first : first + steps], blocking=False)
        emptied[b].record(cout)
""",
    ),
    (
        "kernel stream only for kernels, two copy streams",
        """def carry(x, buffers, level, out, smooth):
    steps, series = buffers.shape[1:]
    blocks, threads = (-(-series // 256),), (256,)
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    run = cp.cuda.Stream(non_blocking=True)
    for k, first in enumerate(range(0, len(x), steps)):
        part = x[first : first + steps]
        room, lane = buffers[k % 2][: len(part)], lanes[k % 2]
        room.set(part, lane)
        run.wait_event(lane.record())
        smooth(blocks, threads, (room, level, np.int32(series), np.int32(len(part))), stream=run)
        lane.wait_event(run.record())
        room.get(lane, out=out[first : first + steps], blocking=False)
""",
    ),
]
