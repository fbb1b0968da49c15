import math

def draw(scores, temperature, number):
    largest = max(scores)
    parts = [math.exp((score - largest) / temperature) for score in scores]
    total = sum(parts)
    reached = 0.0
    for index in range(len(scores) - 1):
        reached += parts[index] / total
        if number < reached:
            return index
    return len(scores) - 1
