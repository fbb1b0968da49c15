def wavefronts(words):
    return len({word % 32 for word in words})
