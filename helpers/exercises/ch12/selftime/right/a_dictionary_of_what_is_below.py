def self_times(calls):
    below = {}
    for _, time, caller in calls:
        below[caller] = below.get(caller, 0) + time
    return [time - below.get(at, 0) for at, (_, time, _) in enumerate(calls)]
