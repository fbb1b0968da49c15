import math


def negative(x):
    return x * math.log(x) if x > 0 else 0.0


def best_loss(real, made):
    return sum(negative(p + q) - negative(p) - negative(q) for p, q in zip(real, made))
