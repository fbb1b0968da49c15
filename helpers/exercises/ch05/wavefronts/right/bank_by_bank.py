def wavefronts(words):
    most = 0
    for bank in range(32):
        most = max(most, len({word for word in words if word % 32 == bank}))
    return most
