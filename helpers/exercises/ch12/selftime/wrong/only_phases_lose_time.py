def self_times(calls):
    own = [time for name, time, caller in calls]
    for name, time, caller in calls:
        if caller is not None and calls[caller][2] is None:
            own[caller] -= time
    return own
