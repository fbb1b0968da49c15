def pack(row):
    bound = sorted(abs(each) for each in row)[len(row) // 2]
    kept = [place for place, value in enumerate(row) if abs(value) >= bound]
    return [row[place] for place in kept], kept
