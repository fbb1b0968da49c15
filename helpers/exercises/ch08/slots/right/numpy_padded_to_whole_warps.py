import numpy as np
def issued(takes, then, otherwise):
    takes = np.asarray(takes)
    warps = -(-takes.size // 32)
    yes, no = np.zeros((2, 32 * warps), bool)
    yes[: takes.size], no[: takes.size] = takes, ~takes
    some = lambda each: int(each.reshape(warps, 32).any(axis=1).sum())
    return then * some(yes) + otherwise * some(no)
