def two_plans(inputs, consumers, elements):
    producer = inputs + 1
    consumer = 1 + 1
    stored = producer + consumers * consumer
    recomputed = consumers * (inputs + 1)
    return 4 * elements * stored, 4 * elements * recomputed
