def passes(words):
    return len(set(words))
