"""Right answers to lab08.epoch by routes other than the solution's."""

KEY = "lab08.epoch"

ROWS = [
    # which way, the solution cell
    (
        "with contexts and stream.record",
        """def epoch(batches, x, f, b, out, layer, add, depth):
    blocks, threads = (-(-x.shape[1] // 128),), (128,)
    sizes = np.int32(x.shape[1]), np.int32(x.shape[0])  # series, steps
    one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    with one:
        one.begin_capture()
        two.wait_event(one.record())
        src = x
        for _ in range(depth):
            layer(blocks, threads, (src, f, *sizes, np.int32(0)))
            src = f
        with two:
            src = x
            for _ in range(depth):
                layer(blocks, threads, (src, b, *sizes, np.int32(1)))
                src = b
        one.wait_event(two.record())
        add(((x.size + 127) // 128,), threads, (f, b, np.int32(x.size)))
        graph = one.end_capture()
        for batch, result in zip(batches, out):
            x.set(batch)
            graph.launch()
            f.get(out=result, blocking=False)
""",
    ),
    (
        "helper function",
        """def epoch(batches, x, f, b, out, layer, add, depth):
    blocks, threads = (-(-x.shape[1] // 128),), (128,)
    sizes = np.int32(x.shape[1]), np.int32(x.shape[0])  # series, steps
    one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    def chain(stream, y, backward):
        for d in range(depth):
            layer(blocks, threads, (x if d == 0 else y, y, *sizes, np.int32(backward)), stream=stream)
    one.begin_capture()
    e = cp.cuda.Event()
    e.record(one)
    two.wait_event(e)
    chain(two, b, 1)
    chain(one, f, 0)
    e2 = cp.cuda.Event()
    e2.record(two)
    one.wait_event(e2)
    add((-(-x.size // 128),), threads, (f, b, np.int32(x.size)), stream=one)
    g = one.end_capture()
    for k, batch in enumerate(batches):
        x.set(batch, stream=one)
        g.launch(stream=one)
        f.get(stream=one, out=out[k], blocking=False)
""",
    ),
    (
        "begun in the other stream",
        """def epoch(batches, x, f, b, out, layer, add, depth):
    blocks, threads = (-(-x.shape[1] // 128),), (128,)
    sizes = np.int32(x.shape[1]), np.int32(x.shape[0])  # series, steps
    one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    e1, e2 = cp.cuda.Event(), cp.cuda.Event()
    two.begin_capture()
    e1.record(two)
    one.wait_event(e1)
    for d in range(depth):
        layer(blocks, threads, (f if d else x, f, *sizes, np.int32(0)), stream=one)
    for d in range(depth):
        layer(blocks, threads, (b if d else x, b, *sizes, np.int32(1)), stream=two)
    e2.record(one)
    two.wait_event(e2)
    add((-(-x.size // 256),), (256,), (f, b, np.int32(x.size)), stream=two)
    graph = two.end_capture()
    for k in range(len(batches)):
        x.set(batches[k], two)
        graph.launch(two)
        f.get(two, out=out[k], blocking=False)
""",
    ),
    (
        "a launch ahead of the capture",
        """def epoch(batches, x, f, b, out, layer, add, depth):
    blocks, threads = (-(-x.shape[1] // 128),), (128,)
    sizes = np.int32(x.shape[1]), np.int32(x.shape[0])  # series, steps
    one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    fork, join = cp.cuda.Event(), cp.cuda.Event()
    layer(blocks, threads, (x, f, *sizes, np.int32(0)), stream=one)
    one.begin_capture()
    fork.record(one)
    two.wait_event(fork)
    for d in range(depth):
        layer(blocks, threads, (f if d else x, f, *sizes, np.int32(0)), stream=one)
        layer(blocks, threads, (b if d else x, b, *sizes, np.int32(1)), stream=two)
    join.record(two)
    one.wait_event(join)
    add((-(-x.size // 256),), (256,), (f, b, np.int32(x.size)), stream=one)
    graph = one.end_capture()
    for k in range(len(batches)):
        x.set(batches[k], one)
        graph.launch(one)
        f.get(one, out=out[k], blocking=False)
""",
    ),
]
