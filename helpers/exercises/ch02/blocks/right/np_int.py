import numpy as np

import math
def blocks(n, threads):
    return int(np.ceil(n/threads))
