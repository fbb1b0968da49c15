def replay(x, halve, times):
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for _ in range(10):
            halve(((x.size + 127) // 128,), (128,), (x, np.int32(x.size)))
        graph = stream.end_capture()
        for _ in range(times):
            graph.launch()
