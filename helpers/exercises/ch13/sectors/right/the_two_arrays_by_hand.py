def sectors(x, a_strides, b_strides):
    by_row = x == "row"
    of_a = {lane * (a_strides[0] if by_row else 0) // 8 for lane in range(32)}
    of_b = {lane * (0 if by_row else b_strides[1]) // 8 for lane in range(32)}
    return (len(of_a) + len(of_b)) / 2
