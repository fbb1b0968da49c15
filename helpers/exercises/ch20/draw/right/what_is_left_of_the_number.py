import math

def draw(scores, temperature, number):
    largest = max(scores)
    parts = [math.exp((score - largest) / temperature) for score in scores]
    total = sum(parts)
    left = number * total
    for index in range(len(scores) - 1):
        if left < parts[index]:
            return index
        left -= parts[index]
    return len(scores) - 1
