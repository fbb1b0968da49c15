def overlap(x, device, out, work, rounds):
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
