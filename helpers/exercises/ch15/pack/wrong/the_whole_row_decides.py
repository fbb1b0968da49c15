def pack(row):
    half = sorted(sorted(range(len(row)), key=lambda place: -abs(row[place]))[: len(row) // 2])
    return [row[place] for place in half], [place % 4 for place in half]
