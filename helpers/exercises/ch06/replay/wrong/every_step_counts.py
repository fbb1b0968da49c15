def replay(order):
    return len(order)
