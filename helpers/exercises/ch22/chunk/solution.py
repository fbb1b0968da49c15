def chunks(rank, step, ranks):
    sent = (rank - step) % ranks
    added = (rank - step - 1) % ranks
    return sent, added
