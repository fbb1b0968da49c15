import math


def best_loss(real, made):
    loss = 0.0
    for p, q in zip(real, made):
        if p > 0:
            loss -= p * math.log(p / (p + q))
        if q > 0:
            loss -= q * math.log(q / (p + q))
    return loss
