def serpentine(number, rows, columns, group):
    band, within = divmod(number, group * columns)
    first = band * group
    last = min(first + group, rows) - 1
    column, down = divmod(within, last - first + 1)
    return (last - down if column % 2 else first + down), column
