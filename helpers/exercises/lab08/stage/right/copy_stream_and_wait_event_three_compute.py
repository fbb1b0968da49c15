def stage(batches, staging, device, out, smooth):
    steps, series = device.shape[1:]
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    blocks, sizes = (-(-series // 256),), (np.int32(series), np.int32(steps))
    copies = cp.cuda.Stream(non_blocking=True)
    sent = [cp.cuda.Event(disable_timing=True) for _ in range(len(batches))]
    for k in range(len(batches)):
        slot, stream = k % 2, lanes[k % 4]
        if k >= 2:
            sent[k - 2].synchronize()
        staging[slot] = batches[k]
        device[k].set(staging[slot], copies)
        sent[k].record(copies)
        stream.wait_event(sent[k])
        smooth(blocks, (256,), (device[k], *sizes), stream=stream)
        device[k].get(stream, out=out[k], blocking=False)
