def chunks(rank, step, ranks):
    sent = rank
    for _ in range(step):
        sent = sent - 1 if sent else ranks - 1
    return sent, (sent - 1) % ranks
