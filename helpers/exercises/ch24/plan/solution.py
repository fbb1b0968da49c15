def plan(x):
    rows, columns = x.shape
    size = x.element_size()
    if rows == 0 or columns == 0:
        return "skip"
    if x.stride(1) != 1:
        return "copy"
    aligned = x.data_ptr() % 16 == 0 and columns * size % 16 == 0
    if rows > 1:
        aligned = aligned and x.stride(0) * size % 16 == 0
    return "packs" if aligned else "single"
