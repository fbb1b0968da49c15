def replay(order):
    return 1 if order else 0
