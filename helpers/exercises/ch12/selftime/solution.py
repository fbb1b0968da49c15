def self_times(calls):
    own = [time for name, time, caller in calls]
    for name, time, caller in calls:
        if caller is not None:
            own[caller] -= time
    return own
