def fill(x, work, rounds):
    work(((x.size + 127) // 128,), (128,), (x, np.int32(x.size), rounds), stream=cp.cuda.Stream())
