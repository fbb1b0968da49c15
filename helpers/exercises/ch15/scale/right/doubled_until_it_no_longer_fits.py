def best_scale(sizes):
    largest, scale = max(sizes), 1.0
    while largest * scale * 2 <= 65504:
        scale *= 2
    while largest * scale > 65504:
        scale /= 2
    return scale, len([size for size in sizes if size and size * scale <= 2.0**-25])
