def replay(x, halve, times):
    stream = cp.cuda.Stream(non_blocking=True)
    blocks = (x.size + 127) // 128
    stream.begin_capture()
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for _ in range(times):
        graph.launch(stream)
