def buckets(nbytes, found, start, rate):
    """Lists of gradients' numbers, in the order in which they are sent. Times are in microseconds."""
    each = list(range(len(nbytes)))
    return [each[first : first + 4] for first in range(0, len(each), 4)]
