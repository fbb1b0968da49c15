def wavefronts(words):
    banks = [set() for _ in range(32)]
    for word in words:
        banks[word % 32].add(word)
    return max(len(bank) for bank in banks)
