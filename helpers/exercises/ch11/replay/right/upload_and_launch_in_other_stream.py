def replay(x, halve, times):
    capture, run = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    capture.begin_capture()
    for _ in range(10):
        halve((-(-x.size // 256),), (256,), (x, np.int32(x.size)), stream=capture)
    graph = capture.end_capture()
    graph.upload(run)
    for _ in range(times):
        graph.launch(run)
