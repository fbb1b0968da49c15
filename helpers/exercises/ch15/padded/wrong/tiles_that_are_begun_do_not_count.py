def padded(rows, inner, columns):
    products = rows * inner * columns // 16**3
    return products, 100.0
