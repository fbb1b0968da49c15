def sectors(x, a_strides, b_strides):
    if x == "row":
        distances = [a_strides[0], 0]
    else:
        distances = [0, b_strides[1]]
    total = 0
    for distance in distances:
        touched = set()
        for lane in range(32):
            touched.add(lane * distance * 4 // 32)
        total += len(touched)
    return total / 2
