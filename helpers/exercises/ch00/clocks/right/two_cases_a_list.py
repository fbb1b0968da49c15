def clocks(launch, kernel, launches):
    if kernel > launch:
        return [launch * launches, launch + launches * kernel]
    return [launch * launches, launches * launch + kernel]
