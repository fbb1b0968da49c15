def sectors(stride, offset):
    touched = set()
    for lane in range(32):
        touched.add((lane * stride + offset) // 8)
    return len(touched)
