from collections import Counter


def wavefronts(words):
    return max(Counter(word % 32 for word in set(words)).values())
