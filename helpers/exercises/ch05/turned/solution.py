def stores(bx, by, tx, ty):
    place = (32 * bx + ty, 32 * by + tx)
    element = (tx, ty)
    return place, element
