def decide(before, after):
    quotients = sorted(late / early for early, late in zip(before, after, strict=True))
    low, high = quotients[1], quotients[-2]
    return low, high, high < 1
