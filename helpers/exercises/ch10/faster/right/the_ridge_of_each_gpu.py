def faster(flops, nbytes, old, new):
    def rate(gpu):
        peak, bandwidth = gpu
        return flops / nbytes * bandwidth if flops / nbytes < peak / bandwidth else peak
    return rate(new) / rate(old)
