def kernels(kinds):
    count = 0
    opened = False
    axis = None
    for kind in kinds:
        if kind == "matmul":
            count += 1
            opened = False
            continue
        other = kind != "pointwise" and axis is not None and kind != axis
        if not opened or other:
            count += 1
            opened = True
            axis = None
        if kind != "pointwise":
            axis = kind
    return count
