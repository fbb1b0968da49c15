def fill(x, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    quarter = x.size // 4
    for k in range(4):
        part = x[k * quarter : (k + 1) * quarter]
        blocks = (part.size + 255) // 256
        work((blocks,), (256,), (part, np.int32(part.size), rounds), stream=stream)
