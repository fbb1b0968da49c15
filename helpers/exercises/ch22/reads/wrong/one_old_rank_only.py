def reads(rows, old, new, rank):
    length = -(-rows // new)
    first, last = min(rank * length, rows), min((rank + 1) * length, rows)
    return [(first // -(-rows // old), first, last)] if first < last else []
