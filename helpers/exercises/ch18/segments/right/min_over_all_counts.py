import math


def segments(layers, inside, between):
    kept = {count: count * between + math.ceil(layers / count) * inside for count in range(1, layers + 1)}
    best = min(kept, key=kept.get)
    return best, kept[best]
