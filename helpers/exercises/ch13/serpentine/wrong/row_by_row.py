def serpentine(number, rows, columns, group):
    return number // columns, number % columns
