import math
def smallest_batch(inputs, outputs, itemsize, peak, bandwidth):
    ridge = peak / bandwidth
    gain = 2 * inputs * outputs - ridge * itemsize * (inputs + outputs)
    if gain <= 0:
        return 0
    return math.ceil(ridge * itemsize * inputs * outputs / gain)
