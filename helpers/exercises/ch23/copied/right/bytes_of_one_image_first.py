def copied(batch, parts, pixels, pixel_bytes, label_bytes, read_every):
    image = pixels * pixel_bytes + label_bytes
    losses = 4 * parts
    return image * batch, losses / read_every
