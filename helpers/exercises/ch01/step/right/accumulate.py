from itertools import accumulate
def finished(kernels, launch, waits):
    def after(state, numbered):
        host, gpu = state
        number, kernel = numbered
        end = max(gpu, host + launch) + kernel
        return (end if number in waits else host + launch), end
    return list(accumulate(enumerate(kernels), after, initial=(0, 0)))[-1][1]
