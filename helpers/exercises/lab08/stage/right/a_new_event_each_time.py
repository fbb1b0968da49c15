def stage(batches, staging, device, out, smooth):
    steps, series = device.shape[1:]
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    blocks, sizes = (-(-series // 256),), (np.int32(series), np.int32(steps))
    last = [None, None]
    for k, batch in enumerate(batches):
        slot, stream = k & 1, lanes[k % 4]
        if last[slot] is not None:
            last[slot].synchronize()
        staging[slot][...] = batch
        device[k].set(staging[slot], stream=stream)
        last[slot] = stream.record()
        smooth(blocks, (256,), (device[k], *sizes), stream=stream)
        device[k].get(stream=stream, out=out[k], blocking=False)
