def chunks_needed(tokens, words, itemsize, limit):
    rows = limit // (3 * words * itemsize)
    if rows == 0:
        return 0
    return (tokens + rows - 1) // rows
