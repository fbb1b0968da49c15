def reads(rows, old, new, rank):
    length_old, length_new = -(-rows // old), -(-rows // new)
    first, last = min(rank * length_new, rows), min((rank + 1) * length_new, rows)
    parts = []
    for source in range(old):
        begin = max(first, source * length_old)
        end = min(last, (source + 1) * length_old)
        if begin < end:
            parts.append((source, begin, end))
    return parts
