def segments(layers, inside, between):
    best, least = 1, between + layers * inside
    for count in range(2, layers + 1):
        longest = (layers + count - 1) // count
        kept = count * between + longest * inside
        if kept < least:
            best, least = count, kept
    return best, least
