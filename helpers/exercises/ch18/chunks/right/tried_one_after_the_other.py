def chunks_needed(tokens, words, itemsize, limit):
    for chunks in range(1, tokens + 1):
        longest = -(-tokens // chunks)
        if longest * words * itemsize * 3 <= limit:
            return chunks
    return 0
