def causal_tiles(length, rows, keys):
    visited = 0
    masked = 0
    for first_query in range(0, length, rows):
        last_query = min(first_query + rows, length) - 1
        for start in range(0, length, keys):
            last_key = min(start + keys, length) - 1
            if start <= last_query:
                visited += 1
                if last_key > first_query:
                    masked += 1
    return [visited, masked]
