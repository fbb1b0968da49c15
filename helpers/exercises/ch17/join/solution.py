import numpy as np

def join(m1, l1, o1, m2, l2, o2):
    m = np.maximum(m1, m2)
    first = np.exp(m1 - m)
    second = np.exp(m2 - m)
    l = first * l1 + second * l2
    o = first[:, None] * o1 + second[:, None] * o2
    return m, l, o
