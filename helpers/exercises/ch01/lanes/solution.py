def lanes_at_work(lengths):
    turns = 0
    for first in range(0, len(lengths), 32):
        turns = turns + max(lengths[first : first + 32])
    return sum(lengths) / turns
