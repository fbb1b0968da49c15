def passes(words):
    banks = [[] for _ in range(32)]
    for word in words:
        banks[word % 32].append(word)
    return max(len(bank) for bank in banks)
