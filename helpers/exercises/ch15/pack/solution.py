def pack(row):
    values, places = [], []
    for start in range(0, len(row), 4):
        four = row[start : start + 4]
        best = sorted(range(4), key=lambda place: -abs(four[place]))[:2]
        for place in sorted(best):
            values.append(four[place])
            places.append(place)
    return values, places
