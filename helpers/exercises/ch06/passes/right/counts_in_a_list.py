def passes(words):
    counts = [0] * 32
    for word in words:
        counts[word % 32] += 1
    return max(counts)
