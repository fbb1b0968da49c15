def read_losses(batches, loss_of, out):
    count, n = batches.shape
    on_gpu = cp.empty(count, dtype="float32")
    for k in range(count):
        loss_of((1,), (32,), (batches[k], np.int32(n), on_gpu[k:]))
    on_gpu.get(out=out)
