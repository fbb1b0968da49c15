def sectors(stride, offset):
    found = []
    for lane in range(32):
        sector = 4 * (lane * stride + offset) // 32
        if sector not in found:
            found.append(sector)
    return len(found)
