def parities(tile, stages):
    round_ = tile // stages
    full = round_ % 2
    empty = (round_ + 1) % 2
    return full, empty
