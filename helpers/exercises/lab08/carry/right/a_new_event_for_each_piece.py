def carry(x, buffers, level, out, smooth):
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
