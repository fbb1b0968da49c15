def serpentine(number, rows, columns, group):
    walk = []
    for first in range(0, rows, group):
        down = list(range(first, min(first + group, rows)))
        for column in range(columns):
            for row in down:
                walk.append((row, column))
            down.reverse()
    return walk[number]
