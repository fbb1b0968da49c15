def train(weight, gradients, out, update, rate):
    stream = cp.cuda.Stream(non_blocking=True)
    device, gradient = cp.empty_like(weight), cp.empty_like(weight)
    device.set(weight, stream)
    for step in gradients:
        gradient.set(step, stream)
        update((weight.size // 256 + 1,), (256,), (device, gradient, rate, np.int32(weight.size)), stream=stream)
    device.get(stream, out=out, blocking=False)
    stream.synchronize()
