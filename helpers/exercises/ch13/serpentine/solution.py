def serpentine(number, rows, columns, group):
    band = number // (group * columns)
    within = number % (group * columns)
    height = min(group, rows - band * group)
    column = within // height
    down = within % height
    if column % 2:
        down = height - 1 - down
    return band * group + down, column
