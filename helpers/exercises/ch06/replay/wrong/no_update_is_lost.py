def replay(order):
    return len(order) // 2
