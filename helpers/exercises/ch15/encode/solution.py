import math


def encode(x, exponent_bits, mantissa_bits):
    bias = 2 ** (exponent_bits - 1) - 1
    power = max(math.frexp(x)[1] - 1, 1 - bias)
    step = 2.0 ** (power - mantissa_bits)
    return (power + bias - 1) * 2**mantissa_bits + round(x / step)
