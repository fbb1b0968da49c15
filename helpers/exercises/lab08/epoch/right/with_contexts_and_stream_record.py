def epoch(batches, x, f, b, out, layer, add, depth):
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
