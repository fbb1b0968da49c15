import math


def encode(x, exponent_bits, mantissa_bits):
    bias = 2 ** (exponent_bits - 1) - 1
    smallest = 2.0 ** (1 - bias)
    if x < smallest:
        return round(x / (smallest / 2**mantissa_bits))
    _, power = math.frexp(x)
    power -= 1
    mantissa = round(math.ldexp(x, mantissa_bits - power)) - 2**mantissa_bits
    return ((power + bias) << mantissa_bits) + mantissa
