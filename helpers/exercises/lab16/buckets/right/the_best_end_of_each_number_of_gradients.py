def buckets(nbytes, found, start, rate):
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
