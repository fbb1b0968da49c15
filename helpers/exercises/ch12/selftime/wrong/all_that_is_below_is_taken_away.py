def self_times(calls):
    own = [time for name, time, caller in calls]
    for name, time, caller in calls:
        while caller is not None:
            own[caller] -= time
            caller = calls[caller][2]
    return own
