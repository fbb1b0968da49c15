import numpy as np


def gradients(real, z, a, b, w, c):
    fake = a * z + b
    on_real = 1 / (1 + np.exp(-(w * real + c))) - 1
    on_fake = 1 / (1 + np.exp(-(w * fake + c)))
    by_w = (on_real * real).mean() + (on_fake * fake).mean()
    by_c = on_real.mean() + on_fake.mean()
    back = (on_fake - 1) * w
    return np.array([by_w, by_c, (back * z).mean(), back.mean()])
