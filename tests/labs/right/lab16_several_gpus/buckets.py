"""Right answers to lab16.buckets by routes other than the solution's."""

KEY = "lab16.buckets"

ROWS = [
    # which way, the solution cell
    (
        "the best end of each number of gradients, from those of fewer",
        """def buckets(nbytes, found, start, rate):
    order = np.argsort(found, kind="stable").tolist()
    best = [(0.0, 0, [])]
    for last in range(1, len(order) + 1):
        tried = []
        for first in range(last):
            end, count, made = best[first]
            bucket = order[first:last]
            end = max(end, found[bucket[-1]]) + start + sum(nbytes[each] for each in bucket) / rate
            tried.append((end, count + 1, [*made, bucket]))
        best.append(min(tried))
    return best[-1][2]
""",
    ),
    (
        "one gradient after the other joins or waits",
        """def buckets(nbytes, found, start, rate):
    made, free = [], 0.0
    for gradient in sorted(range(len(found)), key=found.__getitem__):
        if made and found[gradient] <= begins:
            made[-1].append(gradient)
            free += nbytes[gradient] / rate
        else:
            begins = max(free, found[gradient])
            made.append([gradient])
            free = begins + start + nbytes[gradient] / rate
    return made
""",
    ),
]
