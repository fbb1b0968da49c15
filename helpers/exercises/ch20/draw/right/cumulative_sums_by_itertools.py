import bisect
import itertools
import math


def draw(scores, temperature, number):
    largest = max(scores)
    weights = [math.exp((score - largest) / temperature) for score in scores]
    total = sum(weights)
    reached = list(itertools.accumulate(weight / total for weight in weights))
    return min(bisect.bisect_right(reached, number), len(scores) - 1)
