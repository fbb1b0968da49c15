def self_times(calls):
    own = []
    for at, (name, total, _) in enumerate(calls):
        below = sum(time for _, time, caller in calls if caller == at)
        own.append(total - below)
    return own
