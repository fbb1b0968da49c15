def finished(kernels, launch, waits):
    asked, done = 0.0, 0.0
    for i in range(len(kernels)):
        asked += launch
        idle = asked - done if asked > done else 0
        done += idle + kernels[i]
        if i in waits:
            asked = done
    return done
