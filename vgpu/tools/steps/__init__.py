"""One block step by step: accesses, dependencies between steps, and how a launch distributes its work."""
