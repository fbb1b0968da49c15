def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    for _ in range(10 * times):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    graph.launch(stream)
