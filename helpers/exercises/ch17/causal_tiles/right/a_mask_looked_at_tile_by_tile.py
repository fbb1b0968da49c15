import numpy as np


def causal_tiles(length, rows, keys):
    allowed = np.tri(length, dtype=bool)
    found = [0, 0]
    for top in range(0, length, rows):
        for left in range(0, length, keys):
            tile = allowed[top : top + rows, left : left + keys]
            if tile.any():
                found[0] += 1
                found[1] += int(not tile.all())
    return found
