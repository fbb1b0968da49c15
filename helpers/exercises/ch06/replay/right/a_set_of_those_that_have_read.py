def replay(order):
    counter, loaded, values = 0, set(), [0] * (max(order, default=-1) + 1)
    for thread in order:
        if thread in loaded:
            counter = values[thread] + 1
        else:
            loaded.add(thread)
            values[thread] = counter
    return counter
