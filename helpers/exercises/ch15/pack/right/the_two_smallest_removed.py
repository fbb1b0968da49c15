def pack(row):
    values, places = [], []
    for start in range(0, len(row), 4):
        left = list(range(4))
        for _ in range(2):
            left.remove(min(reversed(left), key=lambda place: abs(row[start + place])))
        values += [row[start + place] for place in left]
        places += left
    return values, places
