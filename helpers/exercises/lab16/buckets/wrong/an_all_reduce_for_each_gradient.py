def buckets(nbytes, found, start, rate):
    """Lists of gradients' numbers, in the order in which they are sent. Times are in microseconds."""
    order = sorted(range(len(nbytes)), key=lambda gradient: found[gradient])
    return [[gradient] for gradient in order]
