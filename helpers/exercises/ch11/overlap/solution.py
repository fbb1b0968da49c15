def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = (x.size + 7) // 8
    for i, first in enumerate(range(0, x.size, size)):
        part, stream = slice(first, first + size), streams[i % 4]
        device[part].set(x[part], stream)
        work((16,), (256,), (device[part], np.int32(device[part].size), rounds), stream=stream)
        device[part].get(stream, out=out[part], blocking=False)
