def overlap(x, device, out, work, rounds):
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
