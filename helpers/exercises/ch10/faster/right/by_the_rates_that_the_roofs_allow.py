def faster(flops, nbytes, old, new):
    intensity = flops / nbytes
    allowed = [min(intensity * bandwidth, peak) for peak, bandwidth in (old, new)]
    return allowed[1] / allowed[0]
