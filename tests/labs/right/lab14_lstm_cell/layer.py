"""Right answers to lab14.layer by routes other than the solution's."""

KEY = "lab14.layer"

HEAD = """def layer(x, W, U, b_ih, b_hh, start, lengths, out, project, step):
    steps, batch, inputs = x.shape
    hidden = U.shape[1]
    blocks = ((hidden + 15) // 16, (batch + 15) // 16)
    widths = np.int32(batch), np.int32(hidden)
"""

ROWS = [
    # which way, the solution cell
    (
        "the first step by itself, in a stream of its own",
        HEAD
        + """    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        bias = cp.add(b_ih, b_hh)
        made = cp.empty((steps * batch, 4 * hidden), dtype=cp.float32)
        threads = 128
        count = made.size
        project(
            ((count + threads - 1) // threads,),
            (threads,),
            (x.reshape(steps * batch, inputs), W, bias, made, np.int32(len(made)), np.int32(inputs), np.int32(4 * hidden)),
        )
        made = made.reshape(steps, batch, 4 * hidden)
        step(blocks, (16, 16), (made[0], U, start, lengths, out[0], np.int32(0), *widths))
        for t in range(1, steps):
            step(blocks, (16, 16), (made[t], U, out[t - 1], lengths, out[t], np.int32(t), *widths))
""",
    ),
    (
        "a sum of biases in its own kernel, and blocks of another size",
        HEAD
        + """    both = cp.RawKernel(
        'extern "C" __global__ void both(const float* a, const float* b, float* c, int n) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }", "both")
    bias, z = cp.empty_like(b_ih), cp.empty((steps, batch, 4 * hidden), "float32")
    both(((4 * hidden + 63) // 64,), (64,), (b_ih, b_hh, bias, np.int32(4 * hidden)))
    sizes = [np.int32(size) for size in (steps * batch, inputs, 4 * hidden)]
    project(((z.size + 511) // 512,), (512,), (x, W, bias, z, *sizes))
    for t, (row, mine) in enumerate(zip(z, out, strict=True)):
        step(blocks, (16, 16), (row, U, start if t == 0 else out[t - 1], lengths, mine, np.int32(t), *widths))
""",
    ),
]
