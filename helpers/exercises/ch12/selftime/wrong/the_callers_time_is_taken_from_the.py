def self_times(calls):
    own = [time for name, time, caller in calls]
    for place, (name, time, caller) in enumerate(calls):
        if caller is not None:
            own[place] = calls[caller][1] - time
    return own
