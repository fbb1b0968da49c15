"""What a run tells: profiles, times, steps, findings, streams, memory. Numbers and words; drawing is `pictures`."""
