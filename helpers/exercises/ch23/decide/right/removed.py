def decide(before, after):
    quotients = []
    for round in range(len(before)):
        quotients.append(after[round] / before[round])
    quotients.remove(min(quotients))
    quotients.remove(max(quotients))
    return min(quotients), max(quotients), all(quotient < 1 for quotient in quotients)
