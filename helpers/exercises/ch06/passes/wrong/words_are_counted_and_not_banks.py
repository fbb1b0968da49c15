def passes(words):
    return max(words.count(word) for word in words)
