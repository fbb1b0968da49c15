def two_plans(inputs, consumers, elements):
    array = 4 * elements
    stored = inputs * array + array
    recomputed = 0
    for _ in range(consumers):
        stored += 2 * array
        recomputed += inputs * array + array
    return stored, recomputed
