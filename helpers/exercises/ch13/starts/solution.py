def starts(shape, stride, limit):
    tile = [0]
    for size, step in zip(shape, stride):
        tile = [place + i * step for i in range(size) for place in tile]
    free, found = set(range(limit)), []
    while free:
        first = min(free)
        copy = {first + place for place in tile}
        if len(copy) < len(tile) or not copy <= free:
            return []
        free -= copy
        found.append(first)
    return found
