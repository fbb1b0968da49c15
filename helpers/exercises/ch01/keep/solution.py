def train(weight, gradients, out, update, rate):
    n = weight.size
    on_gpu = cp.asarray(weight)
    for gradient in gradients:
        update(((n + 255) // 256,), (256,), (on_gpu, cp.asarray(gradient), rate, np.int32(n)))
    on_gpu.get(out=out)
