"""Wrong answers to the exercises of chapter 11, each written out whole."""

ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch11.overlap",
        "the starter",
        """def overlap(x, device, out, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    device.set(x, stream)
    work((16,), (256,), (device, np.int32(x.size), rounds), stream=stream)
    device.get(stream, out=out, blocking=False)
""",
        "one stream only",
    ),
    (
        "ch11.overlap",
        "size zero for n=1",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = x.size // 8
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((16,), (256,), (device[p], np.int32(device[p].size), rounds), stream=s)
        device[p].get(s, out=out[p], blocking=False)
""",
        "a chunk of no elements",
    ),
    (
        "ch11.overlap",
        "stream forgotten at work",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((16,), (256,), (device[p], np.int32(device[p].size), rounds))
        device[p].get(s, out=out[p], blocking=False)
""",
        "a step without its stream",
    ),
    (
        "ch11.overlap",
        "stream forgotten at work, blocking streams",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream() for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((16,), (256,), (device[p], np.int32(device[p].size), rounds))
        device[p].get(s, out=out[p], blocking=False)
""",
        "a step without its stream",
    ),
    (
        "ch11.overlap",
        "stream forgotten at set and get",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p])
        work((16,), (256,), (device[p], np.int32(device[p].size), rounds), stream=s)
        device[p].get(out=out[p], blocking=False)
""",
        "a step without its stream",
    ),
    (
        "ch11.overlap",
        "n for every chunk",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((16,), (256,), (device[p], np.int32(x.size), rounds), stream=s)
        device[p].get(s, out=out[p], blocking=False)
""",
        "the kernel takes a chunk for all",
    ),
    (
        "ch11.overlap",
        "whole device in each launch",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((16,), (256,), (device, np.int32(x.size), rounds), stream=s)
        device[p].get(s, out=out[p], blocking=False)
""",
        "two streams share one part of the device array",
    ),
    (
        "ch11.overlap",
        "result of get dropped",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((16,), (256,), (device[p], np.int32(device[p].size), rounds), stream=s)
        out[p] = device[p].get(s)
""",
        "pageable memory in between",
    ),
    (
        "ch11.overlap",
        "never copies back",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((16,), (256,), (device[p], np.int32(device[p].size), rounds), stream=s)
""",
        "nothing comes back",
    ),
    (
        "ch11.overlap",
        "no kernel",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        device[p].get(s, out=out[p], blocking=False)
""",
        "the kernel is not launched",
    ),
    (
        "ch11.overlap",
        "numpy on the host",
        """def overlap(x, device, out, work, rounds):
    out[:] = x + rounds
""",
        "made on the host",
    ),
    (
        "ch11.overlap",
        "one thread block",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = -(-x.size // 8)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 4]
        device[p].set(x[p], s)
        work((1,), (1,), (device[p], np.int32(device[p].size), rounds), stream=s)
        device[p].get(s, out=out[p], blocking=False)
""",
        "a kernel of few threads",
    ),
    (
        "ch11.overlap",
        "two chunks two streams",
        """def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    size = -(-x.size // 2)
    for i, a in enumerate(range(0, x.size, size)):
        p, s = slice(a, a + size), streams[i % 2]
        device[p].set(x[p], s)
        work((16,), (256,), (device[p], np.int32(device[p].size), rounds), stream=s)
        device[p].get(s, out=out[p], blocking=False)
""",
        "too few chunks",
    ),
    (
        "ch11.join",
        "event.synchronize",
        """def join(x, y, out, work, add, rounds):
    first, second, ready = cuda.stream(), cuda.stream(), cuda.event()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    ready.record(second)
    ready.synchronize()
    add[16, 256, first](a, b)
    a.copy_to_host(out, stream=first)
""",
        "the host waits instead",
    ),
    (
        "ch11.join",
        "add forgotten",
        """def join(x, y, out, work, add, rounds):
    first, second, ready = cuda.stream(), cuda.stream(), cuda.event()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    ready.record(second)
    ready.wait(first)
    a.copy_to_host(out, stream=first)
""",
        "add is not launched",
    ),
    (
        "ch11.join",
        "two events, same name reused wrong",
        """def join(x, y, out, work, add, rounds):
    first, second, ready = cuda.stream(), cuda.stream(), cuda.event()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    ready.record(first)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    ready.wait(first)
    add[16, 256, first](a, b)
    a.copy_to_host(out, stream=first)
""",
        "the event stands in the wrong place",
    ),
    (
        "ch11.join",
        "b copied and wait, kernel after",
        """def join(x, y, out, work, add, rounds):
    first, second, ready = cuda.stream(), cuda.stream(), cuda.event()
    b = cuda.to_device(y, stream=second)
    ready.record(second)
    a = cuda.to_device(x, stream=first)
    work[16, 256, second](b, rounds)
    work[16, 256, first](a, rounds)
    ready.wait(first)
    add[16, 256, first](a, b)
    a.copy_to_host(out, stream=first)
""",
        "the event stands in the wrong place",
    ),
    (
        "ch11.join",
        "work on b in first",
        """def join(x, y, out, work, add, rounds):
    first, second = cuda.stream(), cuda.stream()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    b = cuda.to_device(y, stream=second)
    work[16, 256, first](b, rounds)
    add[16, 256, first](a, b)
    a.copy_to_host(out, stream=first)
""",
        "a copy and its kernel in two streams",
    ),
    (
        "ch11.join",
        "device synchronize",
        """def join(x, y, out, work, add, rounds):
    first, second = cuda.stream(), cuda.stream()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    cuda.synchronize()
    add[16, 256, first](a, b)
    a.copy_to_host(out, stream=first)
""",
        "the host waits instead",
    ),
    (
        "ch11.replay",
        "the starter",
        """def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    for _ in range(times):
        for _ in range(10):
            halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
""",
        "no graph",
    ),
    (
        "ch11.replay",
        "one launch captured, launched 10*times",
        """def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for _ in range(10 * times):
        graph.launch(stream)
""",
        "too little in the graph",
    ),
    (
        "ch11.replay",
        "launches once only",
        """def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    graph.launch(stream)
""",
        "launched once",
    ),
    (
        "ch11.replay",
        "warm-up run before capture",
        """def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    stream.begin_capture()
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for _ in range(times):
        graph.launch(stream)
""",
        "one replay too many",
    ),
    (
        "ch11.replay",
        "launch without stream arg (default stream) then mixing streams",
        """def replay(x, halve, times):
    stream, other, blocks = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for k in range(times):
        graph.launch(stream if k % 2 else other)
""",
        "replays in several streams",
    ),
    (
        "ch11.replay",
        "loop of times inside capture and launched times",
        """def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    for _ in range(times):
        for _ in range(10):
            halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for _ in range(times):
        graph.launch(stream)
""",
        "`times` times `times`",
    ),
    (
        "ch11.replay",
        "blocks floor",
        """def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), max(1, x.size // 128)
    stream.begin_capture()
    for _ in range(10):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    for _ in range(times):
        graph.launch(stream)
""",
        "blocks are rounded down",
    ),
    (
        "ch11.replay",
        "numpy/cupy array ops instead of the kernel",
        """def replay(x, halve, times):
    for _ in range(10 * times):
        x[...] = x / 2 + 1
""",
        "made without the kernel",
    ),
    (
        "ch11.replay",
        "closed form",
        """def replay(x, halve, times):
    x[...] = (x - 2) / 2 ** (10 * times) + 2
""",
        "made without the kernel",
    ),
    (
        "ch11.join",
        "numpy on the host",
        """def join(x, y, out, work, add, rounds):
    out[:] = x + y + np.float32(2 * rounds)
""",
        "made on the host",
    ),
]
