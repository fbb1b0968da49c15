def clocks(launch, kernel, launches):
    launched = done = 0
    for _ in range(launches):
        launched += launch
        done = max(launched, done) + kernel
    return launched, done
