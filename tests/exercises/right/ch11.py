"""Right answers to the exercises of chapter 11 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch11.fill",
        "one launch for all",
        """def fill(x, work, rounds):
    work(((x.size + 127) // 128,), (128,), (x, np.int32(x.size), rounds), stream=cp.cuda.Stream())
""",
    ),
    (
        "ch11.early",
        "an event behind the copy, the long kernel first",
        """def early(first, second, out, work, few, many):
    slow, quick = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    work((16,), (256,), (second, np.int32(second.size), many), stream=slow)
    with quick:
        work((16,), (256,), (first, np.int32(first.size), few))
        first.get(out=out, blocking=False)
        done = cp.cuda.Event()
        done.record()
    done.synchronize()
    np.multiply(out, 2, out=out)
""",
    ),
    (
        "ch11.send",
        "filled first, sent in one copy",
        """def send_both(first, second, room, device, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    room[: first.size] = first
    room[first.size :] = second
    device.set(room, stream=stream)
    work((64,), (256,), (device, np.int32(room.size), rounds), stream=stream)
""",
    ),
    (
        "ch11.finish",
        "worker by worker",
        """def finish(to_gpu, kernel, back, chunks):
    sent = worked = returned = 0
    for _ in range(chunks):
        sent += to_gpu
        worked = max(sent, worked) + kernel
        returned = max(worked, returned) + back
    return returned
""",
    ),
    (
        "ch11.overlap",
        "three streams, linspace bounds",
        """def overlap(x, device, out, work, rounds):
    n, chunks = x.size, 6
    streams = [cp.cuda.Stream() for _ in range(3)]
    bounds = [n * k // chunks for k in range(chunks + 1)]
    for k in range(chunks):
        a, b = bounds[k], bounds[k + 1]
        if a == b:
            continue
        s = streams[k % 3]
        device[a:b].set(x[a:b], stream=s)
        work((-(-(b - a) // 256),), (256,), (device[a:b], np.int32(b - a), rounds), stream=s)
        device[a:b].get(stream=s, out=out[a:b], blocking=False)
""",
    ),
    (
        "ch11.overlap",
        "with stream",
        """def overlap(x, device, out, work, rounds):
    size = max(1, (x.size + 3) // 4)
    for start in range(0, x.size, size):
        stop = min(start + size, x.size)
        with cp.cuda.Stream(non_blocking=True):
            device[start:stop].set(x[start:stop])
            work((64,), (256,), (device[start:stop], np.int32(stop - start), rounds))
            device[start:stop].get(out=out[start:stop], blocking=False)
""",
    ),
    (
        "ch11.overlap",
        "breadth first",
        """def overlap(x, device, out, work, rounds):
    k = min(8, x.size)
    parts = [slice(x.size * i // k, x.size * (i + 1) // k) for i in range(k)]
    streams = [cp.cuda.Stream(non_blocking=True) for _ in parts]
    for p, s in zip(parts, streams):
        device[p].set(x[p], s)
    for p, s in zip(parts, streams):
        work((32,), (256,), (device[p], np.int32(device[p].size), rounds), stream=s)
    for p, s in zip(parts, streams):
        device[p].get(s, out=out[p], blocking=False)
""",
    ),
    (
        "ch11.overlap",
        "three engines with events",
        """def overlap(x, device, out, work, rounds):
    up, run, down = (cp.cuda.Stream(non_blocking=True) for _ in range(3))
    size = max(1, -(-x.size // 8))
    for a in range(0, x.size, size):
        d = device[a:a + size]
        d.set(x[a:a + size], up)
        e1 = cp.cuda.Event(); e1.record(up)
        run.wait_event(e1)
        work((16,), (256,), (d, np.int32(d.size), rounds), stream=run)
        e2 = run.record()
        down.wait_event(e2)
        d.get(down, out=out[a:a + size], blocking=False)
""",
    ),
    (
        "ch11.overlap",
        "memcpyAsync",
        """def overlap(x, device, out, work, rounds):
    size = max(1, -(-x.size // 6))
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    for i, a in enumerate(range(0, x.size, size)):
        s = streams[i % 2]
        b = min(a + size, x.size)
        d = device[a:b]
        runtime = cp.cuda.runtime
        runtime.memcpyAsync(d.data.ptr, x[a:b].ctypes.data, 4 * (b - a), runtime.memcpyHostToDevice, s.ptr)
        work((16,), (256,), (d, np.int32(b - a), rounds), stream=s)
        runtime.memcpyAsync(out[a:b].ctypes.data, d.data.ptr, 4 * (b - a), runtime.memcpyDeviceToHost, s.ptr)
""",
    ),
    (
        "ch11.join",
        "one stream waits, order swapped",
        """def join(x, y, out, work, add, rounds):
    s1, s2 = cuda.stream(), cuda.stream()
    b = cuda.to_device(y, stream=s2)
    work[16, 256, s2](b, rounds)
    done = cuda.event(timing=False)
    done.record(stream=s2)
    a = cuda.to_device(x, stream=s1)
    work[16, 256, s1](a, rounds)
    done.wait(stream=s1)
    add[16, 256, s1](a, b)
    a.copy_to_host(out, stream=s1)
""",
    ),
    (
        "ch11.join",
        "third stream joins both",
        """def join(x, y, out, work, add, rounds):
    first, second, third = cuda.stream(), cuda.stream(), cuda.stream()
    e1, e2 = cuda.event(), cuda.event()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    e1.record(first)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    e2.record(second)
    e1.wait(third)
    e2.wait(third)
    add[16, 256, third](a, b)
    a.copy_to_host(out, stream=third)
""",
    ),
    (
        "ch11.join",
        "add in the second stream",
        """def join(x, y, out, work, add, rounds):
    first, second, ready = cuda.stream(), cuda.stream(), cuda.event()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    ready.record(first)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    ready.wait(second)
    add[16, 256, second](a, b)
    a.copy_to_host(out, stream=second)
""",
    ),
    (
        "ch11.join",
        "both copies first",
        """def join(x, y, out, work, add, rounds):
    streams = [cuda.stream() for _ in range(2)]
    a, b = (cuda.to_device(h, stream=s) for h, s in zip((x, y), streams))
    for d, s in zip((a, b), streams):
        work[16, 256, s](d, rounds)
    e = cuda.event()
    e.record(streams[1])
    e.wait(streams[0])
    add[16, 256, streams[0]](a, b)
    a.copy_to_host(out, stream=streams[0])
""",
    ),
    (
        "ch11.replay",
        "with stream, capture",
        """def replay(x, halve, times):
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for _ in range(10):
            halve(((x.size + 127) // 128,), (128,), (x, np.int32(x.size)))
        graph = stream.end_capture()
        for _ in range(times):
            graph.launch()
""",
    ),
    (
        "ch11.replay",
        "upload and launch in other stream",
        """def replay(x, halve, times):
    capture, run = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    capture.begin_capture()
    for _ in range(10):
        halve((-(-x.size // 256),), (256,), (x, np.int32(x.size)), stream=capture)
    graph = capture.end_capture()
    graph.upload(run)
    for _ in range(times):
        graph.launch(run)
""",
    ),
    (
        "ch11.replay",
        "one graph of all 10*times launches",
        """def replay(x, halve, times):
    stream, blocks = cp.cuda.Stream(non_blocking=True), -(-x.size // 128)
    stream.begin_capture()
    for _ in range(10 * times):
        halve((blocks,), (128,), (x, np.int32(x.size)), stream=stream)
    graph = stream.end_capture()
    graph.launch(stream)
""",
    ),
    (
        "ch11.early",
        "an event in place of the stream",
        (
            (
                """    work((16,), (256,), (second, np.int32(second.size), many), stream=slow)
    quick.synchronize()""",
                """    ready = cp.cuda.Event()
    ready.record(quick)
    work((16,), (256,), (second, np.int32(second.size), many), stream=slow)
    ready.synchronize()""",
            ),
        ),
    ),
    (
        "ch11.send",
        "two halves by a loop",
        """def send_both(first, second, room, device, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    for start, part in ((0, first), (first.size, second)):
        held = slice(start, start + part.size)
        room[held] = part
        device[held].set(room[held], stream)
    work((16,), (256,), (device, np.int32(device.size), rounds), stream=stream)""",
    ),
    (
        "ch11.finish",
        "chunk by chunk",
        """def finish(to_gpu, kernel, back, chunks):
    there = done = returned = 0
    for _ in range(chunks):
        there += to_gpu
        done = max(there, done) + kernel
        returned = max(done, returned) + back
    return returned""",
    ),
    (
        "ch11.fill",
        "one launch of everything",
        """def fill(x, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    work(((x.size + 255) // 256,), (256,), (x, np.int32(x.size), rounds), stream=stream)""",
    ),
]
