def layer(x, W, U, b_ih, b_hh, start, lengths, out, project, step):
    steps, batch, inputs = x.shape
    hidden = U.shape[1]
    blocks = ((hidden + 15) // 16, (batch + 15) // 16)
    widths = np.int32(batch), np.int32(hidden)
    both = cp.RawKernel(
        'extern "C" __global__ void both(const float* a, const float* b, float* c, int n) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }", "both")
    bias, z = cp.empty_like(b_ih), cp.empty((steps, batch, 4 * hidden), "float32")
    both(((4 * hidden + 63) // 64,), (64,), (b_ih, b_hh, bias, np.int32(4 * hidden)))
    sizes = [np.int32(size) for size in (steps * batch, inputs, 4 * hidden)]
    project(((z.size + 511) // 512,), (512,), (x, W, bias, z, *sizes))
    for t, (row, mine) in enumerate(zip(z, out, strict=True)):
        step(blocks, (16, 16), (row, U, start if t == 0 else out[t - 1], lengths, mine, np.int32(t), *widths))
