def issued(takes, then, otherwise):
    total = 0
    for first in range(0, len(takes), 32):
        warp = takes[first : first + 32]
        if any(warp):
            total += then
        if not all(warp):
            total += otherwise
    return total
