def pending(stages, tile, tiles):
    latest = min(tile + stages - 1, tiles - 1)
    return latest - tile
