def widest(shared_bytes, registers, threads, step):
    fitting = [1]
    for exponent in range(1, 20):
        width = 2**exponent
        if 8 * width * step <= shared_bytes and width**2 / threads <= registers - 40:
            fitting.append(width)
    return max(fitting)
