def wavefronts(words):
    return 32 // len({word % 32 for word in words})
