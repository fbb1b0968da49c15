def clocks(launch, kernel, launches):
    careless = launches * launch
    honest = launch + kernel + (launches - 1) * max(launch, kernel)
    return careless, honest
