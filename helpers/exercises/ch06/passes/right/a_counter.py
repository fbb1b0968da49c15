from collections import Counter


def passes(words):
    return max(Counter(word & 31 for word in words).values())
