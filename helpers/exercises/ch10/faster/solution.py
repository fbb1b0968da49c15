def faster(flops, nbytes, old, new):
    def seconds(peak, bandwidth):
        return max(flops / peak, nbytes / bandwidth)

    return seconds(*old) / seconds(*new)
