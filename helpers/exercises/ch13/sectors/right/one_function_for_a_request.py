def of_request(distance):
    return len({4 * distance * lane // 32 for lane in range(32)})


def sectors(x, a_strides, b_strides):
    if x == "row":
        return 0.5 * (of_request(a_strides[0]) + of_request(0))
    return 0.5 * (of_request(0) + of_request(b_strides[1]))
