def replay(order):
    counter = 0
    seen = {}
    for thread in order:
        if thread not in seen:
            seen[thread] = counter
        else:
            counter = seen[thread] + 1
    return counter
