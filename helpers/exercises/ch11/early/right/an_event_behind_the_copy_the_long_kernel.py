def early(first, second, out, work, few, many):
    slow, quick = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    work((16,), (256,), (second, np.int32(second.size), many), stream=slow)
    with quick:
        work((16,), (256,), (first, np.int32(first.size), few))
        first.get(out=out, blocking=False)
        done = cp.cuda.Event()
        done.record()
    done.synchronize()
    np.multiply(out, 2, out=out)
