def reads(rows, old, new, rank):
    length_old, length_new = (rows + old - 1) // old, (rows + new - 1) // new
    owners = {}
    for row in range(rank * length_new, min((rank + 1) * length_new, rows)):
        owners.setdefault(row // length_old, []).append(row)
    return [(source, mine[0], mine[-1] + 1) for source, mine in owners.items()]
