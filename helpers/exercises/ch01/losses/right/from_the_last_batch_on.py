def read_losses(batches, loss_of, out):
    on_gpu = cp.zeros(out.shape, out.dtype)
    for k in reversed(range(out.size)):
        loss_of((1,), (32,), (batches[k], np.int32(batches.shape[1]), on_gpu[k : k + 1]))
    out[:] = on_gpu.get()
