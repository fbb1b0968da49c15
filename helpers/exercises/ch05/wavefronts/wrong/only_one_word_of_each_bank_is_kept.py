def wavefronts(words):
    return 1
