def parities(tile, stages):
    full, empty = 0, 1
    for at in range(1, tile + 1):
        if at % stages == 0:
            full, empty = empty, full
    return full, empty
