"""What a run tells: counters, findings, steps, schedules, machine code, and the model of its time."""
