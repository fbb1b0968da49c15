def tiles(rows, columns, pitch, tile_rows, tile_columns):
    shape = ((tile_rows, tile_columns), (rows // tile_rows, columns // tile_columns))
    stride = ((pitch, 1), (pitch * tile_rows, tile_columns))
    return shape, stride
