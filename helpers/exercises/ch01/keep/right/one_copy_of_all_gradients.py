def train(weight, gradients, out, update, rate):
    blocks = -(-weight.size // 128)
    all_on_gpu = cp.asarray(gradients)
    device = cp.empty(weight.shape, weight.dtype)
    device.set(weight)
    for k in range(len(gradients)):
        update((blocks,), (128,), (device, all_on_gpu[k], rate, np.int32(weight.size)))
    out[:] = cp.asnumpy(device)
