def padded(rows, inner, columns):
    products = ((rows + 15) // 16) * ((inner + 15) // 16) * ((columns + 15) // 16)
    return products, 100 * rows * inner * columns / (products * 16**3)
