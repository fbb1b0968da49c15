import math

def forget_bias(steps, share):
    gate = share ** (1 / steps)
    return math.log(gate / (1 - gate))
