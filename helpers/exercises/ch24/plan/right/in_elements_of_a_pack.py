def plan(x):
    if 0 in x.shape:
        return "skip"
    row_stride, column_stride = x.stride()
    if column_stride > 1:
        return "copy"
    pack = 16 // x.element_size()
    steps = [x.shape[1]]
    if x.shape[0] != 1:
        steps.append(row_stride)
    whole = all(step % pack == 0 for step in steps)
    return "packs" if whole and not x.data_ptr() & 15 else "single"
