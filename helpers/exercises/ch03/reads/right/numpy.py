import numpy as np

def constant_reads(which):
    return sum(np.unique(which[at : at + 32]).size for at in range(0, len(which), 32))
