def self_times(calls):
    return [time for name, time, caller in calls]
