import math


def part(mine, other):
    return -mine * math.log(mine / (mine + other)) if mine else 0.0


def best_loss(real, made):
    return sum(part(p, q) + part(q, p) for p, q in zip(real, made))
