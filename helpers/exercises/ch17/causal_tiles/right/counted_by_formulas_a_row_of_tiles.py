def causal_tiles(length, rows, keys):
    visited = masked = 0
    for first in range(0, length, rows):
        last = min(first + rows, length) - 1
        tiles = last // keys + 1
        whole = sum(1 for tile in range(tiles) if min((tile + 1) * keys, length) - 1 <= first)
        visited += tiles
        masked += tiles - whole
    return [visited, masked]
