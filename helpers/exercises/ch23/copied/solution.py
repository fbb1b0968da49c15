def copied(batch, parts, pixels, pixel_bytes, label_bytes, read_every):
    to_gpu = batch * (pixels * pixel_bytes + label_bytes)
    back = 4 * parts / read_every
    return to_gpu, back
