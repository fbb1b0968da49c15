def tiles(positions, filters, depth):
    products = ((positions + 15) // 16) * ((filters + 15) // 16) * ((depth + 15) // 16)
    useful = positions * filters * depth / (products * 16**3)
    return products, useful
