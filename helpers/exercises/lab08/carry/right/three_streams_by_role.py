def carry(x, buffers, level, out, smooth):
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
