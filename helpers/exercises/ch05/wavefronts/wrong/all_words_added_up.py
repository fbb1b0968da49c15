def wavefronts(words):
    return len(set(words))
