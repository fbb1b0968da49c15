"""Tools that analyse a run: counters, findings, steps, schedules, machine code, and modelled times."""
