def layer(x, W, U, b_ih, b_hh, start, lengths, out, project, step):
    steps, batch, inputs = x.shape
    hidden = U.shape[1]
    blocks = ((hidden + 15) // 16, (batch + 15) // 16)
    widths = np.int32(batch), np.int32(hidden)
    stream = cp.cuda.Stream(non_blocking=True)
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
