def buckets(nbytes, found, start, rate):
    """Lists of gradients' numbers, in the order in which they are sent. Times are in microseconds."""
    order = sorted(range(len(nbytes)), key=lambda gradient: found[gradient])
    made, held = [], []
    for gradient in order:
        held.append(gradient)
        if sum(nbytes[each] for each in held) >= 25 * 2**20:
            made.append(held)
            held = []
    return [*made, held] if held else made
