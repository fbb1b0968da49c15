def divided(size, step, tile):
    return (tile, step), (size // tile, step * tile)


def tiles(rows, columns, pitch, tile_rows, tile_columns):
    down, along = divided(rows, pitch, tile_rows), divided(columns, 1, tile_columns)
    modes = list(zip(down, along, strict=True))
    return tuple(tuple(size for size, _ in mode) for mode in modes), tuple(tuple(step for _, step in mode) for mode in modes)
