def smallest_batch(hidden, itemsize, wanted):
    for batch in range(1, 5001):
        flops = 8 * batch * hidden * hidden
        moved = itemsize * (4 * hidden * hidden + batch * hidden + 4 * batch * hidden)
        if flops / moved >= wanted:
            return batch
    return 0
