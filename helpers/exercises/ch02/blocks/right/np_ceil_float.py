import numpy as np

import math
def blocks(n, threads):
    return np.ceil(n/threads)
