def sectors(stride, offset):
    count = 0
    for lane in range(32):
        count += 1
    return count
