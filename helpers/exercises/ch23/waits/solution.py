def waits(operations):
    count = 0
    for kind, memory, asynchronous in operations:
        if kind == "synchronise":
            count += 1
        elif kind in ("H2D", "D2H"):
            if memory == "pageable" or not asynchronous:
                count += 1
    return count
