def segments(layers, inside, between):
    count = round(layers**0.5)
    return count, count * between + (layers + count - 1) // count * inside
